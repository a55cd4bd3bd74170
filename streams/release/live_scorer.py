"""The score role with the scorer that is released: taken at start, exchanged between batches.

A worker scores with what was released or not at all. Where the released scorer cannot be loaded,
or is another than was released (its revision differs), the role stops without committing and says
why: fail closed. Until all workers exchanged it, verdicts of both scorers appear side by side.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import structlog

from safepassage.schemas import Assessment
from safepassage.schemas.decision_rule import in_mode

from ..runtime.threads import in_daemon_thread
from ..settings import Settings
from .releases import InForce, ReleaseRefused, follow_releases
from .shadow import ShadowScoring

if TYPE_CHECKING:
    from safepassage.scoring_worker import Pair, Scorer

log = structlog.get_logger(__name__)

Load = Callable[[str], "Scorer"]
Prepare = Callable[["Scorer"], Awaitable[None]]

WARM_UP = ("The tenant paid 1,250 euros in May.", "Rent: 1,250 euros", "Rent", "1,250 euros")


class LiveScorer:
    """The scorer in force. ``prepare`` is awaited for a scorer before it is put into force."""

    def __init__(self, load: Load, prepare: Prepare | None = None) -> None:
        self._load = load
        self._prepare = prepare
        self._scorer: Scorer | None = None
        self._between_batches = asyncio.Lock()

    @property
    def revision(self) -> str | None:
        """Of the scorer in force, as releases name it; None before the first."""
        return in_mode(self._scorer.revision, strict=False) if self._scorer else None

    async def change_to(self, name: str, revision: str | None, *, withdrawn: bool = False) -> None:
        """Load and warm up the scorer beside the one in force, then exchange them between batches.
        Where the one in force is ``withdrawn``, it judges no further batch: judging waits for the
        other. A process that stops does not wait for it.

        ``revision`` is what was released; None takes any revision of that name."""
        if revision is not None and revision == self.revision:
            return
        async with contextlib.AsyncExitStack() as judging_waits:
            if withdrawn:
                await judging_waits.enter_async_context(self._between_batches)
                self.close()  # nor does it judge again where the other cannot be loaded
            candidate = await in_daemon_thread(partial(self._loaded, name, revision))
            if self._prepare:
                await self._prepare(candidate)
            if not withdrawn:
                await judging_waits.enter_async_context(self._between_batches)
            self.close()
            self._scorer = candidate
        log.info("scorer_in_force", scorer=name, revision=candidate.revision)

    def _loaded(self, name: str, revision: str | None) -> Scorer:
        candidate = load_released(self._load, name, revision)
        warm_up(candidate)
        return candidate

    async def assess(self, pairs: Sequence[Pair]) -> Sequence[Assessment]:
        """Judge a batch, off the event loop. Raises `RuntimeError` where a pair has no answer."""
        async with self._between_batches:
            scorer = self._scorer
            if scorer is None:
                raise ReleaseRefused("no scorer is in force")
            assessments = await asyncio.to_thread(scorer.assess, pairs)
        if len(assessments) != len(pairs):
            raise RuntimeError(f"{scorer.name} gave {len(assessments)} of {len(pairs)} scores")
        return assessments

    def close(self) -> None:
        scorer, self._scorer = self._scorer, None
        if scorer:
            scorer.close()


def load_released(load: Load, name: str, revision: str | None) -> Scorer:
    """The scorer ``name``, which must be of ``revision`` where one is given."""
    advice = "put it where the workers find it, or run `safepassage rollback`"
    scorer = _loaded(load, name, "released scorer", advice)
    if revision is not None and in_mode(scorer.revision, strict=False) != revision:
        scorer.close()
        raise ReleaseRefused(
            f"scorer {name!r} has revision {scorer.revision} here, but {revision} was released; "
            "copy the released model here, or run `safepassage rollback`"
        )
    return scorer


def load_candidate(load: Load, name: str) -> Scorer:
    return _loaded(load, name, "candidate", "give the name or the folder of a scorer")


def _loaded(load: Load, name: str, what: str, advice: str) -> Scorer:
    try:
        return load(name)
    except (ImportError, LookupError, OSError, RuntimeError, ValueError) as error:
        raise ReleaseRefused(f"the {what} {name!r} cannot be loaded: {error}; {advice}") from error


def warm_up(scorer: Scorer) -> None:
    """Score one pair, so that no batch waits for what is loaded on first use.

    A pair that fails is logged and no more: an endpoint may be away for a moment, and a scorer
    that goes on failing opens the circuit breaker."""
    from safepassage.scoring_worker import Pair  # noqa: PLC0415 - torch: seconds, and only this role's

    try:
        (assessment,) = scorer.assess([Pair(*WARM_UP)])
    except (RuntimeError, ValueError) as error:
        raise ReleaseRefused(
            f"scorer {scorer.name!r} is broken: {type(error).__name__} on a plain pair; run "
            "`safepassage doctor`, or `safepassage rollback`"
        ) from error
    if assessment.failure:
        log.warning("warm_up_failed", scorer=scorer.name, reason=assessment.failure)


async def follow_scorers(
    settings: Settings, held: InForce, live: LiveScorer, shadow: ShadowScoring
) -> None:
    """Put what is released after ``held`` into force, without end."""
    async for release in follow_releases(settings, held):
        if release.slot == "shadow":
            shadow.change_to(release.scorer, release.revision)
        elif release.scorer is None:
            raise ReleaseRefused("a live release names no scorer; run `safepassage rollback`")
        else:
            # Only a promotion names what was live before it.
            back = release.previous is None
            await live.change_to(release.scorer, release.revision, withdrawn=back)
