"""Real worker processes, forked from a process that has imported everything already.

A worker starts in hundredths of a second instead of seconds, so that hundreds of runs with
killed processes take minutes. What runs in it is `safepassage.streams.worker.run_worker`; only the
scorer is replaced, and, in negative controls, a safeguard.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from safepassage import scoring_worker
from safepassage.streams.delivery import record_outcomes as delivery_module
from safepassage.streams.delivery.record_outcomes import Delivery
from safepassage.streams.kafka import publisher as publisher_module
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.records import Outgoing
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.runtime.logs import configure_logging
from safepassage.streams.runtime.signals import die_with_parent
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DEAD_LETTERS
from safepassage.streams.worker import run_worker

from .scorer import CueScorer, ScorerPlan

Sabotage = Literal["ack_before_publish", "drop_dead_letters"]

ROLES = ("extract", "align", "score", "report")
RESTART_SECONDS = 0.2
STOP_SECONDS = 40.0

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        "tests.faults.workers",
        "tests.faults.languages",
        "faust.agents",
        "faust.app",
        "faust.tables",
        "faust.transport.drivers.aiokafka",
        "httpcore2",
        "truststore",
        "safepassage.streams.delivery.batch_source",
        "safepassage.streams.delivery.faust_source",
        "safepassage.streams.release.shadow",
        "safepassage.streams.report.report_source",
        "safepassage.streams.release.live_scorer",
        "safepassage.streams.topology",
        "safepassage.streams.audit.audit_source",
        "safepassage.streams.drift.role",
        "safepassage.pipeline",
        "safepassage.agents.aligner",
        "safepassage.agents.extraction.cache",
        "safepassage.llm_calls.client",
        "safepassage.agents.extraction.extractor",
        "safepassage.agents.extraction.schema_loading",
    ]
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker process runs and how it is impaired. Records for the topics ``unwritable``
    are refused as too large while the file ``while_there`` exists."""

    roles: tuple[str, ...]
    settings: Settings
    log: Path
    scorer: ScorerPlan = field(default_factory=ScorerPlan)
    sabotage: Sabotage | None = None
    unwritable: tuple[str, ...] = ()
    while_there: Path | None = None


@dataclass
class Worker:
    """One process, started again whenever it ends by itself, as an orchestrator would do."""

    plan: Plan
    restarts: int = 0
    grown_bytes: int = 0
    exit_codes: list[int] = field(default_factory=list)
    _process: Any = None
    _forked_bytes: int = 0
    _watch: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._process = _context.Process(target=_main, args=(self.plan,), daemon=True)
        self._process.start()
        self._watch = asyncio.create_task(self._keep_running())

    def send(self, number: signal.Signals) -> None:
        """Deliver a signal, if the process is there."""
        self.note_memory()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    async def stop(self) -> None:
        """SIGTERM, and wait; SIGKILL where that does not help. Stopping twice is stopping once."""
        if self._watch is None:
            return
        self._watch.cancel()
        self._watch = None
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        await asyncio.to_thread(self._process.join, STOP_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            await asyncio.to_thread(self._process.join)
        self.exit_codes.append(self._process.exitcode)

    def note_memory(self) -> None:
        """How much the process grew above what it was forked with, at the most."""
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{self._process.pid}/status").read_text("utf-8").splitlines()
            high = next(line for line in lines if line.startswith("VmHWM"))
            resident = int(high.split()[1]) * 1024
            self._forked_bytes = self._forked_bytes or resident
            self.grown_bytes = max(self.grown_bytes, resident - self._forked_bytes)

    async def _keep_running(self) -> None:
        while True:
            self.note_memory()
            if not self._process.is_alive():
                self.exit_codes.append(self._process.exitcode)
                self.restarts += 1
                await asyncio.sleep(RESTART_SECONDS)
                self._process = _context.Process(target=_main, args=(self.plan,), daemon=True)
                self._process.start()
            await asyncio.sleep(0.1)


def _main(plan: Plan) -> None:
    die_with_parent()
    output = os.open(plan.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    configure_logging(plan.settings, roles=",".join(plan.roles))
    logging.captureWarnings(True)
    scoring_worker.load_scorer = lambda _name, **_: CueScorer(plan.scorer)  # type: ignore[assignment]
    _impair(plan)
    try:
        run_worker(plan.roles, plan.settings)
    except OperatorError:
        sys.exit(1)


def _impair(plan: Plan) -> None:
    if plan.unwritable:
        _refuse(plan, plan.unwritable)
    if plan.sabotage == "ack_before_publish":
        _acknowledge_early()
    elif plan.sabotage == "drop_dead_letters":
        _filter_published(lambda out: out.topic is not DEAD_LETTERS)


def _refuse(plan: Plan, topics: Sequence[str]) -> None:
    from aiokafka.errors import MessageSizeTooLargeError

    hand_over = publisher_module.hand_over

    async def refusing(producer: Any, outgoing: Outgoing, settings: Settings) -> Any:
        if outgoing.topic.name in topics and plan.while_there and plan.while_there.exists():
            raise MessageSizeTooLargeError
        return await hand_over(producer, outgoing, settings)

    publisher_module.hand_over = refusing


def _acknowledge_early() -> None:
    publish = Delivery._publish

    async def later(self: Delivery, ended: Any) -> None:
        async def after_the_commit() -> None:
            await asyncio.sleep(
                4
            )  # the rest of the load is committed by then, and in nobody's hand
            await publish(self, ended)

        delivery_module.pending = [  # type: ignore[attr-defined]
            *getattr(delivery_module, "pending", []),
            asyncio.create_task(after_the_commit()),
        ]

    Delivery._publish = later  # type: ignore[method-assign]


def _filter_published(keep: Callable[[Outgoing], bool]) -> None:
    publish = KafkaPublisher.publish

    async def filtered(self: KafkaPublisher, outgoing: Sequence[Outgoing]) -> dict[int, str]:
        return await publish(self, [out for out in outgoing if keep(out)])

    KafkaPublisher.publish = filtered  # type: ignore[method-assign]
