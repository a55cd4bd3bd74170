"""What personal data lies on which topic: one line for each, or a test fails."""

from collections.abc import Mapping

from safepassage.streams.topics import (
    ACCEPTED,
    ALIGNMENTS,
    AUDIT,
    CLAIMS,
    DEAD_LETTERS,
    DECISIONS,
    DOCUMENT_VALUES,
    DOCUMENTS,
    ERASURES,
    EXTRACTIONS,
    KEYS,
    LEARNING,
    MANIFESTS,
    MEMORIES,
    QUARANTINE,
    REALIGNMENTS,
    REDRIVES,
    REPORTS,
    RESPONSES,
    REVIEWS,
    SCORERS,
    SHADOW,
    VERSIONS,
    WARNINGS,
    Topic,
)

PERSONAL_DATA: Mapping[Topic, str] = {
    DOCUMENTS: "the whole text, and what its producer says of it (`meta`)",
    RESPONSES: "the answer and the whole text it rests on",
    EXTRACTIONS: "values and quotes",
    MANIFESTS: "the text's digest",
    CLAIMS: "sentences of the answer",
    ALIGNMENTS: "values, quotes, passages and their surroundings",
    ACCEPTED: "values, quotes, passages",
    QUARANTINE: "values, quotes, passages",
    SHADOW: "values, quotes, passages",
    REVIEWS: "the verdict that was decided on, corrected values, comments, the reviewer's name",
    DECISIONS: "the value and passage decided on, corrected values, reviewers' names",
    MEMORIES: "a reader's state of the value's words, reviewers' names",
    ERASURES: "the id of a document that was erased, the operator's name and reason",
    KEYS: "",
    REPORTS: "the text's digest",
    VERSIONS: "the text's digest",
    DOCUMENT_VALUES: "the text's digest",
    REALIGNMENTS: "values, digests of passages, the reviewer's name",
    DEAD_LETTERS: "the record as it came",
    REDRIVES: "ids of letters, the operator's name and reason",
    AUDIT: "digests of records, ids of verdicts",
    WARNINGS: "",
    LEARNING: "names of people who promoted a candidate",
    SCORERS: "names of people who released a scorer",
}
"""By topic, what of people its records hold; "" for nothing."""

OF_DOCUMENTS: tuple[Topic, ...] = tuple(
    topic
    for topic in PERSONAL_DATA
    if topic not in (ERASURES, KEYS, REDRIVES, AUDIT, WARNINGS, LEARNING, SCORERS)
)
"""The topics whose records are about documents. Replays have topics of their own beside them."""
