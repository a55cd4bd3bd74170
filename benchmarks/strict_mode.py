"""What strict mode (``SAFEPASSAGE_STRICT``) stops, and what it costs.

    python benchmarks/strict_mode.py ../shared/data [--scorer default] [--out docs/measured]

Written cases are the rows of documents that taught nothing (``split`` is ``dev``); natural errors
are extractions of LLMs, on which decisions were taken. Both go through the whole pipeline once. The
decision rule is then asked without strict mode, with it, and with each of its two doubts alone.
``wrong stopped`` and ``right stopped`` are the shares of these rows that are not accepted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from safepassage.pipeline import SCORE_BATCH, align_all, judge, new_aligner, questions
from safepassage.schemas import Assessment
from safepassage.schemas.jsonl import read_objects
from safepassage.scoring_worker import load_scorer
from safepassage.settings import JudgingSettings
from safepassage.streams.offline.check import CheckInput, read_input

Rule = Callable[[Assessment], Assessment]
RULES: dict[str, Rule] = {
    "without": lambda said: said.model_copy(update={"strict": False}),
    "near the threshold": lambda said: said.model_copy(
        update={"findings": tuple(found for found in said.findings if found.contradicts)}
    ),
    "with a finding": lambda said: said.model_copy(
        update={"score": 1.0 if said.passes else said.score}
    ),
    "strict": lambda said: said,
}
HEAD = "rows                    rule                  wrong  stopped   right  stopped"


def main() -> None:
    """Judge both sets once, decide by every rule, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", default="default", help="a name or a folder")
    parser.add_argument("--out", type=Path, help="folder for strict.txt")
    options = parser.parse_args()
    scorer = load_scorer(options.scorer, packs=(), strict=True)
    lines = [f"{options.scorer}, revision {scorer.revision}", HEAD]
    for name, given, labels in _sets(options.data):
        aligned = align_all(given.extractions, given.documents, new_aligner(JudgingSettings()))
        pairs = questions(aligned)
        said: list[Assessment] = []
        for at in range(0, len(pairs), SCORE_BATCH):
            said += scorer.assess(pairs[at : at + SCORE_BATCH])
        for rule, changed in RULES.items():
            verdicts = judge(aligned, [changed(one) for one in said])
            stopped = [(labels[v.extraction_id], v.decision != "accepted") for v in verdicts]
            wrong = [was for label, was in stopped if not label]
            right = [was for label, was in stopped if label]
            shares = sum(wrong) / len(wrong), sum(right) / len(right)
            counts = f"{len(wrong):6} {shares[0]:8.3f}  {len(right):6} {shares[1]:8.3f}"
            lines.append(f"{name:23} {rule:20} {counts}")
    print("\n".join(lines))
    if options.out:
        (options.out / "strict.txt").write_text("\n".join(lines) + "\n")


def _sets(data: Path) -> Iterator[tuple[str, CheckInput, dict[str, bool]]]:
    """Each set's name, its rows with their documents, and the labels by the rows' ids."""
    about = _objects(data / "written/about.jsonl.gz")
    dev = {str(row["doc_id"]) for row in about if row["split"] == "dev"}
    for name, folder, stem in (("written, dev", "written", ""), ("natural", "general", "natural_")):
        rows = data / folder / f"{stem}extractions.jsonl.gz"
        given = read_input([data / folder / f"{stem}documents.jsonl.gz"], [rows])
        if name == "written, dev":
            given.extractions = [one for one in given.extractions if one.doc_id in dev]
        yield name, given, {str(row["id"]): bool(row["label"]) for row in _objects(rows)}


def _objects(path: Path) -> Sequence[dict[str, object]]:
    return [row for row in read_objects(path) if isinstance(row, dict)]


if __name__ == "__main__":
    main()
