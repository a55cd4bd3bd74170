"""The topics: their names, what they carry, how long they keep it, which role reads them, and what
of people lies there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from safepassage.schemas import (
    AlignedExtraction,
    AuditBlock,
    Claim,
    DeadLetter,
    Document,
    DocumentReport,
    DocumentValues,
    DocumentVersion,
    DriftWarning,
    Erasure,
    Event,
    Extraction,
    ExtractionManifest,
    KeyNode,
    LearningEvent,
    MemorySnapshot,
    Realignment,
    Redrive,
    Response,
    Review,
    ScorerRelease,
    StandingDecision,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """``name`` without the configured prefix. ``single`` topics have one partition: their order
    is total. ``compacted`` ones keep the latest record of each key for ever, others keep a record
    for ``kept_days`` (None: for ever)."""

    name: str
    model: type[Event]
    kept_days: int | None
    single: bool = False
    compacted: bool = False

    @property
    def retention_ms(self) -> int:
        """``kept_days`` as the broker's ``retention.ms``; -1 is for ever."""
        return -1 if self.kept_days is None else self.kept_days * DAY_MILLISECONDS


# No topic is left to the broker's default. A week, which that usually is, took accepted verdicts
# away from under reviews that are kept for ever, and the console published them all again.
DAY_MILLISECONDS = 24 * 3600 * 1000
FOR_EVER = None
YEAR = 365  # what a replay, a late reviewer or a role that was down goes back to
QUARTER = 90  # measurements

DOCUMENTS = Topic("documents", Document, YEAR)
RESPONSES = Topic("responses", Response, YEAR)
EXTRACTIONS = Topic("extractions", Extraction, YEAR)
MANIFESTS = Topic("manifests", ExtractionManifest, YEAR)
CLAIMS = Topic("claims", Claim, YEAR)
ALIGNMENTS = Topic("alignments", AlignedExtraction, YEAR)
# The results: for as long as anybody may ask for them.
ACCEPTED = Topic("accepted", Verdict, FOR_EVER)
QUARANTINE = Topic("quarantine", Verdict, FOR_EVER)
SHADOW = Topic("shadow", Verdict, QUARTER)
# What people decided is training data, and cannot be made again.
REVIEWS = Topic("reviews", Review, FOR_EVER)
# What follows from it, one record a case: every score and align worker holds all of them, on disk.
DECISIONS = Topic("decisions", StandingDecision, FOR_EVER, single=True, compacted=True)
# What scorers remember of them, a record a change: verdicts name it, and replays judge by it.
MEMORIES = Topic("memories", MemorySnapshot, FOR_EVER, single=True, compacted=True)
# Which documents were erased: every role obeys it, and no id of it is ever worked on again.
ERASURES = Topic("erasures", Erasure, FOR_EVER, single=True, compacted=True)
# From which keys records are sealed, where that is configured: an erasure deletes some.
KEYS = Topic("keys", KeyNode, FOR_EVER, single=True, compacted=True)
REPORTS = Topic("reports", DocumentReport, YEAR)
# A document that changes: that a new version's values are to be aligned again, what is accepted in
# the newest versions of each document, and what became of it.
VERSIONS = Topic("versions", DocumentVersion, YEAR)
DOCUMENT_VALUES = Topic("document-values", DocumentValues, FOR_EVER, compacted=True)
REALIGNMENTS = Topic("realignments", Realignment, FOR_EVER)
DEAD_LETTERS = Topic("dead-letters", DeadLetter, YEAR)
# Who put which dead letters back: chained as verdicts are.
REDRIVES = Topic("redrives", Redrive, FOR_EVER, single=True)
# A chain that lost its beginning proves nothing about what it began with.
AUDIT = Topic("audit", AuditBlock, FOR_EVER)
WARNINGS = Topic("warnings", DriftWarning, QUARTER, single=True)
# How candidates came about, and on what figures they were promoted.
LEARNING = Topic("learning", LearningEvent, FOR_EVER, single=True)
SCORERS = Topic("scorers", ScorerRelease, FOR_EVER, single=True, compacted=True)

RoleName = Literal[
    "extract", "align", "score", "review", "report", "audit", "drift", "realign", "learn"
]
ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)
# Roles that `worker report` runs as well, unless it is told that they have workers of their own: a
# deployment of before they had names goes on with its audit.
WITH_REPORT: tuple[RoleName, ...] = ("audit", "drift", "realign")

# What each role reads. Its consumer group has the same topics, apart from `review` and `learn`,
# which read outside every group.
READ_BY: Mapping[RoleName, tuple[Topic, ...]] = {
    "extract": (DOCUMENTS, RESPONSES),
    "align": (EXTRACTIONS, CLAIMS),
    "score": (ALIGNMENTS,),
    "review": (ACCEPTED, QUARANTINE, REVIEWS, DECISIONS),
    "report": (MANIFESTS, ACCEPTED, QUARANTINE, DEAD_LETTERS),
    "audit": (ACCEPTED, QUARANTINE, REDRIVES),
    "drift": (ACCEPTED, QUARANTINE),
    "realign": (ACCEPTED, QUARANTINE, VERSIONS),
    "learn": (REVIEWS, LEARNING),
}

ALL_TOPICS = tuple(one for one in vars().values() if isinstance(one, Topic))
"""Those above, in their order."""

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
    REVIEWS: "the verdict that was decided on, what the reviewer typed, the reviewer's name",
    DECISIONS: "the value and passage decided on, corrected values, reviewers' names",
    MEMORIES: "a reader's state of the value's words, digests of words, reviewers' names",
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


