"""What a reader is taught last: the written rows as the scorer asks them, sentences of exchanged
roles, and questions of the passes before."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recipes.field_reading.corpus import role_pairs
from recipes.field_reading.rows import OWN, aligned_rows, own_rows, written_rows
from recipes.reading_corpus import Corpus
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.reading.label_questions import questions_of
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion


@dataclass(frozen=True, slots=True)
class Mixture:
    """How often each kind is asked. ``english`` and ``others`` are rounds over the written rows,
    ``claims`` the share of the rows that are asked as a statement too, ``roles`` sentences of
    exchanged roles at the most, ``before`` questions of the passes before."""

    english: int
    others: int
    claims: float
    roles: int
    before: int


LARGE = Mixture(english=2, others=0, claims=0.23, roles=4_800, before=7_140)
SMALL = Mixture(english=1, others=2, claims=0.1, roles=1_600, before=6_000)


def written_corpus(
    data: Path, mixture: Mixture, before: Sequence[ReadingQuestion], seed: int = 33
) -> Corpus:
    """Everything that a pass over the written rows reads; ``before`` are questions that the reader
    knows, so that it does not lose them.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    rounds = {True: mixture.english, False: mixture.others}
    values: list[ReadingQuestion] = []
    claims: list[ReadingQuestion] = []
    for english, pairs in written_pairs(data).items():
        asked = questions_of(pairs) if rounds[english] else []
        values += rounds[english] * [one for one in asked if one.supported is None]
        claims += [one for one in asked if one.supported is not None]
    roles = [
        ReadingQuestion(passage, (said,), supported=label, unfounded=() if label else None)
        for passage, own in role_pairs(data, "train")
        for said, label in own
    ]
    questions = [
        *values,
        *_some(rng, claims, int(len(claims) * mixture.claims)),
        *_some(rng, roles, mixture.roles),
        *_some(rng, before, mixture.before),
    ]
    rng.shuffle(questions)
    return Corpus(questions, ("written", "roles"))


def written_pairs(data: Path) -> dict[bool, list[LabelledPair]]:
    """The written rows that teach, with what is around their quotes: those in English (True) and
    those in other languages (False). Rows whose quote is not in the document are left out.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    found: dict[bool, list[LabelledPair]] = {True: [], False: []}
    for texts, rows, about in (written_rows(data), own_rows(OWN)):
        taught = {name for name, own in about.items() if own.get("split", "train") == "train"}
        for row, aligned in aligned_rows(texts, (r for r in rows if r["doc_id"] in taught)):
            pair = Pair.of(aligned)
            found[about[row["doc_id"]]["language"] == "en"].append(
                LabelledPair(
                    pair.premise,
                    pair.entity_type,
                    pair.value,
                    1 if row["label"] else 0,
                    row["kind"],
                    row["doc_id"],
                    around=pair,
                )
            )
    return found


def _some(
    rng: random.Random, questions: Sequence[ReadingQuestion], most: int
) -> list[ReadingQuestion]:
    return rng.sample(questions, min(most, len(questions)))
