"""What the large reader is taught last: the written rows as the scorer asks them, sentences of
exchanged roles, and questions of the passes before."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from recipes.field_reading.corpus import role_pairs
from recipes.field_reading.rows import OWN, aligned_rows, own_rows, written_rows
from recipes.large_corpus import large_corpus, second_corpus
from recipes.reading_corpus import Corpus
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.corpora import Row
from safepassage.scoring_worker.training.reading.label_questions import questions_of
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion

WRITTEN_CLAIMS = 0.1
"""Share of the written rows that are asked as a statement too."""
ROLES, FIRST, SECOND = 1_360, 4_060, 1_420
"""Sentences of exchanged roles; questions of the first and of the second pass."""


def written_corpus(data: Path, *, without: Sequence[str] = (), seed: int = 33) -> Corpus:
    """Everything the third pass reads.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    asked = questions_of(written_pairs(data))
    values = [question for question in asked if question.supported is None]
    claims = [question for question in asked if question.supported is not None]
    roles = [
        ReadingQuestion(passage, (said,), supported=label, unfounded=() if label else None)
        for passage, own in role_pairs(data, "train")
        for said, label in own
    ]
    first = large_corpus(data, without=without)
    second = second_corpus(data, without=without)
    questions = [
        *values,
        *rng.sample(claims, int(len(claims) * WRITTEN_CLAIMS)),
        *_some(rng, roles, ROLES),
        *_some(rng, first.questions, FIRST),
        *_some(rng, second.questions, SECOND),
    ]
    rng.shuffle(questions)
    return Corpus(questions, ("written", "roles", *first.sources))


def _some(
    rng: random.Random, questions: Sequence[ReadingQuestion], most: int
) -> list[ReadingQuestion]:
    return rng.sample(questions, min(most, len(questions)))


def written_pairs(data: Path) -> Iterator[LabelledPair]:
    """The written rows in English that teach, with what is around their quotes; those whose quote
    is not in the document are left out.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    for texts, rows, about in (written_rows(data), own_rows(OWN)):
        taught = {name for name, own in about.items() if _teaches(own)}
        for row, aligned in aligned_rows(texts, (r for r in rows if r["doc_id"] in taught)):
            pair = Pair.of(aligned)
            yield LabelledPair(
                pair.premise,
                pair.entity_type,
                pair.value,
                1 if row["label"] else 0,
                row["kind"],
                row["doc_id"],
                around=pair,
            )


def _teaches(about: Row) -> bool:
    return (about.get("split", "train"), about["language"]) == ("train", "en")
