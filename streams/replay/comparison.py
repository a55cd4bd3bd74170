"""Two sets of verdicts on the same extractions: what changed, and who was right.

Three passes over the topics, so that memory holds one small `SideOutcome` per extraction and side,
and whole verdicts only of the examples.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from safepassage.schemas import Decision, Reason, Verdict
from safepassage.scoring_worker.evaluation.distributions import (
    histogram,
    ks_distance,
    population_stability,
)
from safepassage.scoring_worker.learnt_from import DigestKeyMissing, LearntFrom
from safepassage.scoring_worker.risk.accepted import ACCEPTED, STOPPED, AcceptedRisk
from safepassage.scoring_worker.risk.strata import DrawnLabel

from ..kafka.records import Received
from ..labels.from_reviews import Label, labels, read_reviews, reviewed_cases
from ..settings import Settings
from ..topics import Topic
from ..verdicts.deduplication import VERDICT_TOPICS, read_verdicts
from ..verdicts.latest import LatestPerExtraction
from .report_schema import (
    Cost,
    Example,
    Flip,
    LabelAgreement,
    Measured,
    Rate,
    ReplayReport,
    ScoreChange,
    Side,
)

UNKNOWN_MODEL = "(not recorded)"


@dataclass(frozen=True, slots=True)
class SideOutcome:
    """What one side said of an extraction."""

    decision: Decision
    reasons: tuple[Reason, ...]
    score: float | None
    entity_type: str
    model: str
    revision: str | None
    usd: float | None
    milliseconds: float | None

    @classmethod
    def of(cls, verdict: Verdict) -> SideOutcome:
        usages = [trail.usage for trail in verdict.scorers if trail.usage]
        prices = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return cls(
            decision=verdict.decision,
            reasons=verdict.reasons,
            score=verdict.score,
            entity_type=verdict.entity_type,
            model=verdict.extractor.model if verdict.extractor else UNKNOWN_MODEL,
            revision=verdict.scorer_revision,
            usd=sum(prices) if prices else None,
            milliseconds=sum(usage.milliseconds for usage in usages) if usages else None,
        )


OneSide = Mapping[str, SideOutcome]
Flipped = tuple[SideOutcome, SideOutcome]


def certified_risks(
    before: OneSide,
    after: OneSide,
    labels: Sequence[Label],
    settings: Settings,
    learnt: LearntFrom | None,
) -> tuple[AcceptedRisk, AcceptedRisk]:
    """The risk of what ``before`` lets pass, and of what ``after`` does. Labels of documents that
    the candidate ``learnt`` from say nothing of it."""
    drawn = [
        label
        for label in labels
        if label.kind == "spot_check" or (label.kind == "review" and label.draw is not None)
    ]
    newly = sum(before[i].decision != "accepted" == after[i].decision for i in before)
    live = _risk(before, drawn, 0, settings)
    lacking = "the candidate does not say which documents it learnt from"
    if learnt is not None:
        try:
            fair = [label for label in drawn if not _knows(learnt, label)]
            return live, _risk(after, fair, newly, settings)
        except DigestKeyMissing as error:
            lacking = str(error)
    return live, AcceptedRisk(
        confidence=settings.risk_confidence, asked=settings.risk, lacking=lacking
    )


def _knows(learnt: LearntFrom, label: Label) -> bool:
    passages = [label.verdict.passage] if label.verdict.passage else []
    return learnt.knows(label.verdict.doc_id, passages)


def _risk(side: OneSide, labels: Sequence[Label], newly: int, settings: Settings) -> AcceptedRisk:
    drawn = [
        DrawnLabel(
            ACCEPTED if opinion.decision == "accepted" else STOPPED,
            wrong=not label.label,
            accepted=label.kind == "spot_check",
            draw=label.draw,
        )
        for label in labels
        if (opinion := side.get(label.verdict.extraction_id)) is not None
    ]
    return AcceptedRisk.of(drawn, newly, confidence=settings.risk_confidence, asked=settings.risk)


EXAMPLES_PER_FLIP = 3


async def compare(
    settings: Settings,
    after: Topic,
    *,
    before: Sequence[Topic] = VERDICT_TOPICS,
    subject: str,
    run: Measured | None = None,
    revision: str | None = None,
    learnt: LearntFrom | None = None,
) -> ReplayReport:
    """The report on the verdicts of topic ``after`` against the live ones, or on those of one
    scorer's ``revision``: a topic may hold the verdicts of several candidates. What the candidate
    ``learnt`` from certifies nothing of it; None: it does not say.

    What a person decided is no side of the comparison but its measure."""
    candidates = await _outcomes(settings, [after], revision=revision)
    old = await _outcomes(settings, before, only=candidates.keys())
    new = {extraction_id: candidates[extraction_id] for extraction_id in old}
    reviews, _ = await read_reviews(settings)
    every = [label for case in reviewed_cases(reviews) for label in labels(case)]
    said = [label for label in every if label.kind != "correction"]
    gold = {label.verdict.extraction_id: label.label for label in said}
    flipped = {i: (old[i], new[i]) for i in old if old[i].decision != new[i].decision}
    scores = [
        histogram(o.score for o in side.values() if o.score is not None) for side in (old, new)
    ]
    risk_before, risk_after = certified_risks(old, candidates, said, settings, learnt)
    return ReplayReport(
        subject=subject,
        compared=len(old),
        unmatched=len(candidates) - len(old),
        before=_side(old.values()),
        after=_side(new.values()),
        flips=_count_flips(flipped.values(), lambda _old, _new: ""),
        flips_by_type=_count_flips(flipped.values(), lambda _old, new: new.entity_type),
        flips_by_model=_count_flips(flipped.values(), lambda _old, new: new.model),
        flips_by_reason=_count_flips(flipped.values(), _why),
        examples=await _examples(settings, after, _most_moved(flipped), gold, revision),
        scores=ScoreChange(
            before=tuple(scores[0]),
            after=tuple(scores[1]),
            population_stability=population_stability(*scores),
            ks_distance=ks_distance(*scores),
        ),
        agreement_before=_agreement(old, gold),
        agreement_after=_agreement(new, gold),
        risk_before=risk_before,
        risk_after=risk_after,
        run=run,
    )


async def _judged(
    settings: Settings, topics: Sequence[Topic], revision: str | None
) -> AsyncIterator[Received[Verdict]]:
    """What scorers said, or the one of ``revision``: a person's decision is no side."""
    async for result in read_verdicts(settings, topics):
        if not isinstance(result, Received) or result.event.review:
            continue
        if revision in (None, result.event.scorer_revision):
            yield result


