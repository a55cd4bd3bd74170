"""One run, step by step; each is an event, so that a run that was killed goes on after the last."""

import asyncio
import contextlib
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson
import structlog

from safepassage.schemas import LearningEvent, stable_id
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..kafka.publisher import Publisher
from ..labels.from_reviews import read_reviews
from ..release.promotion import Incumbent, Signature, incumbent, promote, release
from ..release.promotion_bounds import Bounds, PromotionResult
from ..release.releases import ReleaseRefused, releases_in_force
from ..runtime.signals import die_with_parent
from ..settings import Settings
from .events import Runs, following, read_runs, say
from .silver import FEWEST_DRAWN, SAMPLE, sample, take_over, write_sample
from .task import (
    SCORER,
    Decided,
    Outcome,
    Task,
    candidate_of,
    judge_again,
    missing_of,
    read_outcome,
    read_task,
    write_task,
)

log = structlog.get_logger(__name__)

BY = "learn"
JUDGED_AT_MOST = 3
"""Each time decisions are taken back while a candidate is judged by them, it is judged again."""
_RUN_NAME = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{8}")
Process = Callable[[Sequence[str]], Awaitable[int]]
"""Runs Python with these arguments until it ends; returns its exit status."""


class Learner:
    """Learns from the decisions on the topics of ``settings``."""

    def __init__(
        self, publisher: Publisher, settings: Settings, process: Process | None = None
    ) -> None:
        self._publisher = publisher
        self._settings = settings
        self._process = process or python

    async def unfinished(self) -> str | None:
        """The run that was stopped in the middle; where nobody is asked, also before promotion."""
        runs = await read_runs(self._settings)
        if self._settings.learn_promotes and runs.asking:
            return runs.asking.run
        return runs.unfinished

    async def start(self, *, asked: bool = False) -> tuple[str | None, str]:
        """Begin a run, if there are enough new decisions, or if it was ``asked`` for and there are
        enough in all.

        Returns:
            The run, and what its labels are for; or None, and what is wanted.
        """
        settings = self._settings
        reviews, _ = await read_reviews(settings)
        runs = await read_runs(settings)
        decided = Decided.of(reviews, settings.learn_held)
        before = runs.last[0].reviews if runs.last else 0
        supported, unsupported = decided.counts
        missing = settings.learn_every - (len(reviews) - before)
        why = f"{missing} more decisions are wanted" if missing > 0 and not asked else ""
        wanted = decided.wanted(settings.learn_held, settings.learn_min_labels)
        if not why and wanted:
            why = f"more decisions are wanted: {wanted}"
        if why and (runs.events or not settings.learn_silver):
            return None, why
        now = datetime.now(UTC)
        named = stable_id("run", *sorted(review.id for review in reviews))[:8]
        run = f"{now:%Y%m%d-%H%M%S-%f}-{named}"
        silver = await self._sampled(self.folder(run))
        if why and not silver:
            return None, why
        live = await incumbent(settings)
        task = Task(
            base=ScorerSpec.parse(settings.scorer).values,
            behind=ScorerSpec.parse(settings.judge).behind,
            live=live.name,
            live_revision=live.revision,
            bounds=Bounds(min_labels=settings.learn_min_labels),
            held=settings.learn_held,
            silver=silver,
            packs=settings.packs,
        )
        await asyncio.to_thread(write_task, self.folder(run), task, reviews)
        event = LearningEvent(
            id=stable_id("learning", run, "started"),
            run=run,
            step="started",
            at=now,
            by=BY,
            reviews=len(reviews),
            supported=supported,
            unsupported=unsupported,
            detail=str(decided),
        )
        await self._say(event)
        await self._tidy(runs.known, run)
        return run, event.detail

    async def _tidy(self, known: set[str], run: str) -> None:
        """Remove the candidates of former runs that no release names any more, and what a kill
        left of runs that never began: it quotes documents."""
        named = await named_by_releases(self._settings)
        every = await asyncio.to_thread(lambda: list(self.folder(run).parent.glob("*/")))
        for folder in every:
            if folder.name == run or str((folder / SCORER).resolve()) in named:
                continue
            begun = folder.name in known or not _RUN_NAME.fullmatch(folder.name)
            gone = folder / SCORER if begun else folder
            await asyncio.to_thread(shutil.rmtree, gone, ignore_errors=True)

    async def _sampled(self, folder: Path) -> bool:
        """Whether the grader has something to judge: of an earlier run, or of the stream."""
        settings = self._settings
        if not settings.learn_silver:
            return False
        earlier = sorted(path.parent for path in folder.parent.glob(f"*/{SAMPLE}"))
        if earlier:
            await asyncio.to_thread(take_over, earlier[0], folder)
            return True
        drawn = await sample(settings, settings.learn_silver)
        if len(drawn) < FEWEST_DRAWN:
            return False
        await asyncio.to_thread(write_sample, folder, drawn)
        return True

    def folder(self, run: str) -> Path:
        return Path(self._settings.learn_folder) / run

    async def go_on(self, run: str) -> LearningEvent:
        """Every step of ``run`` that is left; returns the last."""
        runs = await read_runs(self._settings)
        started = runs.of(run, "started")
        if started is None:
            raise LookupError(f"there is no run {run}")
        folder = self.folder(run)
        if not folder.exists():
            return await self._end(started, f"{folder} is gone")
        task = await asyncio.to_thread(read_task, folder)
        outcome, withdrawn = await self._as_it_stands(folder, task, await self._outcome(folder))
        if outcome.revision is None:
            return await self._end(started, outcome.problem or "the training ended without a word")
        scorer = candidate_of(folder, task.behind)
        found = {"scorer": scorer, "revision": outcome.revision, "learnt": outcome.learnt}
        trained = await self._once(runs, following(started, "trained", **found))
        if missing := await asyncio.to_thread(missing_of, scorer):
            return await self._end(trained, missing)
        if outcome.result is None:
            await self._shadow(runs, trained)
            return await self._end(trained, outcome.problem)
        return await self._ask(runs, trained, outcome.result, withdrawn)

    async def _ask(
        self, runs: Runs, trained: LearningEvent, result: PromotionResult, withdrawn: str
    ) -> LearningEvent:
        figures = result.model_dump(mode="json")
        judged = await self._once(runs, following(trained, "judged", figures=figures))
        await self._shadow(runs, judged)
        await self._replay(runs, judged)
        if not result.passed:
            missed = [bound.explanation for bound in result.bounds if not bound.passed]
            return await self._end(judged, "; ".join(missed))
        asking = following(judged, "asked", figures=figures, detail=withdrawn)
        asked = await self._once(runs, asking)
        if not self._settings.learn_promotes:
            return asked
        try:
            return await promoted(self._publisher, self._settings, asked, BY)
        except ReleaseRefused as error:
            return await self._end(asked, str(error))

    async def _as_it_stands(
        self, folder: Path, task: Task, outcome: Outcome
    ) -> tuple[Outcome, str]:
        """The outcome by decisions still in force, and how many that taught do not: people take
        decisions back while a candidate learns. One that was judged by such is judged again."""
        for _ in range(JUDGED_AT_MOST):
            reviews, _ = await read_reviews(self._settings)
            standing = Decided.of(reviews, task.held)
            if set(outcome.judged_by) <= Decided.named(standing.held):
                break
            await asyncio.to_thread(judge_again, folder, reviews)
            outcome = await self._outcome(folder)
        gone = len(set(outcome.taught_by) - Decided.named(standing.taught))
        return outcome, f"{gone} of the labels that taught were taken back since" if gone else ""

    async def _outcome(self, folder: Path) -> Outcome:
        if (outcome := await asyncio.to_thread(read_outcome, folder)) is not None:
            return outcome
        status = await self._process(
            ["-m", "safepassage.streams.learning.training_process", str(folder)]
        )
        found = await asyncio.to_thread(read_outcome, folder)
        return found or Outcome(problem=f"the training ended with status {status}: see the log")

    async def _shadow(self, runs: Runs, judged: LearningEvent) -> None:
        if runs.of(judged.run, "shadowed"):
            return
        held = (await releases_in_force(self._settings)).releases.get("shadow")
        if held is None or held.revision != judged.revision:
            signed = Signature(BY, f"learnt from {judged.reviews} reviews")
            candidate, revision = judged.scorer, judged.revision
            await release(
                self._settings, signed, slot="shadow", scorer=candidate, revision=revision
            )
        await self._say(following(judged, "shadowed"))

    async def _replay(self, runs: Runs, judged: LearningEvent) -> None:
        """What the candidate would have done; it tells people more, and decides nothing."""
        if not self._settings.learn_replay or runs.of(judged.run, "replayed"):
            return
        report = self.folder(judged.run) / "replay"
        command = ["-m", "safepassage", "replay", "--scorer", str(judged.scorer)]
        identity = f"learn-{judged.run}"[:40]
        status = await self._process([*command, "--id", identity, "--report", str(report)])
        figures, detail = None, str(report)
        if status:
            detail = f"the replay ended with status {status}: see the log"
        else:
            figures = await asyncio.to_thread(_figures, report / "report.json")
        await self._say(following(judged, "replayed", figures=figures, detail=detail))

    async def _once(self, runs: Runs, event: LearningEvent) -> LearningEvent:
        return runs.of(event.run, event.step) or await self._say(event)

    async def _end(self, event: LearningEvent, why: str) -> LearningEvent:
        return await self._say(following(event, "ended", detail=why[:2_000]))

    async def _say(self, event: LearningEvent) -> LearningEvent:
        log.info(
            "learning", run=event.run, step=event.step, revision=event.revision, detail=event.detail
        )
        return await say(self._publisher, self._settings, event)


