"""What the roles need from outside, and the seams at which they get it here."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import redis
import structlog

from safepassage import scoring_worker
from safepassage.agents.aligner import Aligner
from safepassage.agents.extraction.extractor import Extracted
from safepassage.llm_calls.errors import LLMUnavailable
from safepassage.schemas import Assessment, Document, DocumentRef, Extraction, ExtractorTrail
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.states import Trace
from safepassage.streams.delivery.faust_source import FaustSource
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, Topic
from tests.faults.scorer import CueScorer, ScorerPlan

from .broker import Broker
from .clients import Admin, Consumer, GroupConsumer, Producer
from .faust_app import App
from .loop import PROCESS, VirtualLoop

TRAIL = ExtractorTrail(model="simulated", prompt_digest="p", schema_digest="s")
WIDTH = 8


def settings_of_a_run() -> Settings:
    """Small limits, so that a short run meets them."""
    return Settings(
        partitions=3,
        scorer="cue-1",
        publish_patience_seconds=15,
        drain_seconds=4,
        console_grace_seconds=1,
        leakage_sample=0.2,
        score_batch_records=8,
        kafka_session_timeout_seconds=6,
        kafka_rebalance_timeout_seconds=10,
    )


class SimulatedScorer(CueScorer):
    """The scorer of the faults, with a memory that moves scores a little and no decision."""

    def __init__(self, revision: str) -> None:
        super().__init__(ScorerPlan(revision=revision))
        self._memory = NO_MEMORY

    def remember(self, memory: Memory) -> None:
        self._memory = memory

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        return [
            (Trace(0, pair.entity_type, "located", self.revision, _state(pair.value), 0.5),)
            for pair in pairs
        ]

    def _assess(self, pair: Pair) -> Assessment:
        plain = super()._assess(pair)
        memory = self._memory
        recall = memory.recall(self.revision, pair.entity_type, "located", _state(pair.value))
        if recall is None or plain.score is None:
            return plain
        score = round(plain.score + 0.05 * float(np.tanh(recall.shift)), 6)
        update = {"score": score, "memory": recall.trail(memory.name)}
        return plain.model_copy(update=update)


def _state(value: object) -> Any:
    draw = random.Random(zlib.crc32(str(value).encode()))
    return np.array([draw.randint(-127, 127) or 1 for _ in range(WIDTH)], dtype=np.int8)


def load_scorer(name: str, **_options: Any) -> SimulatedScorer:
    """``cue-1`` and ``cue-2`` differ in their revision alone."""
    if name not in ("cue-1", "cue-2"):
        raise ValueError(f"no scorer {name!r}")
    return SimulatedScorer(name.removeprefix("cue-"))


class SimulatedExtractor:
    """Gives the recorded extractions of a text, or no answer while the LLM is away."""

    away: ClassVar[bool] = False

    def __init__(self, recorded: Mapping[str, Sequence[Extraction]], draw: random.Random) -> None:
        self._recorded = recorded
        self._draw = draw

    async def examine(self, document: Document, ref: DocumentRef, *, anew: bool) -> Extracted:
        await asyncio.sleep(self._draw.uniform(0.01, 0.4))
        if SimulatedExtractor.away and self._draw.random() < 0.3:
            raise LLMUnavailable("simulated")
        known = self._recorded.get(document.text, ())
        changes = {"document": ref, "extractor": TRAIL}
        return Extracted(ref, [one.model_copy(update=changes) for one in known], TRAIL)


class SimulatedRedis:
    """A cache that may be away, be emptied, or hold other texts than it should."""

    def __init__(self, latency: Callable[[], float]) -> None:
        self.texts: dict[str, bytes] = {}
        self.away = False
        self._latency = latency

    async def get(self, key: str) -> bytes | None:
        await self._answer()
        return self.texts.get(key)

    async def set(self, key: str, value: bytes, ex: int) -> None:
        await self._answer()
        self.texts[key] = value

    async def delete(self, key: str) -> None:
        await self._answer()
        self.texts.pop(key, None)

    async def aclose(self) -> None:
        """Nothing is open."""

    def swap(self) -> None:
        """Every key holds the text of another."""
        values = list(self.texts.values())
        self.texts = dict(zip(self.texts, values[1:] + values[:1], strict=True))

    async def _answer(self) -> None:
        await asyncio.sleep(self._latency())
        if self.away:
            raise redis.ConnectionError


def _aligner(settings: Settings, loop: VirtualLoop) -> Aligner:
    aligner = Aligner(threshold=settings.alignment_threshold)
    executor = SimpleNamespace(submit=loop.in_thread, shutdown=lambda **_: None)
    aligner._executor = executor  # type: ignore[assignment]
    return aligner


async def _in_turn(call: Callable[[], Any], seconds: float | None = None) -> Any:
    async with asyncio.timeout(seconds):
        return await asyncio.get_running_loop().run_in_executor(None, call)


@contextmanager
def stand_ins(
    loop: VirtualLoop,
    broker: Broker,
    cache: SimulatedRedis,
    extractor: SimulatedExtractor,
) -> Iterator[None]:
    """The roles' clients, threads and models are simulated; nothing between them is."""

    async def create_topics(
        settings: Settings, topics: Sequence[Topic] = ALL_TOPICS, **_: Any
    ) -> list[str]:
        for topic in topics:
            broker.create(settings.topic(topic.name), 1 if topic.single else settings.partitions)
        return []

    async def nothing(*_arguments: Any, **_options: Any) -> None:
        pass

    async def for_ever(settings: Settings, topics: Sequence[Topic]) -> dict[str, int]:
        return {settings.topic(topic.name): -1 for topic in topics}

    def member(settings: Settings, role: str) -> GroupConsumer:
        process = PROCESS.get()
        name = f"{process.name}-{process.number}" if process else role
        return GroupConsumer(broker, settings.group(role), settings, name)

    streams = "safepassage.streams"
    seams: dict[str, Any] = {
        f"{streams}.kafka.clients.new_group_consumer": member,
        f"{streams}.kafka.reading.new_reader": lambda _: Consumer(broker),
        f"{streams}.kafka.clients.new_admin": lambda _: Admin(broker),
        f"{streams}.kafka.publisher.new_producer": lambda _: Producer(broker),
        f"{streams}.replay.engine.create_topics": create_topics,
        f"{streams}.worker.prepare_topics": nothing,
        f"{streams}.worker._check_rights": nothing,
        f"{streams}.audit.verification.topic_retention": for_ever,
        f"{streams}.agent_factory.redis_client": lambda _: cache,
        f"{streams}.wiring.new_extractor": lambda *_: extractor,
        f"{streams}.release.live_scorer.in_daemon_thread": _in_turn,
        f"{streams}.release.shadow.in_daemon_thread": _in_turn,
        "safepassage.pipeline.new_aligner": lambda settings: _aligner(settings, loop),
        f"{streams}.replay.engine.new_aligner": lambda settings: _aligner(settings, loop),
    }
    logs = structlog.get_config()
    with ExitStack() as patches:
        for seam, stand_in in seams.items():
            patches.enter_context(patch(seam, stand_in))
        # Its name is looked up late, since it brings torch.
        patches.enter_context(patch.dict(vars(scoring_worker), load_scorer=load_scorer))
        patches.enter_context(
            patch.object(FaustSource, "_new_app", lambda source: App(source, broker))
        )
        patches.callback(structlog.configure, **logs)
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
        asyncio_state = random.getstate()
        patches.callback(random.setstate, asyncio_state)
        yield