async def _outcomes(
    settings: Settings,
    topics: Sequence[Topic],
    only: Collection[str] | None = None,
    *,
    revision: str | None = None,
) -> dict[str, SideOutcome]:
    latest = LatestPerExtraction()
    outcomes: dict[str, SideOutcome] = {}
    async for result in _judged(settings, topics, revision):
        if only is None or result.event.extraction_id in only:
            latest.note(result)
            if latest.holds(result):
                outcomes[result.event.extraction_id] = SideOutcome.of(result.event)
    return outcomes


def _most_moved(flipped: Mapping[str, Flipped]) -> dict[str, SideOutcome]:
    """Of each kind of flip and type the ones whose scores moved most, with what was said before."""
    groups: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for extraction_id, (old, new) in flipped.items():
        moved = abs((new.score or 0.0) - (old.score or 0.0))
        groups[old.decision, new.decision, new.entity_type].append((-moved, extraction_id))
    ordered = (sorted(group)[:EXAMPLES_PER_FLIP] for _, group in sorted(groups.items()))
    return {one: flipped[one][0] for group in ordered for _, one in group}


async def _examples(
    settings: Settings,
    topic: Topic,
    chosen: Mapping[str, SideOutcome],
    gold: Mapping[str, int],
    revision: str | None,
) -> tuple[Example, ...]:
    found: dict[str, Example] = {}
    if not chosen:
        return ()
    async for result in _judged(settings, [topic], revision):
        verdict = result.event
        if (old := chosen.get(verdict.extraction_id)) is None:
            continue
        label = gold.get(verdict.extraction_id)
        found[verdict.extraction_id] = Example(
            extraction_id=verdict.extraction_id,
            doc_id=verdict.doc_id,
            entity_type=verdict.entity_type,
            hypothesis=verdict.hypothesis,
            passage=verdict.passage,
            before=old.decision,
            after=verdict.decision,
            reasons_before=old.reasons,
            reasons_after=verdict.reasons,
            score_before=old.score,
            score_after=verdict.score,
            reviewed=None if label is None else ("supports" if label else "insufficient"),
        )
    return tuple(found[identity] for identity in chosen if identity in found)


def _side(outcomes: Collection[SideOutcome]) -> Side:
    prices = [o.usd for o in outcomes if o.usd is not None]
    times = [o.milliseconds for o in outcomes if o.milliseconds is not None]
    decisions = Counter(o.decision for o in outcomes)
    return Side(
        revisions=dict(Counter(o.revision or "unscored" for o in outcomes)),
        decisions=dict(decisions),
        reasons=dict(Counter(reason for o in outcomes for reason in o.reasons)),
        cost=Cost(
            usd=sum(prices) if prices else None, mean_milliseconds=fmean(times) if times else None
        ),
        passed=Rate.of(decisions["accepted"], len(outcomes)),
    )


def _why(old: SideOutcome, new: SideOutcome) -> str:
    """The reasons that came, or those that went where it was let through."""
    return ", ".join(new.reasons) if new.reasons else f"no longer {', '.join(old.reasons)}"


def _count_flips(
    flipped: Iterable[Flipped], group: Callable[[SideOutcome, SideOutcome], str]
) -> tuple[Flip, ...]:
    counts: Counter[tuple[str, Decision, Decision]] = Counter()
    for old, new in flipped:
        counts[group(old, new), old.decision, new.decision] += 1
    return tuple(
        Flip(group=name, before=old, after=new, count=count)
        for (name, old, new), count in sorted(counts.items(), key=lambda c: (-c[1], c[0]))
    )


def _agreement(outcomes: OneSide, gold: Mapping[str, int]) -> LabelAgreement:
    cells: Counter[tuple[bool, int]] = Counter(
        (outcomes[i].decision == "accepted", label) for i, label in gold.items() if i in outcomes
    )
    passed, leaked = cells[True, 1], cells[True, 0]
    lost, caught = cells[False, 1], cells[False, 0]
    return LabelAgreement(
        accepted_supported=passed,
        accepted_unsupported=leaked,
        stopped_supported=lost,
        stopped_unsupported=caught,
        agreeing=Rate.of(passed + caught, cells.total()),
        recall=Rate.of(caught, caught + leaked),
        precision=Rate.of(caught, caught + lost),
    )