async def promoted(
    publisher: Publisher, settings: Settings, asked: LearningEvent, by: str
) -> LearningEvent:
    """Put the candidate that ``asked`` into force, and end its shadow."""
    result = PromotionResult.model_validate(asked.figures)
    if asked.scorer is None:
        raise ReleaseRefused("the event names no candidate")
    live = await incumbent(settings)
    if live != Incumbent(asked.scorer, asked.revision):  # else a kill came between the two steps
        if live.revision not in (None, result.incumbent.revision):
            raise ReleaseRefused(
                "another scorer went live meanwhile; learn again to compare with it"
            )
        if missing := await asyncio.to_thread(missing_of, asked.scorer):
            raise ReleaseRefused(
                f"the candidate is not whole here: {missing}; the workers of `score` and `review` "
                "need SAFEPASSAGE_LEARN_FOLDER under one path; if it is gone, learn again"
            )
        reason = f"learnt from {asked.reviews} reviews, run {asked.run}"
        await promote(settings, live, result, asked.scorer, Signature(by, reason))
    await end_shadow(settings, asked.revision, by)
    return await say(publisher, settings, following(asked, "promoted", by=by))


async def end_shadow(settings: Settings, revision: str | None, by: str) -> None:
    """Let the scorer of ``revision`` judge beside the live one no longer, if it does."""
    held = (await releases_in_force(settings)).releases.get("shadow")
    if held and held.scorer and held.revision == revision:
        signed = Signature(by, "it was decided on")
        await release(settings, signed, slot="shadow", scorer=None, revision=None)


async def named_by_releases(settings: Settings) -> set[str]:
    """The scorers that decide, shadow, or would decide after a rollback."""
    held = (await releases_in_force(settings)).releases.values()
    names = [name for one in held for name in (one.scorer, one.previous) if name]
    return {ScorerSpec.parse(name).values for name in names}


async def python(arguments: Sequence[str]) -> int:
    """Run Python until it ends; it ends with the process that waits."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, preexec_fn=die_with_parent
    )
    try:
        return await process.wait()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        raise


def _figures(path: Path) -> object:
    """How many records a replay compared, which decisions it changed, what passes without a person
    on both sides, and how much of it is wrong, from its report."""
    try:
        report = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    sides = {
        side: {"passed": (report.get(side) or {}).get("passed"), "risk": report.get(f"risk_{side}")}
        for side in ("before", "after")
    }
    return {"compared": report.get("compared"), "flips": report.get("flips") or (), **sides}