@dataclass(frozen=True, slots=True)
class Access:
    """What a role asks of the brokers, and all that its principal needs: reading and writing
    imply describing. ``groups`` are without the configured prefixes."""

    reads: tuple[Topic, ...] = ()
    writes: tuple[Topic, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def topics(self) -> tuple[Topic, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


# What a dead letter may go back to: what the roles read that work on a record by itself.
REDRIVABLE = (*READ_BY["extract"], *READ_BY["align"], *READ_BY["score"], VERSIONS)


def _access(
    role: RoleName, *, beside: tuple[Topic, ...] = (), writes: tuple[Topic, ...], group: bool = True
) -> Access:
    """With what every role obeys, and with a group of its own, unless it reads outside of all."""
    reads = (*READ_BY[role], *beside, ERASURES, KEYS)
    return Access(reads, writes, (role,) if group else ())


ACCESS: Mapping[str, Access] = {
    "extract": _access(
        "extract", writes=(EXTRACTIONS, CLAIMS, MANIFESTS, VERSIONS, WARNINGS, DEAD_LETTERS)
    ),
    # `align` and `review` read documents at single offsets, when no cache has a text. `align` and
    # `score` obey `decisions`, by which a quote that was not found may have been accepted before.
    "align": _access(
        "align",
        beside=(DECISIONS, DOCUMENTS, RESPONSES),
        writes=(ALIGNMENTS, ACCEPTED, QUARANTINE, DEAD_LETTERS),
    ),
    "score": _access(
        "score",
        beside=(DECISIONS, MEMORIES, SCORERS),
        writes=(ACCEPTED, QUARANTINE, MEMORIES, SHADOW, DEAD_LETTERS),
    ),
    "report": _access("report", beside=(REPORTS,), writes=(REPORTS,)),
    "audit": _access("audit", beside=(AUDIT,), writes=(AUDIT, DEAD_LETTERS)),
    "drift": _access("drift", writes=(WARNINGS, DEAD_LETTERS)),
    # `extractions` and `manifests` where a version's values are taken over: what it puts there is
    # judged as an LLM's is.
    "realign": _access(
        "realign",
        beside=(DOCUMENT_VALUES,),
        writes=(EXTRACTIONS, MANIFESTS, DOCUMENT_VALUES, REALIGNMENTS, DEAD_LETTERS),
    ),
    "review": _access(
        "review",
        beside=(DOCUMENTS, RESPONSES, LEARNING, SCORERS),
        # The last where a promise breaks, and routing has to become stricter.
        writes=(REVIEWS, DECISIONS, ACCEPTED, QUARANTINE, LEARNING, SCORERS, WARNINGS),
        group=False,
    ),
    # Its replay needs what `safepassage replay` needs beside this.
    "learn": _access(
        "learn",
        beside=(SCORERS, ALIGNMENTS, ACCEPTED, QUARANTINE),
        writes=(LEARNING, SCORERS),
        group=False,
    ),
}


# Commands that people run beside the roles, each perhaps with a principal of its own.
OF_COMMANDS: Mapping[str, Access] = {
    # The manifests, alignments and warnings for its progress: it goes without where it may not.
    "submit": Access(
        reads=(REPORTS, DEAD_LETTERS, MANIFESTS, ALIGNMENTS, WARNINGS, ERASURES, KEYS),
        writes=(DOCUMENTS, RESPONSES),
    ),
    "release": Access(
        reads=(SCORERS, SHADOW, ACCEPTED, QUARANTINE, REVIEWS, ERASURES, KEYS), writes=(SCORERS,)
    ),
    "dead-letters": Access(
        reads=(
            *(*REDRIVABLE, DEAD_LETTERS, REDRIVES, REPORTS, ACCEPTED, QUARANTINE),
            *(ERASURES, KEYS),
        ),
        writes=(*REDRIVABLE, REDRIVES),
    ),
    "replay": Access(
        reads=(
            *(ALIGNMENTS, EXTRACTIONS, CLAIMS, DOCUMENTS, RESPONSES),
            *(ACCEPTED, QUARANTINE, REVIEWS, DECISIONS, MEMORIES),
            *(ERASURES, KEYS),
        )
    ),
    # It reads the topics of replays as well, and makes the topic of the keys.
    "erase": Access(
        reads=(*OF_DOCUMENTS, ERASURES, KEYS, SCORERS),
        writes=(ERASURES, KEYS, DECISIONS, MEMORIES, DOCUMENT_VALUES),
    ),
}


def topics_of(roles: Iterable[str]) -> tuple[Topic, ...]:
    """Every topic that one of ``roles`` reads or writes, each once."""
    return tuple(dict.fromkeys(topic for role in roles for topic in ACCESS[role].topics))


def topic_config(topic: Topic, max_record_bytes: int) -> dict[str, str]:
    """The broker-side configuration of ``topic``.

    Dead letters carry the original record in base64 (4/3 of its size) and a frame around it, so
    their limit is twice that of the others: what could come in can always be set aside.
    """
    limit = max_record_bytes * (2 if topic is DEAD_LETTERS else 1)
    policy = "compact" if topic.compacted else "delete"
    # What was replaced or deleted stays in the newest segment without it, for as long as a week.
    lag = {"max.compaction.lag.ms": str(DAY_MILLISECONDS)} if topic.compacted else {}
    return {
        **lag,
        "cleanup.policy": policy,
        "max.message.bytes": str(limit),
        "retention.ms": str(topic.retention_ms),
    }
