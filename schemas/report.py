"""Events about the flow itself: what ended, what could not be read, what looks wrong."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from .base import Contract, Event, EventId, Text, is_empty, is_none
from .document import Coordinates, DocumentRef

Stage = Literal["submit", "extract", "align", "score", "review", "report", "replay"]


class DocumentReport(Event):
    """Topic ``reports``: the outcome of one document, once all its verdicts are in.

    ``missing`` counts extractions of which nothing came though documents far behind were judged:
    the document was given up, and the report is incomplete.
    """

    document: DocumentRef
    extractions: int = Field(ge=0)
    accepted: int = Field(ge=0)
    quarantined: int = Field(ge=0)
    undetermined: int = Field(ge=0)
    dead_lettered: int = Field(default=0, ge=0)
    missing: int = Field(default=0, ge=0)
    reasons: dict[str, int] = Field(default_factory=dict)
    verdict_ids: tuple[EventId, ...] = ()
    unfilled: tuple[Text, ...] = Field(default=(), exclude_if=is_empty)
    """Fields that the schema requires and nothing filled."""
    earlier_parts: tuple[Coordinates, ...] = Field(default=(), exclude_if=is_empty)
    """Where an answer came in parts: the records before the last one of which verdicts came."""
    from_cache: bool = Field(default=False, exclude_if=is_empty)
    """No LLM was asked: the same text was answered before."""
    realigned: dict[str, int] | None = Field(default=None, exclude_if=is_none)
    """Of a version whose values were taken over from the version before: how many ended as what
    (see `Realignment`). None where an LLM was asked."""

    @property
    def score(self) -> float | None:
        """The document's SafePassage score: the share of its extractions that were accepted."""
        return self.accepted / self.extractions if self.extractions else None


MAX_NAMED_RESULTS = 1_000
"""A letter names no more of a record's results, or it could be too large itself."""


class DeadLetter(Event):
    """Topic ``dead-letters``: a record nobody could process, with the bytes as they arrived.

    ``key`` and ``value`` are base64, so that any bytes survive the JSON; None is Kafka's null.
    ``document`` is where the document is that an extraction was made from. Where the broker
    refused some results of the record for good, ``refused`` names these by extraction, with the
    error's name: the first `MAX_NAMED_RESULTS`, ``detail`` counts all. With ``manifest_stands`` the
    document's manifest is out too, and its report comes. ``in_parts`` is the document's: see
    `DocumentRef`. ``redriven`` counts how often what the record goes back to was redriven before,
    ``redrive_of`` is the dead letter that was redriven last.
    """

    id: EventId
    stage: Stage
    source: Coordinates
    key: str | None = Field(default=None, repr=False)
    value: str | None = Field(default=None, repr=False)
    error: str
    detail: str
    attempts: int = Field(default=1, ge=1)
    doc_id: str | None = None
    extraction_id: str | None = None
    document: Coordinates | None = None
    in_parts: bool = Field(default=False, exclude_if=is_empty)
    refused: dict[EventId, str] = Field(
        default_factory=dict, max_length=MAX_NAMED_RESULTS, exclude_if=is_empty
    )
    stands: tuple[EventId, ...] = Field(
        default=(), max_length=MAX_NAMED_RESULTS, exclude_if=is_empty
    )
    """The record's extractions that are out all the same and will be judged."""
    manifest_stands: bool = Field(default=False, exclude_if=is_empty)
    redriven: int = Field(default=0, ge=0, exclude_if=is_empty)
    redrive_of: EventId | None = Field(default=None, exclude_if=is_none)


class DriftWarning(Event):
    """Topic ``warnings``: something measured over many events drifted, or ``observed`` calls to the
    LLM had to be made again (``measure`` "llm")."""

    id: EventId
    measure: str
    entity_type: str | None = None
    scorer_revision: str | None = None
    observed: float
    expected: float
    limit: float
    detail: str
    raised_at: datetime


class ScorerRelease(Event):
    """Topic ``scorers`` (compacted by ``slot``): which scorer decides and which one shadows."""

    slot: Literal["live", "shadow"]
    scorer: str | None
    revision: str | None
    previous: str | None = None
    previous_revision: str | None = None
    released_at: datetime
    released_by: str
    reason: str


class AuditEntry(Contract):
    """One verdict as the audit chain saw it; ``sha256`` is of the record's value."""

    source: Coordinates
    verdict_id: str | None
    sha256: str


class AuditBlock(Event):
    """Topic ``audit``: a run of one partition's verdicts, chained by hash.

    ``index`` is the number of its first entry in the chain ``chain``; ``previous`` and ``hash``
    are the chain's heads before the first and after the last entry (see
    `safepassage.streams.audit.chain`). Where a block begins and ends means nothing: the heads
    depend on the entries alone.
    """

    chain: str
    index: int = Field(ge=0)
    previous: str
    entries: tuple[AuditEntry, ...]
    hash: str
