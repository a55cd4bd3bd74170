"""Writes the questions about invented documents that every training asks beside its labels.

``python -m recipes.rehearsal`` writes the same file each time.
"""

import gzip
import random
from dataclasses import fields, replace

import orjson

from recipes.invented import synthetic_documents
from recipes.invented.document_questions import document_questions, with_generated
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion
from safepassage.scoring_worker.training.reading.rehearsal import REHEARSAL_FILE

QUESTIONS = 3_000
SEED = 0
_PER_DOCUMENT = 4
"""Fewer questions than any invented document gives."""


def questions(count: int, seed: int) -> list[ReadingQuestion]:
    """``count`` questions about invented documents, the same for the same seed."""
    documents = synthetic_documents(count // _PER_DOCUMENT, seed)
    own = [
        question for document in documents for question in document_questions(document, "invented")
    ]
    every = with_generated(own, seed)
    return random.Random(seed).sample(every, count)


def row_of(question: ReadingQuestion) -> dict[str, object]:
    """What ``question`` teaches beyond its defaults."""
    question = replace(question, group="")
    said = {one.name: (getattr(question, one.name), one.default) for one in fields(question)}
    return {name: value for name, (value, usual) in said.items() if value != usual}


def rows() -> bytes:
    """The lines of the file."""
    return b"".join(orjson.dumps(row_of(one)) + b"\n" for one in questions(QUESTIONS, SEED))


if __name__ == "__main__":
    REHEARSAL_FILE.write_bytes(gzip.compress(rows(), 9, mtime=0))
