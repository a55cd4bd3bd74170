"""Learning from decisions: what begins a run, each step once, kills, and a person's click."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from safepassage.schemas import LearningEvent, Review
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.training import recipe, tuning
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.learning import task
from safepassage.streams.learning.candidates import Candidates
from safepassage.streams.learning.events import read_progress, read_runs
from safepassage.streams.learning.learner import Learner
from safepassage.streams.learning.learning_source import LearnSource
from safepassage.streams.learning.task import Decided, Outcome, Task, carry_out, read_outcome
from safepassage.streams.release.promotion import incumbent
from safepassage.streams.release.releases import ReleaseRefused, releases_in_force
from safepassage.streams.settings import Settings
from safepassage.streams.topics import REVIEWS
from tests.scoring_worker import tiny
from tests.streams.console.running import TOKEN, console_settings, running_console
from tests.streams.judged import publish, verdict
from tests.streams.release.test_promotion_bounds import LABELS, compare

PASSED = compare(LABELS, [True] * 30 + [False] * 10 + [False] * 30 + [True] * 10, LABELS)


def reviews(count: int, *, wrong: int = 2) -> list[Review]:
    """Decisions on the first values, of which every ``wrong``-th is wrong; 0: none is."""
    return [
        Review(
            id=f"review-{n}",
            verdict=verdict(n),
            decision="insufficient" if wrong and n % wrong == 0 else "supports",
            reviewer="Ada",
            decided_at=datetime(2026, 1, 1, 0, n // 60, n % 60, tzinfo=UTC),
        )
        for n in range(count)
    ]


def learning(kafka: Settings, folder: Path, **changes: object) -> Settings:
    fixed = {
        "learn_folder": folder,
        "learn_every": 40,
        "learn_min_labels": 4,
        "learn_replay": False,
        "learn_poll_seconds": 0.05,
        "scorer": "words",
    }
    return kafka.model_copy(update=fixed | changes)


class Trainer:
    """Stands for the process that trains: writes what it would have written."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.asked: list[str] = []

    async def __call__(self, arguments: Sequence[str]) -> int:
        self.asked.append(arguments[1])
        folder = Path(arguments[-1])
        scorer = folder / task.SCORER
        if not scorer.exists():
            scorer.mkdir()
            (scorer / "weights").write_bytes(b"learnt")
            ScorerManifest(name="new", kind="encoder", labels=1, max_length=64).save(scorer)
        (folder / task.OUTCOME).write_text(self.outcome.model_dump_json())
        return 0


BETTER = Outcome(revision="new-1", learnt={"reader": "learnt"}, result=PASSED)


async def steps(settings: Settings) -> list[str]:
    return [event.step for event in (await read_runs(settings)).events]


def test_a_document_judges_or_teaches_and_never_both():
    decided = Decided.of(reviews(80), 0.4)
    taught, held = (
        {label.verdict.doc_id for label in own} for own in (decided.taught, decided.held)
    )
    assert taught
    assert held
    assert not taught & held
    more = Decided.of(reviews(120), 0.4)
    assert held <= {label.verdict.doc_id for label in more.held}
    assert decided.counts == (40, 40)
    missing = Decided.of(reviews(80, wrong=0), 0.4).wanted(0.4, 5)
    assert missing == "5 unsupported to learn from, 5 unsupported to judge by"


async def test_a_run_begins_with_enough_new_decisions_of_both_classes(
    kafka: Settings, tmp_path: Path
):
    settings = learning(kafka, tmp_path)
    await create_topics(settings)
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(BETTER))
        assert await learner.start() == (None, "40 more decisions are wanted")
        await publish(settings, REVIEWS, reviews(60, wrong=0), key="doc")
        _, wanted = await learner.start()
        assert "4 unsupported to judge by" in wanted
        await publish(settings, REVIEWS, reviews(80), key="doc")
        run, _ = await learner.start()
        assert run is not None
        assert (await learner.go_on(run)).step == "asked"
        assert await learner.start() == (None, "40 more decisions are wanted")


async def test_a_run_goes_on_after_its_last_step_and_says_nothing_twice(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    trainer = Trainer(BETTER)
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, trainer)
        run, _ = await learner.start()
        with monkeypatch.context() as patched:
            patched.setattr(learner, "_shadow", killed)
            with pytest.raises(KeyboardInterrupt):
                await learner.go_on(str(run))
        assert await steps(settings) == ["started", "trained", "judged"]
        assert (await releases_in_force(settings)).releases == {}
        again = Learner(publisher, settings, trainer)
        assert await again.unfinished() == run
        event = await again.go_on(str(run))
    assert len(trainer.asked) == 1
    assert await steps(settings) == ["started", "trained", "judged", "shadowed", "asked"]
    assert (event.revision, event.learnt) == ("new-1", {"reader": "learnt"})
    shadow = (await releases_in_force(settings)).releases["shadow"]
    assert (shadow.revision, shadow.released_by) == ("new-1", "learn")


async def killed(*_: object) -> None:
    raise KeyboardInterrupt


async def test_a_candidate_that_is_no_better_ends_and_says_why(kafka: Settings, tmp_path: Path):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    worse = BETTER.model_copy(update={"result": compare(LABELS, LABELS, LABELS)})
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(worse))
        run, _ = await learner.start()
        event = await learner.go_on(str(run))
    assert event.step == "ended"
    assert "macro F1 changes by" in event.detail


