"""The topics: their names, what they carry, how long they keep it, and which role reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from schemas import (
    AlignedExtraction,
    AuditBlock,
    Claim,
    DeadLetter,
    Document,
    DocumentReport,
    Event,
    Extraction,
    ExtractionManifest,
    Response,
    Review,
    ScorerRelease,
    Verdict,
    Warning,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """``name`` without the configured prefix. ``single`` topics have one partition: their order
    is total. ``compacted`` ones keep the latest record of each key for ever."""

    name: str
    model: type[Event]
    single: bool = False
    compacted: bool = False
    config: dict[str, str] = field(default_factory=dict, hash=False)


DOCUMENTS = Topic("documents", Document)
RESPONSES = Topic("responses", Response)
EXTRACTIONS = Topic("extractions", Extraction)
MANIFESTS = Topic("manifests", ExtractionManifest)
CLAIMS = Topic("claims", Claim)
ALIGNMENTS = Topic("alignments", AlignedExtraction)
ACCEPTED = Topic("accepted", Verdict)
QUARANTINE = Topic("quarantine", Verdict)
SHADOW = Topic("shadow", Verdict)
# What people decided is training data, and cannot be made again.
REVIEWS = Topic("reviews", Review, config={"retention.ms": "-1"})
REPORTS = Topic("reports", DocumentReport)
DEAD_LETTERS = Topic("dead-letters", DeadLetter)
# A chain that lost its beginning proves nothing about what it began with.
AUDIT = Topic("audit", AuditBlock, config={"retention.ms": "-1"})
WARNINGS = Topic("warnings", Warning, single=True)
SCORERS = Topic("scorers", ScorerRelease, single=True, compacted=True)

RoleName = Literal["extract", "align", "score", "review", "report"]
ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)

# What each role reads. Its consumer group has the same topics, apart from `review`, which reads
# outside every group.
READ_BY: Mapping[RoleName, tuple[Topic, ...]] = {
    "extract": (DOCUMENTS, RESPONSES),
    "align": (EXTRACTIONS, CLAIMS),
    "score": (ALIGNMENTS,),
    "review": (ACCEPTED, QUARANTINE, REVIEWS),
    "report": (MANIFESTS, ACCEPTED, QUARANTINE, DEAD_LETTERS),
}

ALL_TOPICS = (
    DOCUMENTS,
    RESPONSES,
    EXTRACTIONS,
    MANIFESTS,
    CLAIMS,
    ALIGNMENTS,
    ACCEPTED,
    QUARANTINE,
    SHADOW,
    REVIEWS,
    REPORTS,
    DEAD_LETTERS,
    AUDIT,
    WARNINGS,
    SCORERS,
)


@dataclass(frozen=True, slots=True)
class Access:
    """What a role asks of the brokers, and all that its principal needs: reading and writing
    imply describing. ``groups`` are without the configured prefixes."""

    reads: tuple[Topic, ...] = ()
    writes: tuple[Topic, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def topics(self) -> tuple[Topic, ...]:
        """Each topic once."""
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


# `align` and `review` read documents at single offsets, when no cache has a text.
ACCESS: Mapping[str, Access] = {
    "extract": Access(
        reads=READ_BY["extract"],
        writes=(EXTRACTIONS, CLAIMS, MANIFESTS, DEAD_LETTERS),
        groups=("extract",),
    ),
    "align": Access(
        reads=(*READ_BY["align"], DOCUMENTS, RESPONSES),
        writes=(ALIGNMENTS, QUARANTINE, DEAD_LETTERS),
        groups=("align",),
    ),
    "score": Access(
        reads=(*READ_BY["score"], SCORERS),
        writes=(ACCEPTED, QUARANTINE, SHADOW, DEAD_LETTERS),
        groups=("score",),
    ),
    "report": Access(
        reads=(*READ_BY["report"], REPORTS, AUDIT),
        writes=(REPORTS, AUDIT, WARNINGS, DEAD_LETTERS),
        groups=("report", "audit", "drift"),
    ),
    "review": Access(
        reads=(*READ_BY["review"], DOCUMENTS, RESPONSES),
        writes=(REVIEWS, ACCEPTED, QUARANTINE),
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
    return {"cleanup.policy": policy, "max.message.bytes": str(limit), **topic.config}
