"""Where a quoted context stands in a document: exact Smith-Waterman on normalised text."""

from .index import DocumentIndex, align

__all__ = ["DocumentIndex", "align"]
