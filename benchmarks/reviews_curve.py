"""Quality by the number of reviews on fields that taught the readers nothing.

``python -m benchmarks.reviews_curve ../shared/data docs/measured/reviews.json --keep FOLDER``

Development fields: errors of real LLMs (``natural_extractions``, by source), and sets that only
measure (``slots_measure``); neither reader nor stack nor threshold learnt from any of them. A run
that was stopped goes on from FOLDER; fields that are done are written at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from recipes.stack_pairs import slot_pairs
from safepassage.pipeline import align_with, ground, new_aligner
from safepassage.scoring_worker.evaluation.cases import Dataset, LabelledCase
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.runs import numbers_of
from safepassage.scoring_worker.evaluation.sources import Sources, read_documents
from safepassage.scoring_worker.training import Recipe
from safepassage.scoring_worker.training.reviews.curve import (
    ReviewsSettings,
    certified_table,
    reviews_curve,
    reviews_table,
)
from safepassage.settings import JudgingSettings
from safepassage.streams.cli.label_options import progress_lines
from safepassage.streams.cli.output import print_tables


def natural(data: Path, rows: int, source: str) -> Dataset:
    """Extractions of real LLMs, of one source."""
    folder = data / "general"
    path = folder / "natural_extractions.jsonl.gz"
    documents = read_documents([folder / "natural_documents.jsonl.gz"])
    aligner = new_aligner(JudgingSettings())
    try:
        every = read_dataset(path, Sources(documents, partial(align_with, aligner), ground))
    finally:
        aligner.close()
    cases = tuple(case for case in every.cases if case.id.startswith(f"{source}-"))[:rows]
    return replace(every, name=source, cases=cases, labels="people's, of the set")


def slots(data: Path, rows: int, name: str) -> Dataset:
    """Annotated values and, beside them, wrong ones of the same passages."""
    cases = tuple(
        LabelledCase(str(at), one.group, one.label == 1, one.entity_type, (one.pair,), one.kind)
        for at, one in enumerate(slot_pairs(data, name, rows))
    )
    return Dataset(name, "pairs", "annotators'; wrong ones drawn from the passage", cases)


FIELDS: Mapping[str, Callable[[Path, int], Dataset]] = {
    "webnlg_triples": partial(natural, source="webnlg_triples"),
    "products": partial(slots, name="products"),
    "lct_trials": partial(slots, name="lct_trials"),
    "emails": partial(natural, source="emails"),
    "measeval": partial(slots, name="measeval"),
    "biodiv_ner": partial(natural, source="biodiv_ner"),
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("json", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--fields", default=",".join(FIELDS))
    parser.add_argument("--sizes", default="0,10,25,50,100,200")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=400, help="of each field")
    parser.add_argument("--judged", type=int, default=150)
    parser.add_argument("--checks", type=float, help="share; the console's if left out")
    parser.add_argument("--base", default="default")
    parser.add_argument("--layers", type=int, default=Recipe().gold.layers)
    chosen = parser.parse_args()
    chosen.keep.mkdir(parents=True, exist_ok=True)
    recipe = Recipe()
    settings = ReviewsSettings(
        base=chosen.base,
        sizes=numbers_of(chosen.sizes),
        draws=chosen.draws,
        checks=chosen.checks,
        judged=chosen.judged,
        recipe=replace(recipe, gold=replace(recipe.gold, layers=chosen.layers)),
    )
    curves = []
    for name in chosen.fields.split(","):
        dataset = FIELDS[name](chosen.data, chosen.rows)
        curve = reviews_curve(dataset, settings, chosen.keep, progress_lines())
        curves.append(curve.model_dump(mode="json"))
        print_tables([reviews_table(curve), certified_table(curve)])
        chosen.json.write_text(json.dumps({"curves": curves}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
