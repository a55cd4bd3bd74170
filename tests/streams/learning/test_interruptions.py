"""The loop under attack: kills between any two steps, two learners, decisions taken back meanwhile,
two clicks, and a candidate whose folder is gone."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from safepassage.schemas import Review, ScorerRelease
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import decode
from safepassage.streams.learning import events, learner, task
from safepassage.streams.learning.candidates import Candidates
from safepassage.streams.learning.learner import Learner
from safepassage.streams.learning.learning_source import LearnsElsewhere, LearnSource, alone
from safepassage.streams.release.promotion import incumbent
from safepassage.streams.release.releases import ReleaseRefused
from safepassage.streams.settings import Settings
from safepassage.streams.topics import LEARNING, REVIEWS, SCORERS
from tests.streams.judged import publish

from .test_learner import BETTER, Trainer, killed, learning, reviews, steps


async def releases(settings: Settings) -> list[ScorerRelease]:
    return [decode(r, ScorerRelease).event async for r in read_topics(settings, [SCORERS])]


async def records(settings: Settings) -> int:
    return len([record async for record in read_topics(settings, [LEARNING])])


def undone(review: Review) -> Review:
    return review.model_copy(
        update={
            "id": f"{review.id}-undone",
            "decision": "undone",
            "decided_at": datetime(2026, 1, 2, tzinfo=UTC),
            "supersedes": review.id,
        }
    )


@pytest.mark.parametrize("step", ["trained", "judged", "shadowed", "asked", "promoted"])
async def test_a_kill_after_the_effect_and_before_its_event_doubles_neither(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    settings = learning(kafka, tmp_path, learn_promotes=True)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    say = events.say

    async def killed_at(publisher, settings, event):
        if event.step == step:
            raise KeyboardInterrupt
        return await say(publisher, settings, event)

    async with open_publisher(settings) as publisher:
        trainer = Trainer(BETTER)
        first = Learner(publisher, settings, trainer)
        run, _ = await first.start()
        with monkeypatch.context() as patched:
            patched.setattr(learner, "say", killed_at)
            with pytest.raises(KeyboardInterrupt):
                await first.go_on(str(run))
        second = Learner(publisher, settings, trainer)
        assert await second.unfinished() == run
        assert (await second.go_on(str(run))).step == "promoted"
        assert await second.unfinished() is None
    every = ["started", "trained", "judged", "shadowed", "asked", "promoted"]
    assert await steps(settings) == every
    assert await records(settings) == len(every)
    assert len(trainer.asked) == 1
    said = [(one.slot, one.revision) for one in await releases(settings)]
    assert said == [("shadow", "new-1"), ("live", "new-1"), ("shadow", None)]


def test_a_training_ends_with_the_learner_that_started_it(tmp_path: Path):
    """A kill that nobody can catch: the child must not go on in a folder that others take up."""
    source = (
        "import asyncio, sys\n"
        "from safepassage.streams.learning.learner import python\n"
        "beat = 'import time, pathlib, sys, os\\n'\\\n"
        "    'while True:\\n pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\\n'\\\n"
        "    ' time.sleep(0.05)'\n"
        "asyncio.run(python(['-c', beat, sys.argv[1]]))\n"
    )
    beat = tmp_path / "beat"
    parent = subprocess.Popen([sys.executable, "-c", source, str(beat)])
    deadline = time.monotonic() + 60
    while not (beat.exists() and beat.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(beat.read_text())
    parent.kill()
    parent.wait()
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        if "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{child}").exists()


async def test_of_two_learners_one_learns_and_the_other_goes_on_when_it_is_gone(
    kafka: Settings, tmp_path: Path
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    begun = asyncio.Event()

    async def endless(_: Sequence[str]) -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    trainer = Trainer(BETTER)
    async with open_publisher(settings) as publisher:
        stops = asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(LearnSource(publisher, settings, endless).run(stops[0]))
        await asyncio.wait_for(begun.wait(), 60)
        second = asyncio.create_task(LearnSource(publisher, settings, trainer).run(stops[1]))
        await asyncio.sleep(0.5)
        assert trainer.asked == []
        with pytest.raises(LearnsElsewhere), alone(settings.learn_folder):
            pass
        stops[0].set()
        await first
        async with asyncio.timeout(60):
            while "asked" not in await steps(settings):  # noqa: ASYNC110 (the topic says when)
                await asyncio.sleep(0.1)
        stops[1].set()
        await second
    assert (await steps(settings)).count("started") == 1
    assert len(trainer.asked) == 1


async def test_a_decision_taken_back_meanwhile_certifies_nothing(kafka: Settings, tmp_path: Path):
    settings = learning(kafka, tmp_path)
    decided = reviews(80)
    await publish(settings, REVIEWS, decided, key="doc")
    split = task.Decided.of(decided, settings.learn_held)
    held = {label.verdict.id for label in split.held}
    gone = next(one for one in decided if one.verdict.id in held)
    taught = next(one for one in decided if one.verdict.id not in held)
    names = {
        "judged_by": tuple(task.Decided.named(split.held)),
        "taught_by": tuple(task.Decided.named(split.taught)),
    }
    seen: list[int] = []

    async def judges_what_is_there(arguments: Sequence[str]) -> int:
        folder = Path(arguments[-1])
        own = task.read_reviews_of(folder)
        seen.append(len(own))
        if len(seen) == 1:
            await publish(settings, REVIEWS, [undone(gone), undone(taught)], key="doc")
            outcome = BETTER.model_copy(update=names)
        else:
            now = task.Decided.of(own, settings.learn_held)
            judged_by = tuple(task.Decided.named(now.held))
            outcome = BETTER.model_copy(update=names | {"judged_by": judged_by})
        return await Trainer(outcome)(arguments)

    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, judges_what_is_there)
        run, _ = await own.start()
        event = await own.go_on(str(run))
    assert seen == [80, 82]
    assert event.step == "asked"
    assert event.detail == "1 of the labels that taught were taken back since"


async def test_two_clicks_at_once_promote_once(kafka: Settings, tmp_path: Path):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await own.start()
        await own.go_on(str(run))
        candidates = Candidates(publisher, settings)
        clicks = [candidates.promote(str(run), "Ada"), candidates.promote(str(run), "Ada")]
        first, second = await asyncio.gather(*clicks, return_exceptions=True)
    assert getattr(first, "step", None) == "promoted"
    assert isinstance(second, ReleaseRefused)
    assert [one.slot for one in await releases(settings)] == ["shadow", "live", "shadow"]


async def test_a_candidate_whose_folder_is_gone_never_goes_live(kafka: Settings, tmp_path: Path):
    """Every worker would stop: none scores with another scorer than the released one."""
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await own.start()
        await own.go_on(str(run))
        shutil.rmtree(own.folder(str(run)) / task.SCORER)
        with pytest.raises(ReleaseRefused, match="not whole here"):
            await Candidates(publisher, settings).promote(str(run), "Ada")
    assert (await incumbent(settings)).name == "words"


async def test_a_candidate_that_is_gone_before_it_asks_ends_its_run(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await own.start()
        with monkeypatch.context() as patched:
            patched.setattr(own, "_shadow", killed)
            with pytest.raises(KeyboardInterrupt):
                await own.go_on(str(run))
        shutil.rmtree(own.folder(str(run)) / task.SCORER)
        event = await own.go_on(str(run))
    assert event.step == "ended"
    assert await releases(settings) == []


async def test_what_a_kill_left_of_a_run_that_never_began_is_removed(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    (tmp_path / "of the operator").mkdir()
    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, Trainer(BETTER))
        with monkeypatch.context() as patched:
            patched.setattr(learner, "say", killed)
            with pytest.raises(KeyboardInterrupt):
                await own.start()
        (left,) = tmp_path.glob(f"*/{task.REVIEWS}")  # noqa: ASYNC240 (nothing else runs)
        run, _ = await own.start()
    assert not left.parent.exists()
    assert own.folder(str(run)).exists()
    assert (tmp_path / "of the operator").exists()


async def test_a_candidate_judges_claims_as_the_configured_scorer_does(
    kafka: Settings, tmp_path: Path
):
    """As `safepassage up` names it; and "default" has two readers to start from."""
    settings = learning(kafka, tmp_path, scorer="default+hallugraph")
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        own = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await own.start()
        assert task.read_task(own.folder(str(run))).base == "default"
        event = await own.go_on(str(run))
        assert event.scorer == f"{own.folder(str(run)) / task.SCORER}+hallugraph"
        await Candidates(publisher, settings).promote(str(run), "Ada")
        await own.start(asked=True)
        assert (own.folder(str(run)) / task.SCORER).exists()
