"""Where a quoted context stands in a document: exact Smith-Waterman on normalised text."""

from .index import DocumentIndex, align
from .scheme import ALIGNER_VERSION, DEFAULT_THRESHOLD
from .sweep import AlignmentTimeoutError

__all__ = [
    "ALIGNER_VERSION",
    "DEFAULT_THRESHOLD",
    "AlignmentTimeoutError",
    "DocumentIndex",
    "align",
]
