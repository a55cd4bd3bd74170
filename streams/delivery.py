"""From a batch of records to the acknowledgement of everything it led to.

This is the guarantee in one place. A role's step turns events into events and knows nothing of
Kafka's failures; `Delivery.handle` returns only when every record of the batch ended: its
results, or its dead letter, are acknowledged by the broker. Whoever calls it may then commit.
It raises only what must stop the role without a commit.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from schemas import Event, Stage

from . import metrics
from .breaker import CircuitBreaker
from .publisher import Publisher, PublishFailed
from .records import Outgoing, Received, Record, UnreadableRecord, dead_letter, decode
from .topics import DEAD_LETTERS, Topic

log = structlog.get_logger(__name__)

UNKEYED = "-"


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
    doc_id: str | None = None
    extraction_id: str | None = None


Outcome = Sequence[Outgoing] | Failed
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

    async def handle(self, records: Sequence[Record]) -> None:
        """Process ``records``; on return everything they led to is acknowledged.

        Raises:
            PublishFailed: results or dead letters could not be written.
            CircuitOpen: too much failed; the batch's records were not all published.
        """
        started = time.perf_counter()
        outcomes = self._decode(records)
        readable = [entry for entry in outcomes if isinstance(entry, Received)]
        stepped = iter(await self._run_step(readable) if readable else ())
        ended = [next(stepped) if isinstance(o, Received) else o for o in outcomes]
        await self._publish(records, ended)
        metrics.BATCH_SECONDS.labels(self._role.name).observe(time.perf_counter() - started)

    def _decode(self, records: Sequence[Record]) -> list[Received[Event] | Failed]:
        decoded: list[Received[Event] | Failed] = []
        for record in records:
            try:
                decoded.append(decode(record, self._models[record.topic]))
            except UnreadableRecord as error:
                decoded.append(Failed("UnreadableRecord", str(error), fault=False))
        return decoded

    async def _run_step(self, events: Sequence[Received[Event]]) -> list[Outcome]:
        """One outcome per event. An error that escapes the step is pinned on its record by
        running the batch's records one by one."""
        try:
            outcomes = list(await self._role.step(events))
            if len(outcomes) != len(events):
                raise RuntimeError(f"{len(outcomes)} outcomes for {len(events)} events")  # noqa: TRY301
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not lose the batch
            if len(events) > 1:
                return [outcome for e in events for outcome in await self._run_step([e])]
            log.warning("step_failed", role=self._role.name, error=type(error).__name__)
            return [Failed(type(error).__name__, "unexpected error in the step", attempts=2)]
        return outcomes

    async def _publish(self, records: Sequence[Record], outcomes: Sequence[Outcome]) -> None:
        outgoing: list[Outgoing] = []
        owner: list[int] = []
        for index, (record, outcome) in enumerate(zip(records, outcomes, strict=True)):
            self._breaker.record(isinstance(outcome, Failed) and outcome.fault)
            made = [self._letter(record, outcome)] if isinstance(outcome, Failed) else list(outcome)
            outgoing += made
            owner += [index] * len(made)
            self._count(outcome)
        refused = await self._publisher.publish(outgoing)
        await self._set_aside(records, {owner[position]: e for position, e in refused.items()})

    async def _set_aside(self, records: Sequence[Record], refused: Mapping[int, str]) -> None:
        """Dead-letter the records whose results the broker refuses for ever."""
        if not refused:
            return
        letters = [
            self._letter(records[index], Failed(error, "the broker refused a result of it"))
            for index, error in refused.items()
        ]
        if await self._publisher.publish(letters):
            raise PublishFailed("the broker refused a dead letter")

    def _letter(self, record: Record, failed: Failed) -> Outgoing:
        letter = dead_letter(
            record,
            self._role.stage,
            failed.error,
            failed.detail,
            attempts=failed.attempts,
            doc_id=failed.doc_id,
            extraction_id=failed.extraction_id,
        )
        log.warning(
            "dead_letter",
            role=self._role.name,
            dead_letter_id=letter.id,
            doc_id=failed.doc_id,
            extraction_id=failed.extraction_id,
            error=failed.error,
            detail=failed.detail,
            **letter.source.model_dump(),
        )
        metrics.DEAD_LETTERS.labels(self._role.name, failed.error).inc()
        key = failed.doc_id or (record.key or UNKEYED.encode()).decode("utf-8", "replace")
        return Outgoing(DEAD_LETTERS, key, letter)

    def _count(self, outcome: Outcome) -> None:
        ended = "dead_lettered" if isinstance(outcome, Failed) else "published"
        metrics.RECORDS.labels(self._role.name, ended).inc()
