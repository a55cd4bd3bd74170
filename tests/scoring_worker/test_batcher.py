"""The batched worker: across events, off the loop, one bad pair alone, bounded, drained."""

from __future__ import annotations

import asyncio
import threading

import pytest

from schemas import Assessment
from scoring_worker.batcher import PROBE, Batcher, BatcherClosed, Health, ScorerBroken

from .tiny import pair


class Counting:
    """Scores every pair 0.5 and remembers its batches; some pairs are poison."""

    name, revision = "counting", "1"

    def __init__(self, *, poison=(), broken=False, missing=0):
        self.poison, self.broken, self.missing = set(poison), broken, missing
        self.batches: list[int] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()

    def assess(self, pairs):
        self.threads.add(threading.current_thread().name)
        if list(pairs) != [PROBE]:
            self.gate.wait(10)
            self.batches.append(len(pairs))
        if self.broken or any(p.premise in self.poison for p in pairs):
            raise RuntimeError("a passage that must not be logged")
        kept = pairs[: len(pairs) - self.missing] if list(pairs) != [PROBE] else pairs
        return [
            Assessment(
                scorer=self.name, revision=self.revision, score=float(p.value) % 1, threshold=0
            )
            for p in kept
        ]

    def close(self):
        pass


def pairs(count, start=0):
    return [pair(f"passage {at}", value=str(at / 1000)) for at in range(start, start + count)]


async def test_answers_are_in_order_and_batched_across_callers():
    """Fifty callers with one pair each share few batches, and each gets its own answer."""
    scorer = Counting()
    async with Batcher(scorer, deadline=0.05) as batcher:
        answers = await asyncio.gather(*(batcher.assess([p]) for p in pairs(50)))
    assert [answer[0].score for answer in answers] == [at / 1000 for at in range(50)]
    assert sum(scorer.batches) == 50
    assert len(scorer.batches) < 10


async def test_the_event_loop_stays_free():
    """Scoring happens in threads of the batcher, while the loop goes on."""
    scorer = Counting()
    scorer.gate.clear()
    async with Batcher(scorer) as batcher:
        asked = asyncio.create_task(batcher.assess(pairs(3)))
        await asyncio.sleep(0.05)
        assert not asked.done()
        scorer.gate.set()
        assert len(await asked) == 3
    assert all(name.startswith("score") for name in scorer.threads)


async def test_budgets_bound_a_batch():
    """No batch has more pairs, or more estimated tokens, than it may; one huge pair goes alone."""
    scorer = Counting()
    async with Batcher(scorer, max_pairs=8) as batcher:
        await batcher.assess(pairs(30))
    assert max(scorer.batches) <= 8
    scorer = Counting()
    async with Batcher(scorer, max_tokens=100) as batcher:
        await batcher.assess([pair("x" * 1000, value="0.1"), *pairs(20)])
    assert scorer.batches[0] == 1
    assert max(scorer.batches) <= 100 // 9, "about 9 tokens each by the estimate"


async def test_one_bad_pair_fails_alone():
    """The exception of one pair is its own failure; the ninety-nine others have scores."""
    scorer = Counting(poison={"passage 41"})
    async with Batcher(scorer) as batcher:
        answers = await batcher.assess(pairs(100))
    failed = [at for at, answer in enumerate(answers) if answer.failure]
    assert failed == [41]
    assert answers[41].failure == "scorer_failed"
    assert answers[41].score is None
    assert "must not be logged" not in answers[41].failure_detail


async def test_a_broken_scorer_is_no_verdict_on_the_pairs():
    """Where everything fails, callers get an error to retry on, not a hundred failures."""
    scorer = Counting()
    async with Batcher(scorer) as batcher:
        scorer.broken = True
        with pytest.raises(ScorerBroken):
            await batcher.assess(pairs(10))
        assert len(scorer.batches) == 1, "a broken scorer is not asked for every half"
        scorer.broken = False
        assert len(await batcher.assess(pairs(10))) == 10


async def test_a_scorer_that_fails_every_pair_is_broken():
    """Failures on everything, the probe included, are the scorer's and not the pairs'."""

    class Lost(Counting):
        lost = False

        def assess(self, pairs):
            if not self.lost:
                return super().assess(pairs)
            failed = Assessment(scorer="lost", revision="1", failure="scorer_failed")
            return [failed for _ in pairs]

    scorer = Lost()
    async with Batcher(scorer) as batcher:
        scorer.lost = True
        with pytest.raises(ScorerBroken):
            await batcher.assess(pairs(3))


async def test_a_scorer_that_cannot_warm_up_does_not_start():
    """A worker that could never score says so at the start."""
    with pytest.raises(ScorerBroken):
        await Batcher(Counting(broken=True)).start()


async def test_too_few_scores_are_an_error():
    """A scorer that loses a row is not believed about any of them."""
    scorer = Counting(missing=1)
    async with Batcher(scorer) as batcher:
        answers = await batcher.assess(pairs(4))
    assert [answer.failure for answer in answers] == ["scorer_failed"] * 4


async def test_waiting_pairs_are_bounded():
    """Callers wait for room instead of filling the memory."""
    scorer = Counting()
    scorer.gate.clear()
    async with Batcher(scorer, max_waiting=5, max_pairs=2, concurrency=1) as batcher:
        asked = asyncio.create_task(batcher.assess(pairs(50)))
        await asyncio.sleep(0.1)
        assert batcher.health().waiting <= 5
        scorer.gate.set()
        assert len(await asked) == 50


async def test_close_finishes_what_was_taken_and_takes_no_more():
    """A graceful drain answers everyone who was let in."""
    scorer = Counting()
    scorer.gate.clear()
    batcher = Batcher(scorer)
    await batcher.start()
    asked = asyncio.create_task(batcher.assess(pairs(20)))
    await asyncio.sleep(0.05)
    closing = asyncio.create_task(batcher.close())
    await asyncio.sleep(0.05)
    with pytest.raises(BatcherClosed):
        await batcher.assess(pairs(1))
    scorer.gate.set()
    await closing
    assert len(await asked) == 20


async def test_work_of_a_caller_that_left_is_dropped():
    """Nobody computes for a caller that gave up."""
    scorer = Counting()
    scorer.gate.clear()
    async with Batcher(scorer, concurrency=1) as batcher:
        first = asyncio.create_task(batcher.assess(pairs(1)))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(batcher.assess(pairs(7, start=1)))
        await asyncio.sleep(0.05)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        scorer.gate.set()
        await first
    assert scorer.batches == [1]


async def test_health_is_the_age_of_the_last_success():
    """Idle is healthy for ever; work without success is not."""
    now = [100.0]
    scorer = Counting()
    async with Batcher(scorer, clock=lambda: now[0]) as batcher:
        now[0] += 1000
        assert batcher.health().last_success_age == 1000
        assert not batcher.health().stalled(30)
        scorer.gate.clear()
        asked = asyncio.create_task(batcher.assess(pairs(1)))
        await asyncio.sleep(0.05)
        assert not batcher.health().stalled(30), "it has only just begun"
        now[0] += 31
        assert batcher.health().stalled(30)
        scorer.gate.set()
        await asked
        assert batcher.health() == Health(0, 0, 0, 0)
