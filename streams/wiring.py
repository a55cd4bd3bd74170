"""Puts the roles together with what they need: delivery, clients, models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from safepassage.schemas import Assessment

from .agent_factory import document_store, new_extractor
from .delivery.circuit_breaker import CircuitBreaker
from .delivery.record_outcomes import Delivery, Role
from .delivery.role_with_follower import Beside
from .kafka.point_reader import point_reader
from .kafka.publisher import Publisher
from .runtime.progress import Progress
from .settings import Settings
from .topics import ROLE_NAMES

if TYPE_CHECKING:
    from safepassage.scoring_worker import Pair, Scorer

    from .delivery.role_with_follower import Source
    from .verdicts.standing_decisions import StandingDecisions

# Models and their libraries take seconds to import: a role imports what it uses, when it starts.
# ruff: noqa: PLC0415

Assess = Callable[[Sequence["Pair"]], Awaitable[Sequence[Assessment]]]


async def sources(
    roles: Sequence[str], publisher: Publisher, settings: Settings, resources: AsyncExitStack
) -> list[Source]:
    """The roles of one process, ready to run, which obey erasures. What they open is closed with
    ``resources``. Raises `ValueError` where there is no such role."""
    from .kafka.reading import follow_erasures, read_erasures

    await read_erasures(settings)
    first, *others = [await source(role, publisher, settings, resources) for role in roles]
    # What is erased is known to the process: beside one role it is followed for all.
    return [Beside(first, lambda: follow_erasures(settings)), *others]


async def source(  # noqa: PLR0911 - a role each
    role: str, publisher: Publisher, settings: Settings, resources: AsyncExitStack
) -> Source:
    """A role ready to run, which obeys the erasures that are followed beside it. What it opens is
    closed with ``resources``. Raises `ValueError` where there is no such role."""
    match role:
        case "extract":
            return await _extract(publisher, settings, resources)
        case "align":
            return await _align(publisher, settings, resources)
        case "score":
            return await _score(publisher, settings, resources)
        case "report":
            from .report.report_source import ReportSource

            return ReportSource(publisher, settings)
        case "audit":
            from .audit.audit_source import AuditSource

            return AuditSource(publisher, settings)
        case "drift":
            from .delivery.batch_source import BatchSource
            from .drift.role import DriftDetector, drift_role

            drift = drift_role(DriftDetector())
            return BatchSource(drift, delivery(drift, publisher, settings).handle, settings)
        case "realign":
            from .realignment.role import RealignSource, ValuesStore, realign_role

            values = ValuesStore()
            realign = realign_role(values, settings)
            return RealignSource(
                realign, delivery(realign, publisher, settings).handle, settings, values
            )
        case "review":
            from .console import ReviewSource
            from .learning.candidates import Candidates

            store = await document_store(settings, resources)
            points = point_reader(settings, resources)
            candidates = Candidates(publisher, settings)
            return ReviewSource(publisher, settings, store, points, candidates)
        case "learn":
            from .learning.learning_source import LearnSource

            return LearnSource(publisher, settings)
        case _:
            raise ValueError(f"no role {role!r}; there are: {', '.join(ROLE_NAMES)}")


def delivery(role: Role, publisher: Publisher, settings: Settings) -> Delivery:
    breaker = CircuitBreaker(
        consecutive=settings.breaker_consecutive,
        ratio=settings.breaker_ratio,
        window=settings.breaker_window,
    )
    models = {settings.topic(topic.name): topic.model for topic in role.topics}
    return Delivery(role, publisher, breaker, models)


async def _extract(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from .delivery.faust_source import FaustSource
    from .delivery.llm_warnings import LLMWarnings
    from .topology import extract_role

    progress = Progress("extract")
    told = LLMWarnings(publisher).told
    extractor = new_extractor(settings, resources, progress.within, told)
    role = extract_role(
        extractor,
        await document_store(settings, resources),
        max_characters=settings.max_document_characters,
        lanes=settings.llm_concurrency,
    )
    return FaustSource(role, delivery(role, publisher, settings), settings, progress)


async def _align(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from safepassage.pipeline import new_aligner

    from .delivery.faust_source import FaustSource
    from .topology import align_role

    aligner = new_aligner(settings)
    resources.callback(aligner.close)
    decisions = await _decisions(settings, resources)
    store = await document_store(settings, resources)
    role = align_role(aligner, store, settle=decisions.settle)
    source = FaustSource(role, delivery(role, publisher, settings), settings)
    return Beside(source, partial(decisions.follow, settings))


async def _score(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from safepassage.scoring_worker import load_scorer

    load = partial(load_scorer, packs=settings.packs, strict=settings.strict)
    return await score_source(load, publisher, settings, resources)


async def score_source(
    load: Callable[[str], Scorer],
    publisher: Publisher,
    settings: Settings,
    resources: AsyncExitStack,
) -> Source:
    """The score role with the released scorer, or with SAFEPASSAGE_SCORER where none is."""

    from .delivery.batch_source import BatchSource
    from .memory.live import LiveMemory
    from .release.live_scorer import LiveScorer, follow_scorers
    from .release.releases import releases_in_force
    from .release.shadow import ShadowScoring
    from .topology import score_role

    held = await releases_in_force(settings)
    released, shadowed = held.live, held.releases.get("shadow")
    decisions = await _decisions(settings, resources)
    memory = LiveMemory(decisions, publisher, settings)
    live, shadow = LiveScorer(load, memory.prepare), ShadowScoring(publisher, load)
    resources.callback(live.close)
    if released and released.scorer:
        await live.change_to(released.scorer, released.revision)
    else:
        await live.change_to(settings.judge, None)
    if shadowed:
        shadow.change_to(shadowed.scorer, shadowed.revision)
    else:
        shadow.change_to(settings.shadow_scorer, None)
    role = score_role(
        live.assess,
        batch=settings.score_batch_records,
        observe=shadow.offer,
        settle=decisions.settle,
    )
    return Beside(
        BatchSource(role, delivery(role, publisher, settings).handle, settings),
        partial(decisions.follow, settings),
        partial(follow_scorers, settings, held, live, shadow),
        memory.run,
        shadow.run,
    )


async def _decisions(settings: Settings, resources: AsyncExitStack) -> StandingDecisions:
    from .verdicts.standing_decisions import StandingDecisions

    decisions = StandingDecisions()
    resources.callback(decisions.close)
    return await decisions.read(settings)


def assess_off_the_loop(scorer: Scorer) -> Assess:
    """The scorer's blocking `assess` in a thread, so that the worker keeps answering Kafka."""

    async def assess(pairs: Sequence[Pair]) -> Sequence[Assessment]:
        assessments = await asyncio.to_thread(scorer.assess, pairs)
        if len(assessments) != len(pairs):
            raise RuntimeError(f"{scorer.name} gave {len(assessments)} of {len(pairs)} scores")
        return assessments

    return assess
