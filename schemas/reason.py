"""Why a verdict is not "accepted", or which decision of a person made it so."""

from typing import Literal

Reason = Literal[
    # quarantined: judged unsafe
    "not_found",  # the quote is not in the document
    "empty_context",  # nothing was quoted
    "low_evidence",  # the quote is too short for so inexact a match
    "unsupported",  # the passage does not support the value
    "doubtful",  # strict mode: nothing shows it wrong, but a check was not sure
    "conflicting",  # the document gave another value as well, for a field with room for one
    "review_rejected",  # accepted by the scorer, refused by a person
    "review_lapsed",  # a person decided on another passage, in an earlier version of the document
    # undetermined: could not be judged
    "document_missing",
    "document_mismatch",  # the text found is not the text that was extracted from
    "document_too_long",
    "context_too_long",
    "alignment_failed",
    "alignment_timeout",
    "scorer_failed",
    "scorer_timeout",
    "score_not_finite",
    "no_threshold",
    "language_not_covered",  # the scorer does not claim to read passage or type
    "date_ambiguous",  # a date in figures has two readings, and nothing decides between them
    "invalid_extraction",
    # accepted by a person
    "review_confirmed",
    "review_corrected",
]
