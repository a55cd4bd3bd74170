"""Drift is told once, by a margin that matters and that chance does not explain."""

from __future__ import annotations

import asyncio
import random

import pytest

from safepassage.schemas import DriftWarning, ReviewTrail, Verdict
from safepassage.streams.delivery.batch_source import BatchSource
from safepassage.streams.drift.role import DriftDetector, DriftLimits, Shift, drift_role
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import follow_topics
from safepassage.streams.kafka.records import Received
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, WARNINGS
from safepassage.streams.wiring import delivery
from tests.streams.judged import FakeScorer, publish, received, verdict

LIMITS = DriftLimits(reference=200, window=100, span=0)
BASE = verdict(1)


def judged(score: float, *, entity_type: str = "T", revision: str = "r", exact: bool = True):
    """A verdict with this score, unvalidated: thousands of them are made."""
    alignment = BASE.alignment.model_copy(update={} if exact else {"score": 0.9})
    return BASE.model_copy(
        update={
            "score": score,
            "entity_type": entity_type,
            "scorer_revision": revision,
            "alignment": alignment,
            "decision": "accepted" if score >= 0.5 else "quarantined",
        }
    )


def feed(detector: DriftDetector, verdicts: list[Verdict]) -> list[Shift]:
    return [shift for v in verdicts for shift in detector.see(v, 0.0)]


def sample(count: int, low: float, seed: int = 1) -> list[Verdict]:
    source = random.Random(seed)
    return [judged(source.uniform(low, 1.0)) for _ in range(count)]


def test_steady_stream_raises_nothing():
    assert not feed(DriftDetector(LIMITS), sample(5_000, 0.3))


def test_shifted_scores_are_told_once_overall_and_for_the_type():
    detector = DriftDetector(LIMITS)
    feed(detector, sample(300, 0.6))
    shifts = feed(detector, [judged(0.55)] * 500)
    scores = [s for s in shifts if s.measure == "score_distribution"]
    assert [s.entity_type for s in scores] == [None, "T"]
    assert scores[0].observed > scores[0].limit


def test_more_quarantine_is_told_with_both_rates():
    detector = DriftDetector(LIMITS)
    feed(detector, sample(300, 0.5))
    shifts = [s for s in feed(detector, sample(400, 0.0)) if s.measure == "quarantine_rate"]
    assert [s.entity_type for s in shifts] == [None, "T"]
    assert shifts[0].expected == 0
    assert shifts[0].observed == pytest.approx(0.5, abs=0.15)
    assert "of the first 200" in shifts[0].detail


def test_more_mistranscription_is_told_whoever_scores():
    detector = DriftDetector(LIMITS)
    feed(detector, [judged(0.9, revision="a") for _ in range(200)])
    shifts = feed(detector, [judged(0.9, revision="b", exact=n % 2 == 0) for n in range(300)])
    assert {s.measure for s in shifts} == {"mistranscription_rate"}


def test_new_revision_is_a_new_reference():
    detector = DriftDetector(LIMITS)
    feed(detector, [judged(0.9, revision="a")] * 300)
    assert not feed(detector, [judged(0.2, revision="b")] * 150)


def test_drift_that_ended_is_told_again_when_it_returns():
    detector = DriftDetector(LIMITS)
    calm, drifted = [judged(0.9)] * 100, [judged(0.2)] * 100
    feed(detector, calm * 2)
    told = [bool(feed(detector, part)) for part in (drifted, drifted, calm, drifted)]
    assert told == [True, False, False, True]


def test_persons_decisions_are_not_counted():
    detector = DriftDetector(LIMITS)
    person = judged(0.2).model_copy(update={"review": ReviewTrail(review_id="r", reviewer="Ada")})
    feed(detector, [judged(0.9)] * 200)
    assert not feed(detector, [person] * 500)


def test_memory_is_bounded_by_the_number_of_series():
    detector = DriftDetector(DriftLimits(series=30))
    feed(detector, [judged(0.9, entity_type=f"type {n}") for n in range(1000)])
    assert len(detector._series) == 30


def stream_that_drifts() -> list[Received]:
    """300 verdicts, one a millisecond: the last hundred score low."""
    return [received(judged(0.9 if n < 200 else 0.2), n) for n in range(300)]


def test_window_spans_some_time():
    detector = DriftDetector(DriftLimits(reference=200, window=100, span=30))
    for n in range(400):
        assert not detector.see(judged(0.9 if n < 200 else 0.2), when=n / 100)
    # The reference ends with the first verdict after thirty seconds, the window 100 later.
    assert [n for n in range(200) if detector.see(judged(0.2), when=40 + n)] == [100]


async def test_order_of_topics_in_a_batch_means_nothing():
    batch = stream_that_drifts()
    shuffled = random.Random(3).sample(batch, len(batch))
    outcomes = await drift_role(DriftDetector(LIMITS), clock=lambda: 0).step(shuffled)
    told = {r.record.offset for r, out in zip(shuffled, outcomes, strict=True) if out}
    assert told == {299}


async def test_backlog_is_not_counted():
    late = drift_role(DriftDetector(LIMITS), clock=lambda: 10_000)
    assert not any(await late.step(stream_that_drifts()))


async def test_same_records_give_the_same_warning():
    batch = stream_that_drifts()
    first = await drift_role(DriftDetector(LIMITS), clock=lambda: 0).step(batch)
    second = await drift_role(DriftDetector(LIMITS), clock=lambda: 0).step(batch)
    warnings = [out.event for outcome in first for out in outcome]
    assert warnings
    assert warnings == [out.event for outcome in second for out in outcome]
    assert all(out.topic is WARNINGS for outcome in first for out in outcome)


async def test_warning_event_is_published(kafka: Settings):
    settings = kafka.model_copy(update={"partitions": 1})
    good = [n for n in range(2000) if verdict(n).decision == "accepted"][:250]
    strict = FakeScorer(stop=frozenset(f"May {n}" for n in good))
    await publish(settings, ACCEPTED, [verdict(n) for n in good])
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    stop = asyncio.Event()
    role = drift_role(DriftDetector(LIMITS))
    source = BatchSource(role, delivery(role, publisher, settings).handle, settings)
    task = asyncio.create_task(source.run(stop))
    try:
        async with asyncio.timeout(40):
            await publish(settings, QUARANTINE, [verdict(n, strict) for n in good])
            warnings = []
            async for record in follow_topics(settings, [WARNINGS]):
                warnings.append(DriftWarning.model_validate_json(record.value))
                if warnings[-1].measure == "quarantine_rate":
                    break
    finally:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)
        await publisher.stop()
    assert warnings[-1].observed > warnings[-1].limit
