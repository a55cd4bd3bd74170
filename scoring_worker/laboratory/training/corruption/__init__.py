"""Labelled pairs without labellers: known facts of a document, and ways to get them wrong."""

from .corruptors import CORRUPTIONS, corrupt, labelled_pairs
from .known_documents import KnownDocument, KnownField, Label
from .synthesis import synthetic_documents

__all__ = [
    "CORRUPTIONS",
    "KnownDocument",
    "KnownField",
    "Label",
    "corrupt",
    "labelled_pairs",
    "synthetic_documents",
]
