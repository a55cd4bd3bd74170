"""A document that changes: what becomes of its accepted values in the new version, without an LLM.

Pure, and a function of the verdict of the earlier version and the new version's text alone.
"""

from typing import Literal

from pydantic import Field, JsonValue

from .alignment import Span
from .base import Contract, EntityType, Event, EventId, Json, Text, is_empty, is_none
from .document import Coordinates, DocumentRef
from .evidence import Stretch
from .extraction import Extraction, extraction_id
from .former import FormerDecision, FormerVerdict
from .ids import stable_id
from .reason import Reason
from .review import JudgedValue
from .verdict import Decision, Verdict

Outcome = Literal["upheld", "moved", "reworded", "withdrawn", "undetermined"]
"""What became of an accepted value. It is supported by the same passage at the same place; by the
same passage at another place; by a passage that changed; it is not accepted any more; or nobody
could judge."""


class DocumentVersion(Event):
    """Topic ``versions``: a new version of a document, for which its accepted values are to be
    aligned again."""

    document: DocumentRef


class Realignment(Event):
    """Topic ``realignments``: what became of an accepted value in a new version of its document.

    ``former`` names the earlier verdict and where its passage was; it is None, and the outcome
    undetermined, where that verdict could not be read any more. ``verdict_id`` is the verdict in
    the new version, ``places`` where its passage is there. Of several on one extraction the
    one of the latest version counts (``document.coordinates.offset``), of one version the last.
    """

    id: EventId
    doc_id: EventId
    document: DocumentRef
    outcome: Outcome
    former_extraction_id: EventId
    former: FormerVerdict | None = None
    extraction_id: EventId | None = None
    verdict_id: EventId | None = None
    entity_type: EntityType | None = None
    value: Json = None
    decision: Decision
    reasons: tuple[Reason, ...] = ()
    places: tuple[Stretch, ...] = ()
    reviewer: Text | None = Field(default=None, exclude_if=is_none)
    """Whose decision on the earlier version holds here too, or decided on this one."""


class KnownValue(Contract):
    """What is known of one extraction in one version of a document: see `DocumentValues`."""

    extraction_id: EventId
    version: int
    """The offset of the version on ``documents``."""
    at: int
    """When its last verdict was published, in milliseconds since the epoch."""
    accepted: int
    """The offset on ``accepted`` of the verdict that accepted it last, in this version or in the
    one that it was taken over from."""
    digest: str
    """Of the text in which that was, its first 16 hex digits."""
    stands: bool
    """Whether it is accepted now."""


class DocumentValues(Event):
    """Topic ``document-values``: what is accepted of a document, in its newest versions.

    ``reach`` counts the records of ``accepted``, ``quarantine`` and ``versions`` up to which it is
    known. ``latest`` is the newest version that was to be aligned again, ``since`` the offset of
    the newest version before it that an LLM read, ``read`` of the newest one of all.
    """

    doc_id: EventId
    reach: tuple[int, int, int] = (0, 0, 0)
    latest: DocumentRef | None = None
    since: int = -1
    read: int = -1
    values: tuple[KnownValue, ...] = Field(default=(), exclude_if=is_empty)


def taken_over(verdict: Verdict, document: DocumentRef, record: Coordinates | None) -> Extraction:
    """The value of ``verdict``, with its quote, as an extraction of another version of its text.

    It is the value as extracted, also where a person corrected it: his decision goes with it. It
    has the id that an LLM's extraction of the same finding would have. ``record`` is where the
    verdict is that was accepted last.
    """
    value = _as_extracted(verdict)
    return Extraction(
        id=_identity(verdict, value, document),
        doc_id=document.id,
        entity_type=verdict.entity_type,
        value=value,
        context=verdict.context,
        document=document,
        extractor=verdict.extractor and verdict.extractor.model_copy(update={"usage": None}),
        field=verdict.field,
        attempt=verdict.attempt,
        former=FormerVerdict(
            verdict_id=verdict.id,
            extraction_id=verdict.extraction_id,
            document=verdict.document,
            record=record,
            places=_places(verdict),
            passage=_passage(verdict),
            asked=asked_digest(verdict),
            decision=_decision(verdict),
        ),
    )


