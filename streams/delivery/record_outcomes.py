"""From a batch of records to the acknowledgement of everything it led to.

This is the guarantee in one place. A role's step turns events into events and knows nothing of
Kafka's failures; `Delivery.handle` returns only when every record of the batch ended: its
results, or its dead letter, are acknowledged by the broker. Anyone who calls it may then commit.
It raises only what must stop the role without a commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from aiokafka.errors import KafkaError

from safepassage.schemas import (
    DocumentValues,
    Event,
    ExtractionManifest,
    Reason,
    Stage,
    Verdict,
)

from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.records import ErasedRecord, Outgoing, Received, Record, UnreadableRecord, decode
from ..runtime import metrics
from ..runtime.errors import OperatorError, frames
from ..runtime.tracing import BatchTrace, tracing
from ..topics import Topic
from .circuit_breaker import CircuitBreaker, CircuitOpen
from .dead_letter_event import (
    Refused,
    dead_letter,
    extractions_among,
    naming_refused,
    outgoing_letter,
    subject_of,
)

log = structlog.get_logger(__name__)

# Reasons of undetermined verdicts that speak of a broken deployment, not of one document.
FAULT_REASONS: frozenset[Reason] = frozenset(
    ("alignment_failed", "scorer_failed", "scorer_timeout", "score_not_finite")
)


@dataclass(frozen=True, slots=True)
class Failed:
    """A step's answer for a record it cannot process: it becomes a dead letter.

    ``error`` is a small countable name, ``detail`` a line for a person, without document text.
    ``fault`` is False where the record itself is to blame, not the deployment: such failures
    do not open the circuit breaker.
    """

    error: str
    detail: str = ""
    attempts: int = 1
    fault: bool = True


Outcome = Sequence[Outgoing] | Failed
Decoded = Received[Event] | Failed | None
"""None where the record's document was erased: nothing comes of it."""
Step = Callable[[Sequence[Received[Any]]], Awaitable[Sequence[Outcome]]]


@dataclass(frozen=True, slots=True)
class Role:
    """A consumer group: the topics it reads and what it does with their events.

    ``step`` gets a batch in order and returns one outcome per event, in the same order.
    ``lanes`` batches run at once, each of up to ``batch`` records; the records of one key stay
    in one lane, so their order is kept (promise P4) and no more than
    ``lanes * 2 * batch`` records are held (promise P5).
    """

    name: str
    stage: Stage
    topics: tuple[Topic, ...]
    step: Step
    lanes: int = 1
    batch: int = 1


