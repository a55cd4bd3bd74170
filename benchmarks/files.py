"""Do a verdict's boxes cover its evidence on the page?

    python benchmarks/files.py [--stream] [--json F] [--seed N] [--keep FOLDER]

Makes a folder of some thirty mixed files (`files_letters`), gives it to ``safepassage check`` with
what an LLM would have extracted, or with ``--stream`` to ``safepassage submit --wait`` and a
recorded LLM (`files_stream`), and compares the boxes of every verdict with the ink of the
evidence: intersection over union of the areas.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from files_letters import Box, File, files
from files_stream import submit

from safepassage.schemas.proportion import Proportion

GOOD = 0.8
_GRID = 2_000  # cells a side, to measure areas


def measure(folder: Path, seed: int = 0, *, stream: bool = False) -> dict[str, Any]:
    """Write the files and what is extracted into ``folder``, run the command, compare."""
    made = list(files(seed))
    letters = folder / "letters"
    letters.mkdir(parents=True)
    rows = []
    for file in made:
        (letters / file.name).write_bytes(file.raw)
        for number, evidence in enumerate(file.evidence):
            rows.append(
                {
                    "id": f"{file.name}/{number}",
                    "doc_id": f"{letters / file.name}{file.part}",
                    "entity_type": evidence.entity_type,
                    "value": evidence.value,
                    "context": evidence.quote,
                }
            )
    extractions = folder / "extractions.jsonl"
    extractions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    started = time.monotonic()
    (_submit if stream else _check)(folder, letters, extractions)
    seconds = time.monotonic() - started
    names = {_claim(row): row["id"] for row in rows}
    verdicts = {names.get(_claim(row), row["id"]): row for row in _rows(folder / "verdicts.jsonl")}
    boxes = {row["id"]: row for row in _rows(folder / "boxes.jsonl")}
    return _compared(made, verdicts, boxes) | {"files": len(made), "seconds": round(seconds, 1)}


def _claim(row: dict[str, Any]) -> tuple[str, ...]:
    """What an extraction says, by which its verdict is known: ids are the extractor's own."""
    return tuple(row[name] for name in ("doc_id", "entity_type", "value", "context"))


def _submit(folder: Path, letters: Path, extractions: Path) -> None:
    print(submit(folder, letters, extractions), end="")


def _check(folder: Path, letters: Path, extractions: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "safepassage", "check", "--documents", str(letters)),
            *("--extractions", str(extractions), "--out", str(folder / "verdicts.jsonl")),
            *("--boxes", str(folder / "boxes.jsonl")),
        ],
        check=True,
    )


def _compared(
    made: list[File], verdicts: dict[str, dict[str, Any]], boxes: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    overlaps: dict[str, list[float]] = defaultdict(list)
    missed, accepted, found = [], 0, 0
    for file in made:
        for number, evidence in enumerate(file.evidence):
            name = f"{file.name}/{number}"
            verdict = verdicts.get(name)
            accepted += verdict is not None and verdict["decision"] == "accepted"
            found += verdict is not None and "not_found" not in verdict["reasons"]
            if not evidence.boxes:
                continue
            line = boxes.get(verdict["id"]) if verdict else None
            overlap = iou(evidence.boxes, shares(line)) if line else 0.0
            overlaps[file.kind].append(overlap)
            if overlap < GOOD:
                missed.append(f"{name} {evidence.entity_type}: {overlap:.2f}")
    every = [overlap for kind in overlaps.values() for overlap in kind]
    covered = Proportion(sum(overlap >= GOOD for overlap in every), len(every))
    return {
        "verdicts": len(verdicts),
        "found": found,
        "accepted": accepted,
        "with_boxes": len(every),
        "covered": covered.successes,
        "share": covered.share,
        "interval": covered.interval,
        "median_iou": float(np.median(every)),
        "by_kind": {
            kind: {"n": len(o), "covered": sum(x >= GOOD for x in o), "median": float(np.median(o))}
            for kind, o in overlaps.items()
        },
        "below": missed,
    }


def shares(line: dict[str, Any]) -> list[Box]:
    """Boxes in a page's units as shares of it; all are of pages of one size here."""
    found = []
    for page, left, top, right, bottom in line["boxes"]:
        width, height = line["pages"][str(int(page))]
        found.append((left / width, top / height, right / width, bottom / height))
    return found


def iou(one: list[Box] | tuple[Box, ...], other: list[Box] | tuple[Box, ...]) -> float:
    """Intersection over union of two sets of boxes."""
    areas = [np.zeros((_GRID, _GRID), dtype=bool) for _ in range(2)]
    for area, boxes in zip(areas, (one, other), strict=True):
        for left, top, right, bottom in boxes:
            x1, x2 = round(left * _GRID), round(right * _GRID)
            area[round(top * _GRID) : round(bottom * _GRID), x1:x2] = True
    union = (areas[0] | areas[1]).sum()
    return float((areas[0] & areas[1]).sum() / union) if union else 0.0


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def report(figures: dict[str, Any]) -> str:
    """The figures as a table for people."""
    low, high = figures["interval"]
    lines = [
        f"{figures['files']} files, {figures['verdicts']} verdicts ({figures['found']} quotes "
        f"found, {figures['accepted']} accepted) in {figures['seconds']} s",
        f"boxes with IoU >= {GOOD}: {figures['covered']} of {figures['with_boxes']} = "
        f"{figures['share']:.3f} [{low:.3f}, {high:.3f}], median IoU {figures['median_iou']:.3f}",
    ]
    for kind, row in figures["by_kind"].items():
        lines.append(f"  {kind:16} {row['covered']:3} of {row['n']:3}  median {row['median']:.3f}")
    return "\n".join(lines + [f"  below: {name}" for name in figures["below"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--stream", action="store_true", help="by `submit` and the workers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="an absent folder to leave everything in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        figures = measure(given.keep or Path(temporary), given.seed, stream=given.stream)
    print(report(figures))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
