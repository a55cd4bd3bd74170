"""A replay gives way to live traffic."""

from __future__ import annotations

import asyncio
import itertools

from aiokafka.errors import KafkaError
from hypothesis import given
from hypothesis import strategies as st

from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.replay import throttle
from safepassage.streams.replay.throttle import LIVE_SAMPLES, LatencyWindow, LiveGuard, Throttle
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS
from tests.streams.judged import aligned, publish, verdict


def test_without_live_traffic_there_is_no_rest():
    unhindered = Throttle()
    unhindered.adapt(None, None)
    assert unhindered.rest(1000, 0.1) == 0


def test_suffering_live_traffic_halves_the_rate_and_calm_lets_it_grow():
    adaptive = Throttle()
    adaptive.adapt(0.10, 0.10)
    calm = adaptive.rate
    adaptive.adapt(0.30, 0.10)
    assert adaptive.rate == calm / 2
    adaptive.adapt(0.11, 0.10)
    assert adaptive.rate > calm / 2


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.001, 5)), max_size=50))
def test_rate_stays_between_its_bounds(seen):
    bounded = Throttle(ceiling=100)
    for live, baseline in seen:
        bounded.adapt(live, baseline)
        assert Throttle.SLOWEST_RATE <= bounded.rate <= 100


def test_ceiling_holds_without_live_traffic():
    bounded = Throttle(ceiling=50)
    bounded.adapt(None, None)
    assert bounded.rest(100, 0.5) == 1.5


def test_latency_is_from_alignment_to_verdict():
    now = [100.0]
    window = LatencyWindow(clock=lambda: now[0])
    for n in range(LIVE_SAMPLES):
        window.aligned(str(n), 1000)
        window.judged(str(n), 1000 + 10 * n)
    window.judged("never aligned", 99_000)
    assert window.p99() == 0.19
    now[0] += throttle.WINDOW_SECONDS + 1
    assert window.p99() is None


async def test_guard_watches_the_live_topics(kafka: Settings, monkeypatch):
    monkeypatch.setattr(throttle, "STANDSTILL_SECONDS", 0.5)
    await create_topics(kafka)
    guard = LiveGuard(kafka, ceiling=None)
    await guard.start()
    ended = asyncio.Event()
    traffic = asyncio.create_task(live_traffic(kafka, ended))
    try:
        async with asyncio.timeout(120):
            while guard._throttle.rate is None:
                await guard.rest(0, 0)
                await asyncio.sleep(0.05)
        assert guard._baseline is not None
    finally:
        ended.set()  # a producer that is being stopped swallows a cancellation
        await traffic
        await guard.stop()


async def live_traffic(settings: Settings, ended: asyncio.Event) -> None:
    """Five extractions at a time, aligned and judged, until ``ended``."""
    for first in itertools.takewhile(lambda _: not ended.is_set(), itertools.count(step=5)):
        await publish(settings, ALIGNMENTS, [aligned(n) for n in range(first, first + 5)])
        await publish(settings, ACCEPTED, [verdict(n) for n in range(first, first + 5)])


async def test_a_watch_that_ended_is_begun_anew_and_the_replay_crawls_meanwhile(kafka: Settings):
    await create_topics(kafka)
    guard = LiveGuard(kafka, ceiling=None)

    async def broken() -> None:
        raise KafkaError("gone")

    guard._watching = asyncio.create_task(broken())
    await asyncio.sleep(0)
    try:
        await guard.rest(0, 0)
        assert guard._throttle.rate == Throttle.SLOWEST_RATE
        assert guard._watching is not None
        assert not guard._watching.done()
    finally:
        await guard.stop()


def test_crawling_keeps_below_a_lower_ceiling():
    throttled = Throttle(ceiling=2.0)
    throttled.crawl()
    assert throttled.rate == 2.0