def asked_digest(verdict: Verdict) -> str | None:
    """A digest of what ``verdict`` was judged by; None where its quote was not found."""
    asked = JudgedValue.of(verdict)
    if asked is None:
        return None
    as_extracted = asked.model_copy(update={"value": _as_extracted(verdict)})
    return stable_id("asked", as_extracted.model_dump_json())


def outcome_of(verdict: Verdict) -> Outcome | None:
    """What ``verdict`` says of a value that was taken over; None where none was."""
    former = verdict.former
    if former is None:
        return None
    if verdict.decision == "undetermined":
        return "undetermined"
    if verdict.decision == "quarantined":
        return "withdrawn"
    passage = _passage(verdict)
    if passage is None or passage != former.passage:
        return "reworded"
    return "upheld" if _places(verdict) == former.places else "moved"


def realignment(verdict: Verdict) -> Realignment | None:
    """The event that ``verdict`` leads to, where its value was taken over."""
    outcome, former = outcome_of(verdict), verdict.former
    if outcome is None or former is None or verdict.document is None:
        return None
    return Realignment(
        id=stable_id("realignment", former.verdict_id, verdict.id),
        doc_id=verdict.doc_id,
        document=verdict.document,
        outcome=outcome,
        former_extraction_id=former.extraction_id,
        former=former,
        extraction_id=verdict.extraction_id,
        verdict_id=verdict.id,
        entity_type=verdict.entity_type,
        value=verdict.value,
        decision=verdict.decision,
        reasons=verdict.reasons,
        places=_places(verdict),
        reviewer=verdict.review.reviewer if verdict.review else None,
    )


def unreadable_former(known: KnownValue, document: DocumentRef) -> Realignment:
    """The event where the verdict of the earlier version cannot be read: fail closed."""
    return Realignment(
        id=stable_id(
            "realignment", known.extraction_id, document.digest, str(document.coordinates)
        ),
        doc_id=document.id,
        document=document,
        outcome="undetermined",
        former_extraction_id=known.extraction_id,
        decision="undetermined",
        reasons=("invalid_extraction",),
    )


def _as_extracted(verdict: Verdict) -> JsonValue:
    review = verdict.review
    return verdict.value if review is None or review.corrects is None else review.corrects


def _identity(verdict: Verdict, value: JsonValue, document: DocumentRef) -> str:
    """The id in the new text. The field is part of it where it was before."""
    said = (verdict.entity_type, value, verdict.context)
    for place in ("", verdict.field.name if verdict.field and verdict.field.name else ""):
        if verdict.document and verdict.extraction_id == extraction_id(
            verdict.document, *said, place
        ):
            return extraction_id(document, *said, place)
    return stable_id("extraction", document.id, document.digest, "of", verdict.extraction_id)


def _places(verdict: Verdict) -> tuple[Stretch, ...]:
    return tuple([Stretch(start=span.start, end=span.end) for span in _quoted(verdict)])


def _passage(verdict: Verdict) -> str | None:
    quoted = _quoted(verdict)
    return stable_id("passage", *(span.text for span in quoted)) if quoted else None


def _quoted(verdict: Verdict) -> tuple[Span, ...]:
    """The passages; none where the quote is only nearest to something."""
    alignment = verdict.alignment
    return alignment.quoted if alignment and alignment.found else ()


def _decision(verdict: Verdict) -> FormerDecision | None:
    """What the person decided that the verdict follows. A later scorer's verdict that agreed with
    a person's names nobody: it was measured, and is measured again."""
    review = verdict.review
    if review is None:
        return None
    said: dict[str, object] = {"reviewer": review.reviewer, "review_id": review.review_id}
    if not review.stands:
        return FormerDecision(decision=None, **said)
    if review.corrects is not None:
        return FormerDecision(decision="corrected", value=verdict.value, **said)
    decision = "supports" if verdict.decision == "accepted" else "insufficient"
    return FormerDecision(decision=decision, **said)
