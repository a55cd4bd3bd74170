"""Claims and short answers that people judged: contrastive, negated, supposed, invented ones."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recipes.invented.claims import stated
from safepassage.scoring_worker.training.corpora import read_rows
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion

CLAIM_SETS = {
    "fm2": 2_000,
    "begin_wow": 1_500,
    "dialogue_claims": 320,
    "summedits": 800,
    "scone": 900,
    "negation_nli": 2_000,
}
"""English rows of every set of claims at the most."""
ANSWER_SETS = {"condaqa": 2_400, "uds_factuality": 1_800, "halueval_qa": 600}
"""English rows of every set of questions with judged answers at the most."""


def judged_claims(data: Path, share: float, seed: int) -> Iterator[ReadingQuestion]:
    """Rows of `CLAIM_SETS` and `ANSWER_SETS` as claims, ``share`` of each set's number.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    for name, most in (CLAIM_SETS | ANSWER_SETS).items():
        rows = [r for r in read_rows(data / f"claims/{name}.jsonl.gz") if r["lang"] == "en"]
        made = [_answer(row) if name in ANSWER_SETS else _claim(row) for row in rows]
        yield from rng.sample(made, min(len(made), int(most * share)))


def _claim(row: Mapping[str, Any]) -> ReadingQuestion:
    supported = row["label"] == "entailment"
    marked = tuple((a, b) for a, b in row.get("spans") or ())
    unfounded = () if supported else marked or None
    return ReadingQuestion(
        passage=row["premise"],
        asked=(row["hypothesis"],),
        supported=int(supported),
        unfounded=unfounded,
        source=row["source"],
        group=row["group"],
    )


def _answer(row: Mapping[str, Any]) -> ReadingQuestion:
    """ "Type: Value", or the question and its answer."""
    claim, place = stated(row["type"].strip(), str(row["value"]))
    supported = bool(row["label"])
    return ReadingQuestion(
        passage=row["premise"],
        asked=(claim,),
        supported=int(supported),
        unfounded=() if supported else (place,),
        source=row["source"],
        group=row["group"],
    )
