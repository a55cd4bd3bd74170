"""Promote, roll back, shadow: releases, and the gold labels that a promotion must pass."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from safepassage.pipeline import align_with, new_aligner
from safepassage.schemas import AlignedExtraction, Response, ScorerRelease, Verdict
from safepassage.scoring_worker import Scorer
from safepassage.scoring_worker.evaluation.cases import LabelledCase, part_of_reviewed
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.sources import Sources, read_documents
from safepassage.scoring_worker.learnt_from import said_by
from safepassage.scoring_worker.scorer_spec import ScorerSpec

from ..labels.from_reviews import Label, labels, read_reviews, reviewed_cases
from ..settings import Settings
from .live_scorer import Load, load_candidate, load_released
from .promotion_bounds import Bounds, PromotionResult, judge_candidate
from .releases import ReleaseLost, ReleaseRefused, Slot, publish_release, releases_in_force


@dataclass(frozen=True, slots=True)
class Incumbent:
    """The scorer that decides now. ``revision`` is None where none was ever released."""

    name: str
    revision: str | None


@dataclass(frozen=True, slots=True)
class Signature:
    """Who releases, and why."""

    by: str
    reason: str


def absolute(scorer: str) -> str:
    """A folder's name as every worker has to spell it, also of weights; others as they are."""
    spec = ScorerSpec.parse(scorer)
    return str(replace(spec, values=_absolute(spec.values), weights=_absolute(spec.weights)))


def _absolute(name: str) -> str:
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name and folder.is_dir() else name


async def incumbent(settings: Settings) -> Incumbent:
    held = (await releases_in_force(settings)).live
    if held and held.scorer:
        return Incumbent(held.scorer, held.revision)
    return Incumbent(settings.judge, None)


async def reviewed_gold(settings: Settings) -> list[LabelledCase]:
    """The standing reviews as labelled cases, corrections included as supported ones.

    Quotes that were not found are left out: no scorer ever sees them.
    """
    reviews, _ = await read_reviews(settings)
    found = [label for case in reviewed_cases(reviews) for label in labels(case)]
    return [case_of(label) for label in found if label.asked]


def labelled_gold(
    paths: Sequence[Path], documents: Sequence[Path], settings: Settings
) -> list[LabelledCase]:
    """Files of labelled extractions (aligned here, as when they are live) or pairs, as cases.
    Raises `ValueError` where a file cannot be read as labels."""
    aligner = new_aligner(settings)

    def ground(_response: Response, _as_one: bool) -> Sequence[AlignedExtraction | Verdict]:
        raise ReleaseRefused("a promotion takes labelled extractions or pairs, not answers")

    try:
        sources = Sources(read_documents(documents), partial(align_with, aligner), ground)
        return [case for path in paths for case in read_dataset(path, sources).cases]
    finally:
        aligner.close()


def judged_against(
    live: Incumbent, candidate: str, cases: Sequence[LabelledCase], bounds: Bounds, load: Load
) -> PromotionResult:
    with (
        closing(load_released(load, live.name, live.revision)) as old,
        closing(load_candidate(load, candidate)) as new,
    ):
        return compare(cases, old, new, bounds)


async def promote(
    settings: Settings, live: Incumbent, result: PromotionResult, candidate: str, signed: Signature
) -> ScorerRelease:
    if not result.passed:
        raise ReleaseRefused("the candidate does not meet the bounds; nothing was changed")
    if await incumbent(settings) != live:
        raise ReleaseRefused("another scorer went live meanwhile; compare with that one")
    return await release(
        settings,
        signed,
        slot="live",
        scorer=candidate,
        revision=result.candidate.revision,
        previous=live.name,
        previous_revision=result.incumbent.revision,
    )


async def rollback(settings: Settings, signed: Signature) -> ScorerRelease:
    last = (await releases_in_force(settings)).live
    if last is None or last.previous is None:
        why = "nothing was promoted yet" if last is None else "the last release was a rollback"
        raise ReleaseRefused(f"there is nothing to roll back to: {why}")
    return await release(
        settings, signed, slot="live", scorer=last.previous, revision=last.previous_revision
    )


async def reinstate(
    settings: Settings, scorer: str, load: Load, signed: Signature
) -> ScorerRelease:
    """Say again which scorer is live, where the topic has lost it."""
    held = await releases_in_force(settings)
    try:
        live = held.live
    except ReleaseLost:
        pass
    else:
        known = live.scorer if live else f"{settings.judge}, as configured"
        raise ReleaseRefused(f"nothing is lost: live is {known}; use `safepassage promote`")
    revision = await _revision_of(scorer, load)
    return await release(settings, signed, slot="live", scorer=scorer, revision=revision)


async def shadow(
    settings: Settings, candidate: str | None, load: Load, signed: Signature
) -> ScorerRelease:
    revision = await _revision_of(candidate, load) if candidate is not None else None
    return await release(settings, signed, slot="shadow", scorer=candidate, revision=revision)


async def _revision_of(scorer: str, load: Load) -> str:
    loaded = await asyncio.to_thread(load_candidate, load, scorer)
    loaded.close()
    return loaded.revision


async def release(
    settings: Settings,
    signed: Signature,
    *,
    slot: Slot,
    scorer: str | None,
    revision: str | None,
    previous: str | None = None,
    previous_revision: str | None = None,
) -> ScorerRelease:
    """Put ``scorer`` into force in ``slot``; None ends the shadow."""
    made = ScorerRelease(
        slot=slot,
        scorer=scorer,
        revision=revision,
        previous=previous,
        previous_revision=previous_revision,
        released_at=datetime.now(UTC),
        released_by=signed.by,
        reason=signed.reason,
    )
    await publish_release(settings, made)
    return made


def compare(
    cases: Sequence[LabelledCase], old: Scorer, new: Scorer, bounds: Bounds
) -> PromotionResult:
    """Judge ``new`` against ``old`` on the cases that it has not learnt from."""
    if old.revision == new.revision:
        raise ReleaseRefused(f"revision {new.revision} is live already")
    learnt = said_by(new)
    if learnt is None:
        raise ReleaseRefused(
            f"the candidate {new.name!r} does not say which documents it learnt from, so nothing "
            "shows that it is not tested on them; train or calibrate it again with this version"
        )
    try:
        seen = [learnt.knows(case.group, (pair.premise for pair in case.pairs)) for case in cases]
    except ValueError as error:
        raise ReleaseRefused(str(error)) from error
    fair = [case for case, known in zip(cases, seen, strict=True) if not known]
    if not fair:
        raise ReleaseRefused(
            f"the candidate learnt from the documents of all {len(cases)} gold labels; a test "
            "needs labels of other documents"
        )
    result = judge_candidate(fair, old, new, bounds)
    return result.model_copy(update={"learnt": len(cases) - len(fair)})


def case_of(label: Label) -> LabelledCase:
    """A label as the test of a promotion takes it: with the stream's own question."""
    verdict = label.verdict
    return LabelledCase(
        id=verdict.extraction_id,
        group=verdict.doc_id,
        supported=bool(label.label),
        entity_type=verdict.entity_type,
        parts=(part_of_reviewed(verdict, label.value),),
        kind=label.kind,
        draw=label.draw,
    )