class Delivery:
    """Runs one role's step over batches of records, as the module's text promises."""

    def __init__(
        self,
        role: Role,
        publisher: Publisher,
        breaker: CircuitBreaker,
        models: Mapping[str, type[Event]],
    ) -> None:
        """``models`` maps the topics' names on the broker to their events."""
        self._role = role
        self._publisher = publisher
        self._breaker = breaker
        self._models = models
        metrics.LANES.labels(role.name).set(role.lanes)

    async def handle(self, records: Sequence[Record]) -> None:
        """Process ``records``; on return everything they led to is acknowledged. Raises
        `PublishFailed` where results or dead letters could not be written; `KafkaError` where the
        step needed the broker, which did not answer; `OperatorError` where an operator has to mend
        something; `CircuitOpen` where too much failed, and nothing of this batch was published."""
        name = self._role.name
        with tracing().batch(name, records) as trace, metrics.timed_batch(name):
            await self._handle(records, trace)

    async def _handle(self, records: Sequence[Record], trace: BatchTrace) -> None:
        decoded = self._decode(records)
        readable = [entry for entry in decoded if isinstance(entry, Received)]
        stepped = iter(await self._run_step(readable) if readable else ())
        outcomes = [_outcome(read, stepped) for read in decoded]
        for read, outcome in zip(decoded, outcomes, strict=True):
            if read is not None and (fault := _fault(outcome)) is not None:
                try:
                    self._breaker.record(fault)
                except CircuitOpen as error:
                    raise CircuitOpen(f"{error}, the last one by {_why(outcome)}") from None
        await self._publish(
            [
                _Ended(record, read, outcome, trace)
                for record, read, outcome in zip(records, decoded, outcomes, strict=True)
            ]
        )

    def _decode(self, records: Sequence[Record]) -> list[Decoded]:
        decoded: list[Decoded] = []
        for record in records:
            try:
                decoded.append(decode(record, self._models[record.topic]))
            except ErasedRecord:
                decoded.append(None)
            except UnreadableRecord as error:
                decoded.append(Failed("UnreadableRecord", str(error), fault=False))
        return decoded

    async def _run_step(self, events: Sequence[Received[Event]]) -> list[Outcome]:
        """One outcome per event. An error that escapes the step is pinned on its record by
        running the batch's records one by one."""
        try:
            outcomes = list(await self._role.step(events))
        except (KafkaError, OperatorError):
            raise  # the broker is gone, or the scorer: no fault of the record's
        except Exception as error:  # noqa: BLE001 - no error may lose the batch
            if len(events) > 1:
                return [outcome for e in events for outcome in await self._run_step([e])]
            name = type(error).__name__
            log.warning("step_failed", role=self._role.name, error=name, frames=frames(error))
            return [Failed(type(error).__name__, "unexpected error in the step", attempts=2)]
        if len(outcomes) != len(events):
            return [Failed("WrongOutcomeCount", f"{len(outcomes)} for {len(events)}")] * len(events)
        return outcomes

    async def _publish(self, ended: Sequence[_Ended]) -> None:
        """Results first, then the manifests, which say what became of them, then the letters, then
        what the role notes of what it has done."""
        results: list[tuple[_Ended, Outgoing]] = []
        manifests: list[tuple[_Ended, Outgoing]] = []
        notes: list[Outgoing] = []
        for end in ended:
            for out in self._results(end):
                match out.event:
                    case DocumentValues():
                        notes.append(out)
                    case ExtractionManifest():
                        manifests.append((end, out))
                    case _:
                        results.append((end, out))
        await self._publish_of(results)
        await self._publish_of([(end, _amended(out, end.refused)) for end, out in manifests])
        # Dead-letter, once each, the records of which the broker refuses a result for ever.
        letters = [self._letter(end, Failed(end.refused[0][1])) for end in ended if end.refused]
        if letters and await self._publisher.publish(letters):
            raise PublishFailed("the broker refuses a dead letter")
        if notes and await self._publisher.publish(notes):
            raise PublishFailed("the broker refuses what a role notes")

    async def _publish_of(self, owned: Sequence[tuple[_Ended, Outgoing]]) -> None:
        refused = await self._publisher.publish([out for _, out in owned]) if owned else {}
        for position, error in sorted(refused.items()):
            end, out = owned[position]
            end.refused.append((out, error))

    def _results(self, end: _Ended) -> list[Outgoing]:
        failed = isinstance(end.outcome, Failed)
        ended = "dead_lettered" if failed else "published" if end.decoded else "erased"
        metrics.RECORDS.labels(self._role.name, ended).inc()
        if isinstance(end.outcome, Failed):
            return [self._letter(end, end.outcome)]
        born, redriven = end.record.born, end.record.redriven
        traceparent = end.trace.traceparent(end.record)
        for out in end.outcome:
            if isinstance(out.event, Verdict):
                end.trace.judged(end.record, out.event)
        return [
            replace(out, born=born, redriven=redriven, traceparent=traceparent)
            for out in end.outcome
        ]

    def _letter(self, end: _Ended, failed: Failed) -> Outgoing:
        letter = dead_letter(
            end.record,
            self._role.stage,
            failed.error,
            failed.detail,
            attempts=failed.attempts,
            about=subject_of(end.decoded.event if isinstance(end.decoded, Received) else None),
        )
        if end.refused:
            made = () if isinstance(end.outcome, Failed) else end.outcome
            letter = naming_refused(letter, made, end.refused)
        log.warning(
            "dead_letter",
            role=self._role.name,
            dead_letter_id=letter.id,
            doc_id=letter.doc_id,
            extraction_id=letter.extraction_id,
            error=failed.error,
            detail=letter.detail,
            **letter.source.model_dump(),
        )
        metrics.DEAD_LETTERS.labels(self._role.name, failed.error).inc()
        end.trace.failed(end.record, failed.error)
        traceparent = end.trace.traceparent(end.record)
        return replace(outgoing_letter(letter, end.record), traceparent=traceparent)


@dataclass(frozen=True, slots=True)
class _Ended:
    record: Record
    decoded: Decoded
    outcome: Outcome
    trace: BatchTrace
    refused: list[tuple[Outgoing, str]] = field(default_factory=list)


def _outcome(read: Decoded, stepped: Iterator[Outcome]) -> Outcome:
    if isinstance(read, Received):
        return next(stepped)
    return () if read is None else read


def _amended(manifest: Outgoing, refused: Refused) -> Outgoing:
    """The manifest, saying what of its extractions will never be there."""
    if not (gone := extractions_among(refused)):
        return manifest
    return replace(manifest, event=manifest.event.model_copy(update={"refused": gone}))


def _why(outcome: Outcome) -> str:
    """What failed, without a text: the detail of a failed alignment names an error."""
    if isinstance(outcome, Failed):
        return outcome.error
    verdicts = [out.event for out in outcome if isinstance(out.event, Verdict)]
    reasons = {reason for v in verdicts for reason in v.reasons if reason in FAULT_REASONS}
    details = {f.detail for v in verdicts for f in v.findings if f.code == "alignment_failed"}
    return ", ".join(sorted(reasons)) + "".join(f" ({one})" for one in sorted(details))


def _fault(outcome: Outcome) -> bool | None:
    """Whether the deployment failed at a record. None where its sender spoiled it: who may write to
    a topic could otherwise hide that all other records fail."""
    if isinstance(outcome, Failed):
        return True if outcome.fault else None
    verdicts = [out.event for out in outcome if isinstance(out.event, Verdict)]
    if any(not FAULT_REASONS.isdisjoint(verdict.reasons) for verdict in verdicts):
        return True
    spoiled = bool(verdicts) and all(v.decision == "undetermined" for v in verdicts)
    return None if spoiled else False
