"""Where a quoted context is in a document: exact Smith-Waterman on normalised text."""

from safepassage.agents.alignment_thresholds import DEFAULT_THRESHOLD

from .index import DocumentIndex, align
from .scoring_scheme import ALIGNER_VERSION
from .sweep import AlignmentTimeoutError

__all__ = [
    "ALIGNER_VERSION",
    "DEFAULT_THRESHOLD",
    "AlignmentTimeoutError",
    "DocumentIndex",
    "align",
]
