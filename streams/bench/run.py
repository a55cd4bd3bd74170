"""One rate after the other, through a deployment or through the embedded stack."""

import asyncio
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aiokafka import AIOKafkaProducer

from safepassage.schemas import Document

from ..demo.embedded import LOOPBACK, free_port
from ..demo.run import DEMO_ROLES, corpus_schema
from ..demo.stack import running_stack, sigterm_unwinds
from ..kafka.admin import create_topics
from ..kafka.publisher import open_publisher
from ..runtime.errors import OperatorError
from ..settings import Settings
from .figures import BenchFigures, bottleneck, figures, lags, loads, scrape
from .load import Completions, Workload, arrive, schedule

WARM_UP_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """``rates`` in documents a second, each held for ``seconds``; ``drain`` is how long, in
    seconds, the documents that are left are waited for. ``metrics`` are the workers' addresses."""

    rates: Sequence[float]
    seconds: float
    drain: float = 60.0
    warm_up: int = 8
    seed: int = 1
    metrics: Sequence[str] = ()

    def documents(self) -> int:
        return self.warm_up + sum(len(self.times(rate)) for rate in self.rates)

    def times(self, rate: float) -> list[float]:
        return list(schedule(rate, self.seconds, self.seed))


Check = Callable[[], None]
Tell = Callable[[BenchFigures], None]


def bench_embedded(request: BenchRequest, workload: Workload, tell: Tell) -> list[BenchFigures]:
    """The rates through a stack of its own: every role in a process, a recorded LLM."""
    documents = workload.take(new_run(), request.documents())
    with tempfile.TemporaryDirectory(prefix="safepassage-bench-") as folder, sigterm_unwinds():
        recording = workload.record(documents, Path(folder))
        with running_stack((), corpus_schema(), recording) as stack:
            ports = {role: str(free_port()) for role in DEMO_ROLES}
            for role, port in ports.items():
                stack.processes.start(role, "worker", role, SAFEPASSAGE_HEALTH_PORT=port)
            urls = [f"http://{LOOPBACK}:{port}/metrics" for port in ports.values()]
            request = replace(request, metrics=urls)
            found = Bench(stack.settings, request, documents, stack.processes.check)
            return asyncio.run(found.measure(tell))


def bench_deployment(
    request: BenchRequest, workload: Workload, settings: Settings, tell: Tell
) -> list[BenchFigures]:
    """The rates through the deployment that ``settings`` reach."""
    documents = workload.take(new_run(), request.documents())
    return asyncio.run(Bench(settings, request, documents).measure(tell))


def new_run() -> str:
    """What the ids of a run's documents begin with."""
    return f"bench-{uuid.uuid4().hex[:12]}"


class Bench:
    """One run's rates, on its documents. ``check`` raises where it has become impossible."""

    def __init__(
        self,
        settings: Settings,
        request: BenchRequest,
        documents: Sequence[Document],
        check: Check = lambda: None,
    ) -> None:
        self._settings = settings
        self._request = request
        self._left = list(documents)
        self._completions = Completions(settings, documents[0].id.rpartition("-")[0])
        self._check = check

    async def measure(self, tell: Tell) -> list[BenchFigures]:
        """Every rate, in order; ``tell`` gets each as it is known."""
        await create_topics(self._settings)
        async with open_publisher(self._settings) as publisher:
            start = await self._completions.start()
            following = asyncio.create_task(self._completions.follow(start))
            try:
                await self._warm_up(publisher.producer)
                found = []
                for rate in self._request.rates:
                    found.append(await self._rate(publisher.producer, rate))
                    tell(found[-1])
                return found
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)

    async def _warm_up(self, producer: AIOKafkaProducer) -> None:
        """Models are loaded and groups are joined before anything counts."""
        count = self._request.warm_up
        warm, self._left = self._left[:count], self._left[count:]
        await arrive(producer, self._settings, warm, [0.0] * count)
        deadline = time.monotonic() + WARM_UP_SECONDS
        while not await self._completions.until(count, 1.0):
            self._check()
            if time.monotonic() > deadline:
                raise OperatorError(
                    f"{len(self._completions.ended)} of {count} documents had their verdicts "
                    f"within {WARM_UP_SECONDS:.0f} s: are all roles running? `safepassage doctor` "
                    "says more"
                )

    async def _rate(self, producer: AIOKafkaProducer, rate: float) -> BenchFigures:
        times = self._request.times(rate)
        documents, self._left = self._left[: len(times)], self._left[len(times) :]
        first = await lags(self._settings)
        known = len(self._completions.ended)
        before = await scrape(self._request.metrics)
        start = time.monotonic()
        arrivals = await arrive(producer, self._settings, documents, times)
        await asyncio.sleep(max(0.0, start + self._request.seconds - time.monotonic()))
        after = await scrape(self._request.metrics)
        last = await lags(self._settings)
        await self._completions.until(known + len(documents), self._request.drain)
        self._check()
        role_loads = loads(before, after, await scrape(self._request.metrics))
        return figures(
            rate=rate,
            seconds=self._request.seconds,
            characters=sum(len(d.text) for d in documents) / max(1, len(documents)),
            arrivals=arrivals,
            endings=self._completions.ended,
            until=start + self._request.seconds,
            loads=role_loads,
            lags=last,
            bottleneck=bottleneck(role_loads, first, last, len(documents)),
        )