async def test_within_the_operators_bounds_nobody_is_asked(kafka: Settings, tmp_path: Path):
    settings = learning(kafka, tmp_path, learn_promotes=True)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await learner.start()
        assert (await learner.go_on(str(run))).step == "promoted"
    assert (await releases_in_force(settings)).releases["shadow"].scorer is None
    live = await incumbent(settings)
    assert live.revision == "new-1"
    assert live.name == str(tmp_path / str(run) / task.SCORER)


async def test_the_role_learns_by_itself_and_stops_in_the_middle(kafka: Settings, tmp_path: Path):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    begun = asyncio.Event()

    async def endless(_: Sequence[str]) -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    async with open_publisher(settings) as publisher:
        stop = asyncio.Event()
        role = asyncio.create_task(LearnSource(publisher, settings, endless).run(stop))
        await asyncio.wait_for(begun.wait(), 60)
        stop.set()
        await asyncio.wait_for(role, 60)
        assert await steps(settings) == ["started"]
        stop = asyncio.Event()
        role = asyncio.create_task(LearnSource(publisher, settings, Trainer(BETTER)).run(stop))
        async with asyncio.timeout(60):
            while "asked" not in await steps(settings):  # noqa: ASYNC110 (the topic says when)
                await asyncio.sleep(0.1)
        stop.set()
        await role
    assert (await steps(settings)).count("started") == 1


async def test_candidates_that_no_release_names_are_removed_by_the_next_run(
    kafka: Settings, tmp_path: Path
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await learner.start()
        await learner.go_on(str(run))
        shadowed, former = learner.folder(str(run)) / task.SCORER, tmp_path / "former" / task.SCORER
        former.mkdir(parents=True)
        await learner.start(asked=True)
    assert shadowed.exists()
    assert not former.exists()


async def test_no_candidate_takes_the_place_of_one_that_it_was_not_compared_with(
    kafka: Settings, tmp_path: Path
):
    settings = learning(kafka, tmp_path)
    await publish(settings, REVIEWS, reviews(80), key="doc")
    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, Trainer(BETTER))
        run, _ = await learner.start()
        await learner.go_on(str(run))
        candidates = Candidates(publisher, settings)
        await candidates.promote(str(run), "Ada")
        with pytest.raises(ReleaseRefused, match="does not ask"):
            await candidates.promote(str(run), "Ada")


async def test_from_decisions_to_a_promotion_by_click(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A real, tiny scorer learns; the console's own page promotes it."""
    base = tiny.reader_scorer(tmp_path / "base")
    few = tuning.TuningSettings(
        epochs=1, batch_size=8, rehearsal=0.1, rehearsal_least=4, layers=1, learning_rate=1e-3
    )
    usual = recipe.Recipe
    monkeypatch.setattr(
        "safepassage.scoring_worker.training.Recipe",
        lambda **more: usual(**{"gold": few, **more}),
    )
    settings = console_settings(learning(kafka, tmp_path / "learnt", scorer=str(base)))
    await publish(settings, REVIEWS, reviews(80), key="doc")

    async def in_this_process(arguments: Sequence[str]) -> int:
        await asyncio.to_thread(carry_out, Path(arguments[-1]))
        return 0

    async with open_publisher(settings) as publisher:
        learner = Learner(publisher, settings, in_this_process)
        run, labels = await learner.start()
        assert re.fullmatch(r"80 labels: \d+ teach, \d+ judge the candidate", labels)
        folder = learner.folder(str(run))
        # A reader that knows nothing gains nothing for sure: what is tested here is the way.
        written = Task.model_validate_json((folder / task.TASK).read_bytes())
        loose = written.bounds.model_copy(
            update={"max_recall_loss": 1.0, "max_accepted_loss": 1.0, "min_f1_gain": -1.0}
        )
        lenient = written.model_copy(update={"bounds": loose})
        (folder / task.TASK).write_text(lenient.model_dump_json())
        event = await learner.go_on(str(run))
    outcome = read_outcome(folder)
    assert outcome is not None
    assert outcome.problem == ""
    assert event.step == "asked"
    assert event.learnt["reader"] == "learnt"
    async with running_console(settings) as address, signed_in(address) as browser:
        page = (await browser.get("/learning")).text
        assert "A candidate asks to be promoted" in page
        assert str(event.revision) in page
        answer = {"csrf": hidden(page, "csrf"), "answer": "promote"}
        done = await browser.post(f"/learning/{run}", data=answer)
        assert "Decides from now on" in done.text
        assert "No candidate asks" in done.text
        twice = await browser.post(f"/learning/{run}", data=answer)
        assert twice.status_code == 409
    assert not (folder / task.REVIEWS).exists(), "it quotes documents"
    assert read_progress(folder) is None, "the training is over"
    release = (await releases_in_force(settings)).live
    assert release is not None
    assert (release.revision, release.released_by) == (event.revision, "Ada")
    said: list[LearningEvent] = (await read_runs(settings)).events
    assert [one.step for one in said][-2:] == ["asked", "promoted"]


@asynccontextmanager
async def signed_in(address: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=address, follow_redirects=True, timeout=60) as browser:
        page = (await browser.get("/login")).text
        form = {"csrf": hidden(page, "csrf"), "reviewer": "Ada", "token": TOKEN}
        await browser.post("/login", data=form)
        async with asyncio.timeout(60):
            while (await browser.get("/learning")).status_code == 503:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        yield browser


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return html.unescape(found[1])
