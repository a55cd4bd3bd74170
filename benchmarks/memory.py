"""What the memory of k reviewed values is worth, without any training.

    python benchmarks/memory.py ../shared/data [--scorer large] [--keep FOLDER] [--out FOLDER]

Every source is played through several times: 100 rows, all of some documents, are set apart, and k
of them are reviewed; all other rows are judged with their memory, at the shipped threshold. Natural
errors of LLMs come first; none of the sources taught the readers, and none the memory's weights,
but the fields that its weights were fitted on, which say so. ``changed``: the share of the judged
values whose score the memory moves.

Rows represent reviews of one person, drawn by document and not as a queue would draw them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from general_sets import MEASURE_ONLY, Case, natural_cases, slot_cases
from rich.console import Console
from rich.table import Table

from recipes.memory_weights import SOURCES, TracedRow, Trial, kept_rows, trials
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.metrics import f1_of
from safepassage.scoring_worker.evaluation.ranking import Ranking
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.memory.weights import packaged_weights
from safepassage.scoring_worker.scorers.folders import open_manifest

NATURAL = ("emails", "webnlg_triples", "biodiv_ner")
SIZES = (0, 25, 50, 100)
ROWS = 150
SEED = 1
"""Other draws than the weights were fitted on."""
FITTED = " (fitted on)"


def main() -> None:
    """Trace, play, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", action="append", choices=sorted(SOURCES))
    parser.add_argument("--source", action="append", help="only these")
    parser.add_argument("--keep", type=Path, help="where what scorers made of the rows stays")
    parser.add_argument("--out", type=Path, help="folder of memory.json, which is added to")
    options = parser.parse_args()
    figures = {}
    for scorer in options.scorer or ["large", "small"]:
        _, manifest = open_manifest(scorer)
        own = {}
        for name, rows in _rows(options.data, scorer, options.keep, options.source):
            own[name] = {size: _figures(rows, size, manifest) for size in SIZES}
        figures[scorer] = own
        Console().print(_table(scorer, own))
    if options.out:
        _add(options.out / "memory.json", figures)


def _add(path: Path, figures: dict[str, Any]) -> None:
    """Put the figures into the file, beside those of other scorers and sources."""
    known = orjson.loads(path.read_bytes()) if path.exists() else {}
    merged = {
        scorer: known.get(scorer, {}) | figures.get(scorer, {})
        for scorer in sorted(known.keys() | figures.keys())
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    path.write_bytes(orjson.dumps(merged, option=options) + b"\n")


def _rows(
    data: Path, scorer: str, keep: Path | None, wanted: Sequence[str] | None
) -> Iterator[tuple[str, list[TracedRow]]]:
    """Every source with what its rows leave in a memory of ``scorer``."""
    general = data / "general"
    sources = {name: lambda name=name: natural_cases(general, name) for name in NATURAL}
    for name in (*MEASURE_ONLY, *SOURCES[scorer]):
        sources[name] = lambda name=name: slot_cases(data, name, ROWS)
    for name, cases in sources.items():
        if wanted and name not in wanted:
            continue
        shown = f"{name}{FITTED}" if name in SOURCES[scorer] else name
        pairs = [_labelled(case) for case in cases() if len(case.pairs) == 1]
        yield shown, kept_rows(keep, f"{name}-measured", pairs, scorer)


def _labelled(case: Case) -> LabelledPair:
    [pair] = case.pairs
    return LabelledPair(
        pair.premise, pair.entity_type, pair.value, case.label, case.kind, case.group, pair
    )


def _figures(
    rows: Sequence[TracedRow], size: int, manifest: ScorerManifest
) -> dict[str, float | int]:
    """Means over the draws."""
    weights = packaged_weights()
    found: list[tuple[float, float, float]] = []
    for trial in trials(rows, size, seed=SEED, apart=max(SIZES)):
        shifts = trial.shifts(weights)
        scores = _scores(trial, shifts, manifest)
        unsupported = trial.labels == 0
        flagged = scores < manifest.thresholds.default
        every = np.ones(len(scores))
        area = Ranking(unsupported, (-scores).tolist()).auroc(every)
        halves = f1_of(unsupported, flagged, every), f1_of(~unsupported, ~flagged, every)
        if area is not None:
            found.append((area, sum(halves) / 2, float((shifts != 0).mean())))
    if not found:
        raise SystemExit(f"{size} of {len(rows)} rows leave none of both labels to judge")
    area, macro, changed = map(float, np.mean(found, axis=0))
    return {
        "n": len(rows),
        "draws": len(found),
        "auroc": round(area, 4),
        "macro_f1": round(macro, 4),
        "changed": round(changed, 3),
    }


def _scores(
    trial: Trial, shifts: np.ndarray[tuple[int], np.dtype[np.float64]], manifest: ScorerManifest
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """As the default scorer makes them; 0 where the comparators decide."""
    raw = 1.0 / (1.0 + np.exp(-(trial.log_odds + shifts)))
    return np.where(trial.decided, 0.0, apply(manifest.calibration, raw))


def _table(scorer: str, figures: dict[str, dict[int, dict[str, float | int]]]) -> Table:
    table = Table(title=f"{scorer}: memories, without training")
    for heading in ("", "rows", *(f"AUROC {k}" for k in SIZES), *(f"F1 {k}" for k in SIZES)):
        table.add_column(heading, justify="right" if heading else "left")
    for name, own in figures.items():
        said = [f"{own[k][what]:.3f}" for what in ("auroc", "macro_f1") for k in SIZES]
        table.add_row(name, str(own[0]["n"]), *said)
    return table


if __name__ == "__main__":
    main()
