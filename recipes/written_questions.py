"""What a reader is taught last: the written rows as the scorer asks them, sentences of exchanged
roles, and questions of the passes before."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from recipes.field_reading.corpus import role_pairs
from recipes.field_reading.rows import OWN, aligned_rows, own_rows, written_rows
from recipes.reading_corpus import Corpus
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.corpora import Row
from safepassage.scoring_worker.training.reading.label_questions import questions_of
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion

ROUNDS = 2
"""Times that each written row is asked for its value."""
CLAIMS = 0.23
"""Share of the written rows that are asked as a statement too."""
KNOWN = 7_140
"""Questions of the passes before."""


def written_corpus(data: Path, known: Sequence[ReadingQuestion], seed: int = 33) -> Corpus:
    """Everything that a pass over the written rows reads. Of ``known``, which the reader has read
    before, some are asked again, so that it does not lose them.

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
    questions = [
        *ROUNDS * values,
        *rng.sample(claims, int(len(claims) * CLAIMS)),
        *roles,
        *rng.sample(known, min(len(known), KNOWN)),
    ]
    rng.shuffle(questions)
    return Corpus(questions, ("written", "roles"))


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
