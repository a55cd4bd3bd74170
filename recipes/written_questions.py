"""What the large reader is taught last: the written rows as the scorer asks them, sentences of
exchanged roles, and questions of the passes before."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from recipes.field_reading.corpus import role_pairs
from recipes.field_reading.rows import OWN, own_rows
from recipes.large_corpus import large_corpus, second_corpus
from recipes.reading_corpus import Corpus
from safepassage.pipeline import align_all, new_aligner
from safepassage.schemas import AlignedExtraction, Document, Extraction
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training.corpora import Row, read_rows
from safepassage.scoring_worker.training.reading.label_questions import questions_of
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion
from safepassage.settings import JudgingSettings

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
    folder = data / "written"
    about = {row["doc_id"]: row for row in read_rows(folder / "about.jsonl.gz")}
    texts = {row["id"]: row["text"] for row in read_rows(folder / "documents.jsonl.gz")}
    rows = list(read_rows(folder / "extractions.jsonl.gz"))
    for made, own in own_rows(OWN):
        about[made["id"]] = {"split": "train", **made}
        texts[made["id"]] = made["text"]
        rows += own
    taught = [
        row
        for row in rows
        if about[row["doc_id"]]["split"] == "train" and about[row["doc_id"]]["language"] == "en"
    ]
    documents = {name: Document(id=name, text=text) for name, text in texts.items()}
    extractions = [_extraction(row) for row in taught]
    aligned = align_all(extractions, documents, new_aligner(JudgingSettings()))
    for row, result in zip(taught, aligned, strict=True):
        if isinstance(result, AlignedExtraction) and result.alignment.found:
            pair = Pair.of(result)
            yield LabelledPair(
                pair.premise,
                pair.entity_type,
                pair.value,
                1 if row["label"] else 0,
                row["kind"],
                row["doc_id"],
                around=pair,
            )


def _extraction(row: Row) -> Extraction:
    return Extraction(**{name: row.get(name) for name in _OF_EXTRACTION})


_OF_EXTRACTION = ("id", "doc_id", "entity_type", "value", "context", "field")
