"""The bundled corpus: documents, a recorded extractor's findings, and answers of a RAG system.

Written for this project. Every person, firm and tribunal is invented.
"""

from .corpus import (
    DOCUMENTS,
    EXTRACTIONS,
    RESPONSE_LABELS,
    RESPONSES,
    SCHEMA,
    SentenceLabel,
    documents,
    extractions,
    response_labels,
    responses,
)

__all__ = [
    "DOCUMENTS",
    "EXTRACTIONS",
    "RESPONSES",
    "RESPONSE_LABELS",
    "SCHEMA",
    "SentenceLabel",
    "documents",
    "extractions",
    "response_labels",
    "responses",
]
