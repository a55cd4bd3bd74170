"""Workers score with what was released, or not at all; a shadow can hurt nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import pytest

from safepassage.schemas import ScorerRelease, Verdict
from safepassage.scoring_worker import Scorer
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.release import promotion, releases
from safepassage.streams.release import shadow as shadow_module
from safepassage.streams.release.live_scorer import LiveScorer, follow_scorers
from safepassage.streams.release.releases import ReleaseLost, ReleaseRefused, publish_release
from safepassage.streams.release.shadow import ShadowScoring
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, ALIGNMENTS, QUARANTINE, SCORERS, SHADOW, Topic
from safepassage.streams.wiring import score_source
from tests.streams.broker import send
from tests.streams.doubles import FakePublisher
from tests.streams.judged import FakeScorer, aligned, publish

PATIENCE = 30


def release(name: str | None, revision: str | None, slot: str = "live") -> ScorerRelease:
    return ScorerRelease(
        slot=slot,
        scorer=name,
        revision=revision,
        released_at=datetime.now(UTC),
        released_by="tests",
        reason="",
    )


def shelf(*scorers: Scorer) -> Callable[[str], Scorer]:
    """A loader of these scorers by name."""
    by_name = {scorer.name: scorer for scorer in scorers}

    def load(name: str, *, packs: Sequence[str] = (), strict: bool = False) -> Scorer:
        if name not in by_name:
            raise ValueError(f"no scorer {name!r}")
        return by_name[name]

    return load


OLD = FakeScorer("old", "old-1")
NEW = FakeScorer("new", "new-1")


@asynccontextmanager
async def scoring(settings: Settings, load: Callable[[str], Scorer]):
    """A running score role; yields its task."""
    settings = settings.model_copy(update={"scorer": "old"})
    async with AsyncExitStack() as resources:
        publisher = KafkaPublisher(new_producer(settings), settings)
        await publisher.start()
        resources.push_async_callback(publisher.stop)
        source = await score_source(load, publisher, settings, resources)
        stop = asyncio.Event()
        task = asyncio.create_task(source.run(stop))
        try:
            yield task
        finally:
            stop.set()
            await asyncio.gather(task, return_exceptions=True)


async def revisions(settings: Settings, *topics: Topic) -> dict[str, str]:
    """The revision that judged each extraction."""
    return {
        verdict.extraction_id: verdict.scorer_revision
        async for record in read_topics(settings, topics or (ACCEPTED, QUARANTINE))
        if (verdict := Verdict.model_validate_json(record.value))
    }


async def until(condition: Callable) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - it asks the broker
            await asyncio.sleep(0.1)


async def test_configured_scorer_decides_where_none_is_released(kafka: Settings):
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    async with scoring(kafka, shelf(OLD)):
        await until(lambda: has(kafka, {"extraction-1": "old-1"}))


async def has(settings: Settings, wanted: dict[str, str]) -> bool:
    return wanted.items() <= (await revisions(settings)).items()


async def test_released_scorer_decides_from_the_start(kafka: Settings):
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    await publish_release(kafka, release("old", "old-1"))
    await publish_release(kafka, release("new", "new-1"))
    async with scoring(kafka, shelf(OLD, NEW)):
        await until(lambda: has(kafka, {"extraction-1": "new-1"}))


async def test_scorer_is_exchanged_while_running_and_both_stay_distinguishable(kafka: Settings):
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    async with scoring(kafka, shelf(OLD, NEW)):
        await until(lambda: has(kafka, {"extraction-1": "old-1"}))
        await publish_release(kafka, release("new", "new-1"))

        async def judged_by_new() -> bool:
            judged_by_new.number += 1
            await publish(kafka, ALIGNMENTS, [aligned(judged_by_new.number)])
            return "new-1" in (await revisions(kafka)).values()

        judged_by_new.number = 100
        await until(judged_by_new)
        assert (await revisions(kafka))["extraction-1"] == "old-1"


@pytest.mark.parametrize(
    ("name", "revision", "why"),
    [("missing", "x", "cannot be loaded"), ("new", "another", "revision new-1 here, but another")],
)
async def test_worker_refuses_to_start_with_what_was_not_released(
    kafka: Settings, name: str, revision: str, why: str
):
    await create_topics(kafka)
    await publish_release(kafka, release(name, revision))
    with pytest.raises(ReleaseRefused, match=why):
        async with scoring(kafka, shelf(OLD, NEW)):
            pass


async def test_running_worker_stops_rather_than_go_on_without_the_released_scorer(kafka: Settings):
    await create_topics(kafka)
    async with scoring(kafka, shelf(OLD)) as task:
        await publish_release(kafka, release("missing", "m-1"))
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait([task])
        with pytest.raises(ReleaseRefused, match=r"missing.*rollback"):
            task.result()


@pytest.mark.parametrize(
    ("first", "end", "why"),
    [(3, 3, "before offset 3"), (2, 5, "before offset 2"), (0, 4, "4 records of scorers are gone")],
)
async def test_worker_does_not_fall_back_where_a_release_expired(
    kafka: Settings, monkeypatch, first: int, end: int, why: str
):
    """The embedded broker deletes nothing: what a broker says whose retention passed is given."""
    await create_topics(kafka)

    async def extent(*_):
        return first, end

    monkeypatch.setattr(releases, "extent", extent)
    with pytest.raises(ReleaseLost, match=why):
        async with scoring(kafka.model_copy(update={"scorer": "old"}), shelf(OLD)):
            pass


@pytest.mark.parametrize("value", [None, b"rubbish"], ids=["tombstone", "rubbish"])
async def test_worker_does_not_fall_back_where_compaction_kept_no_release(
    kafka: Settings, value: bytes | None
):
    """What stands under the key of the live release is all that compaction leaves of it."""
    await create_topics(kafka)
    await send(kafka, SCORERS, [(b"live", value)])
    with pytest.raises(ReleaseLost, match="offset 0 of scorers is no release"):
        async with scoring(kafka.model_copy(update={"scorer": "old"}), shelf(OLD)):
            pass


async def test_worker_does_not_fall_back_where_a_release_names_no_scorer(kafka: Settings):
    await create_topics(kafka)
    await publish_release(kafka, release(None, None))
    with pytest.raises(ReleaseLost, match="names no scorer"):
        async with scoring(kafka.model_copy(update={"scorer": "old"}), shelf(OLD)):
            pass


async def test_lost_release_is_named_again_by_a_person(kafka: Settings):
    await create_topics(kafka)
    settings = kafka.model_copy(update={"scorer": "old"})
    signed = promotion.Signature("Ada", "a test")
    with pytest.raises(ReleaseRefused, match="nothing is lost"):
        await promotion.reinstate(settings, "new", shelf(OLD, NEW), signed)
    await send(settings, SCORERS, [(b"live", None)])
    with pytest.raises(ReleaseLost):
        await promotion.incumbent(settings)
    await promotion.reinstate(settings, "new", shelf(OLD, NEW), signed)
    assert await promotion.incumbent(settings) == promotion.Incumbent("new", "new-1")


async def test_rubbish_on_the_topic_stops_nobody(kafka: Settings):
    await publish(kafka, SCORERS, [aligned(1)])
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    async with scoring(kafka, shelf(OLD)):
        await until(lambda: has(kafka, {"extraction-1": "old-1"}))


async def test_exchange_waits_for_the_batch_under_way():
    going_on, finish = threading.Event(), threading.Event()

    class Slow(FakeScorer):
        def assess(self, pairs):
            if not pairs:  # the batch below, not the warm-up
                going_on.set()
                finish.wait(PATIENCE)
            return super().assess(pairs)

    closed: list[str] = []

    class Closing(Slow):
        def close(self) -> None:
            closed.append("old")

    live = LiveScorer(shelf(Closing("old", "old-1"), NEW))
    await live.change_to("old", None)
    batch = asyncio.create_task(live.assess([]))
    await asyncio.to_thread(going_on.wait, PATIENCE)
    exchange = asyncio.create_task(live.change_to("new", "new-1"))
    await asyncio.sleep(0.05)
    assert live.revision == "old-1"
    assert not closed
    finish.set()
    await asyncio.gather(batch, exchange)
    assert (live.revision, closed) == ("new-1", ["old"])


async def test_a_scorer_has_scored_before_it_is_in_force():
    """What is loaded on first use is loaded while the former scorer still decides."""
    warmed: list[str | None] = []

    class Cold(FakeScorer):
        def assess(self, pairs):
            warmed.append(live.revision)
            return super().assess(pairs)

    live = LiveScorer(shelf(OLD, Cold("new", "new-1")))
    await live.change_to("old", None)
    await live.change_to("new", "new-1")
    assert warmed == ["old-1"]


async def test_a_scorer_that_cannot_score_at_all_is_not_put_into_force():
    """The former one stays; a single failed pair is no reason to refuse."""

    class Broken(FakeScorer):
        def assess(self, pairs):
            raise RuntimeError("no GPU")

    away = FakeScorer("away", "away-1", fails=True)
    live = LiveScorer(shelf(OLD, Broken("new", "new-1"), away))
    await live.change_to("old", None)
    with pytest.raises(ReleaseRefused, match="'new' is broken: RuntimeError"):
        await live.change_to("new", "new-1")
    assert live.revision == "old-1"
    await live.change_to("away", None)
    assert live.revision == "away-1"


async def test_shadow_judges_live_traffic_without_deciding(kafka: Settings):
    await create_topics(kafka)
    await publish_release(kafka, release("new", "new-1", slot="shadow"))
    await publish(kafka, ALIGNMENTS, [aligned(n) for n in range(6)])
    async with scoring(kafka, shelf(OLD, NEW)):
        await until(lambda: shadowed(kafka, 6))
    assert set((await revisions(kafka)).values()) == {"old-1"}
    assert set((await revisions(kafka, SHADOW)).values()) == {"new-1"}


async def shadowed(settings: Settings, count: int) -> bool:
    return len(await revisions(settings, SHADOW)) == count


class Raising(FakeScorer):
    def assess(self, pairs):
        raise MemoryError("a candidate may fail in any way")


class Hanging(FakeScorer):
    def assess(self, pairs):
        threading.Event().wait()


class TooFew(FakeScorer):
    def assess(self, pairs):
        return []


@pytest.mark.parametrize("candidate", [Raising("new"), Hanging("new"), TooFew("new")])
async def test_shadow_that_fails_does_not_hurt_live_scoring(kafka: Settings, candidate: Scorer):
    await create_topics(kafka)
    await publish_release(kafka, release("new", None, slot="shadow"))
    async with scoring(kafka, shelf(OLD, candidate)) as task:
        for first in range(0, 50, 5):
            await publish(kafka, ALIGNMENTS, [aligned(n) for n in range(first, first + 5)])
        await until(lambda: has(kafka, {f"extraction-{n}": "old-1" for n in range(50)}))
        assert not task.done()
    assert not await revisions(kafka, SHADOW)


async def test_shadow_that_cannot_be_loaded_is_only_a_warning(kafka: Settings):
    await publish(kafka, ALIGNMENTS, [aligned(1)])
    await publish_release(kafka, release("missing", "m", slot="shadow"))
    async with scoring(kafka, shelf(OLD)):
        await until(lambda: has(kafka, {"extraction-1": "old-1"}))


async def test_full_queue_of_the_shadow_drops_instead_of_waiting():
    shadow = ShadowScoring(FakePublisher(), shelf(Hanging("new")))
    shadow.change_to("new", None)
    running = asyncio.create_task(shadow.run())
    for n in range(100):
        shadow.offer([aligned(n)])
        await asyncio.sleep(0)
    assert shadow._queue.full()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_hanging_shadow_is_given_up_and_the_next_release_is_tried(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(shadow_module, "SECONDS_PER_BATCH", 0.05)
    publisher = FakePublisher()
    shadow = ShadowScoring(publisher, shelf(Hanging("stuck"), FakeScorer("new", "new-1")))
    running = asyncio.create_task(shadow.run())
    shadow.change_to("stuck", None)
    await asyncio.sleep(0.05)
    shadow.offer([aligned(1)])
    await asyncio.sleep(0.3)
    shadow.change_to("new", "new-1")
    async with asyncio.timeout(PATIENCE):
        while not publisher.published:
            await asyncio.sleep(0.02)
            shadow.offer([aligned(2)])
    assert {v.scorer_revision for v in publisher.to(SHADOW)} == {"new-1"}
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_shadow_of_another_revision_does_not_judge():
    publisher = FakePublisher()
    shadow = ShadowScoring(publisher, shelf(NEW))
    running = asyncio.create_task(shadow.run())
    shadow.change_to("new", "another")
    for n in range(20):
        shadow.offer([aligned(n)])
        await asyncio.sleep(0.01)
    assert not publisher.published
    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_withdrawn_scorer_judges_nothing_while_the_former_one_loads():
    """After `rollback` returned it decided 120 verdicts more, in the 20 s that the other took."""
    loading, loaded = threading.Event(), threading.Event()

    def load(name: str) -> Scorer:
        if name == "old":
            loading.set()
            assert loaded.wait(PATIENCE)
        return shelf(OLD, NEW)(name)

    live = LiveScorer(load)
    await live.change_to("new", "new-1")
    changing = asyncio.create_task(live.change_to("old", "old-1", withdrawn=True))
    await asyncio.to_thread(loading.wait, PATIENCE)
    judging = asyncio.create_task(live.assess([]))
    await asyncio.wait((judging,), timeout=0.1)
    assert not judging.done()
    loaded.set()
    await asyncio.gather(changing, judging)
    assert live.revision == "old-1"


async def test_withdrawn_scorer_judges_nothing_where_the_former_one_cannot_be_loaded():
    live = LiveScorer(shelf(NEW))
    await live.change_to("new", "new-1")
    with pytest.raises(ReleaseRefused, match="cannot be loaded"):
        await live.change_to("old", "old-1", withdrawn=True)
    with pytest.raises(ReleaseRefused, match="no scorer is in force"):
        await live.assess([])


@pytest.mark.parametrize(("previous", "withdrawn"), [(None, True), ("old", False)])
async def test_rollback_withdraws_and_a_promotion_does_not(
    kafka: Settings, previous: str | None, withdrawn: bool
):
    await create_topics(kafka)
    changes: asyncio.Queue[bool] = asyncio.Queue()

    class Told(LiveScorer):
        async def change_to(self, name, revision, *, withdrawn=False):
            changes.put_nowait(withdrawn)

    held = await releases.releases_in_force(kafka)
    shadow = ShadowScoring(FakePublisher(), shelf())
    following = asyncio.create_task(follow_scorers(kafka, held, Told(shelf()), shadow))
    new = release("new", "new-1").model_copy(update={"previous": previous})
    await publish_release(kafka, new)
    async with asyncio.timeout(PATIENCE):
        assert await changes.get() is withdrawn
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
