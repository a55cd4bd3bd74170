"""Rehearsal: what a reader already knows, asked again while it learns from a few labels.

Documents that this project invents, with denials, suppositions, forms and claims made of them;
no corpus is needed. Without it a hundred labels of one kind of document would undo what the
reader learnt from thousands of others.
"""

from __future__ import annotations

import random

from safepassage.scoring_worker.laboratory.training.corruption import synthetic_documents

from .corpora import document_questions, with_generated
from .questions import ReadingQuestion

_PER_DOCUMENT = 4
"""Fewer questions than any invented document gives, so that one draw is enough."""


def rehearsed(count: int, seed: int) -> list[ReadingQuestion]:
    """``count`` questions of invented documents, the same for the same seed."""
    if count <= 0:
        return []
    documents = synthetic_documents(count // _PER_DOCUMENT + 4, seed)
    own = [
        question for document in documents for question in document_questions(document, "invented")
    ]
    every = with_generated(own, seed)
    return random.Random(seed).sample(every, min(count, len(every)))
