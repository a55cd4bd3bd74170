"""What is known of a document, moved on by one record at a time. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import structlog

from safepassage.schemas import Coordinates, DocumentRef, DocumentValues, Extraction, Verdict
from safepassage.schemas.realignment import KnownValue, taken_over

log = structlog.get_logger(__name__)

DIGEST_DIGITS = 16
MAX_BYTES = 2**20  # Of one document's record: some 5,000 values
MAX_WITHDRAWN = 500  # What was withdrawn and may come back with its text; the last so many


@dataclass(frozen=True, slots=True)
class Told:
    """A verdict with what its record says: where it is, when it was published, in milliseconds
    since the epoch, and what ``accepted`` is called on the broker."""

    verdict: Verdict
    record: Coordinates
    at: int
    accepted: str

    @property
    def source(self) -> int:
        """Which of the topics in `DocumentValues.reach` it is on."""
        return 0 if self.record.topic == self.accepted else 1


def version_of(document: DocumentRef | None) -> int | None:
    """Versions are in the order of their records: all of a document are in one partition."""
    return document.coordinates.offset if document and document.coordinates else None


def noted(state: DocumentValues, told: Told) -> tuple[DocumentValues, Extraction | None]:
    """``state`` with a verdict in it; and its value as an extraction of the newest version, where
    that was to be aligned again and the verdict comes later than that was said."""
    verdict, version = told.verdict, version_of(told.verdict.document)
    if version is None or told.record.offset < state.reach[told.source]:
        return state, None
    state = _reached(state, told.source, told.record.offset)
    if verdict.former is None:
        state = _read_by_an_llm(state, version)
    values = {known.extraction_id: known for known in state.values}
    before = values.get(verdict.extraction_id)
    if before and before.at > told.at:
        return state, None
    value = _value(told, version, before)
    if value is None:
        return state, None
    values[value.extraction_id] = value
    state = state.model_copy(update={"values": _kept(values.values(), version_of(state.latest))})
    return state, _later(state, told, version, value)


def requested(
    state: DocumentValues, document: DocumentRef, offset: int
) -> tuple[DocumentValues, Sequence[KnownValue] | None]:
    """``state`` with a new version in it, which is at ``offset`` of its topic, and whose
    values are to be aligned again in it; None where that was done before.

    Those are the values that are in the version before, and those that were withdrawn since a
    version with the very same text.
    """
    version, latest = version_of(document), version_of(state.latest)
    if version is None or offset < state.reach[2]:
        return state, None
    state = _reached(state, 2, offset)
    if latest is not None and version <= latest:
        return state, None
    earlier = {known.version for known in state.values} | (
        {latest} if latest is not None else set()
    )
    base = max((one for one in earlier if one < version), default=-1)
    digest = document.digest[:DIGEST_DIGITS]
    standing = [known for known in state.values if known.stands and known.version == base]
    back = [
        known
        for known in state.values
        if not known.stands and known.digest == digest and known.version < version
    ]
    since = state.since if base == latest else base
    if 0 <= state.read < version:
        since = state.read
    return state.model_copy(update={"latest": document, "since": since}), [*standing, *back]


def within(state: DocumentValues, max_bytes: int) -> DocumentValues:
    """``state`` without the values that were judged first, as far as its record would be larger."""
    excess = len(state.to_json()) - max_bytes
    if excess <= 0 or not state.values:
        return state
    each = len(state.values[0].model_dump_json()) + 1
    left_out = min(len(state.values), excess // each + 1)
    log.warning("values_not_kept", doc_id=state.doc_id, left_out=left_out)
    fewer = state.model_copy(update={"values": state.values[left_out:]})
    return within(fewer, max_bytes)


def _reached(state: DocumentValues, source: int, offset: int) -> DocumentValues:
    reach = list(state.reach)
    reach[source] = offset + 1
    return state.model_copy(update={"reach": tuple(reach)})


def _read_by_an_llm(state: DocumentValues, version: int) -> DocumentValues:
    latest = version_of(state.latest)
    between = latest is not None and state.since < version < latest
    since = version if between else state.since
    return state.model_copy(update={"read": max(state.read, version), "since": since})


def _value(told: Told, version: int, before: KnownValue | None) -> KnownValue | None:
    """What the verdict makes of the extraction; None where it never was accepted."""
    verdict = told.verdict
    known: dict[str, object] = {"extraction_id": verdict.extraction_id, "at": told.at}
    if verdict.decision == "accepted":
        digest = verdict.document.digest if verdict.document else ""
        known |= {"version": version, "accepted": told.record.offset, "stands": True}
        return KnownValue(digest=digest[:DIGEST_DIGITS], **known)
    if before:
        known |= {"version": max(before.version, version), "stands": False}
        return before.model_copy(update=known)
    former = verdict.former
    if former is None or former.record is None or former.document is None:
        return None
    known |= {"version": version, "accepted": former.record.offset, "stands": False}
    return KnownValue(digest=former.document.digest[:DIGEST_DIGITS], **known)


def _later(state: DocumentValues, told: Told, version: int, value: KnownValue) -> Extraction | None:
    """The value of a verdict that came after its document's newest version, late or decided."""
    latest = version_of(state.latest)
    if state.latest is None or latest is None or not state.since <= version < latest:
        return None
    if told.verdict.decision != "accepted" and told.verdict.review is None:
        return None
    accepted = {"topic": told.accepted, "offset": value.accepted}
    return taken_over(told.verdict, state.latest, told.record.model_copy(update=accepted))


def _kept(values: Iterable[KnownValue], latest: int | None) -> tuple[KnownValue, ...]:
    """The values of the two newest versions, and what was withdrawn last."""
    every = sorted(values, key=lambda known: (known.version, known.at))
    versions = sorted(
        {known.version for known in every} | ({latest} if latest is not None else set())
    )
    standing = [known for known in every if known.stands and known.version in versions[-2:]]
    withdrawn = [known for known in every if not known.stands][-MAX_WITHDRAWN:]
    return (*withdrawn, *standing)
