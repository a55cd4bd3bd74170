"""Where a quoted context stands in a document: exact Smith-Waterman on normalised text."""

from .index import DocumentIndex, align
from .scheme import DEFAULT_THRESHOLD
from .sweep import AlignmentTimeoutError

__all__ = ["DEFAULT_THRESHOLD", "AlignmentTimeoutError", "DocumentIndex", "align"]
