"""The figures of an evaluation as they are printed and written as JSON."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import Field

from safepassage.schemas import Usage
from safepassage.schemas.base import Contract

from .judgement import Evaluation, JudgedCase
from .metrics import Counted, Metrics, count, measure


class EvaluationResult(Metrics):
    """One scorer on one data set.

    ``labels`` says who gave the labels. ``threshold`` is the commonest of those that were
    applied, ``thresholds`` has them by entity type. ``reasons`` counts why cases were not
    accepted; ``undetermined`` of them could not be judged, and count as flagged as they would
    in production. ``refused`` rows could not be read, ``unlabelled`` ones have no label.
    ``scorers`` counts the pairs that each scorer of a cascade was asked.
    """

    dataset: str
    dataset_kind: str
    labels: str
    scorer: str
    revision: str
    threshold: float | None
    thresholds: dict[str, float]
    pairs: int
    pairs_per_second: float | None
    latency_ms_p50: float | None
    latency_ms_p99: float | None
    reasons: dict[str, int]
    undetermined: int
    refused: int
    unlabelled: int
    scorers: dict[str, int]
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    by_type: dict[str, Counted] = Field(default_factory=dict)
    by_kind: dict[str, Counted] = Field(default_factory=dict)


class EvaluationReport(Contract):
    """What ``evaluate --json`` writes: one result for each data set and scorer."""

    version: Literal[1] = 1
    results: tuple[EvaluationResult, ...]


def result_of(evaluation: Evaluation) -> EvaluationResult:
    """All figures of one evaluation."""
    dataset, outcomes, timing = evaluation.dataset, evaluation.outcomes, evaluation.timing
    metrics = measure(
        supported=[one.case.supported for one in outcomes],
        accepted=[one.accepted for one in outcomes],
        doubt=[one.doubt for one in outcomes],
        groups=[one.case.group for one in outcomes],
    )
    asked = Counter(trail.scorer for one in evaluation.assessments for trail in one.trail)
    applied = _applied_thresholds(evaluation)
    return EvaluationResult(
        **metrics.model_dump(),
        dataset=dataset.name,
        dataset_kind=dataset.kind,
        labels=dataset.labels,
        scorer=evaluation.scorer,
        revision=evaluation.revision,
        threshold=_commonest(threshold for _, threshold in applied),
        thresholds=dict(sorted(set(applied))),
        pairs=timing.pairs,
        pairs_per_second=timing.pairs_per_second,
        latency_ms_p50=timing.percentile(50),
        latency_ms_p99=timing.percentile(99),
        reasons=dict(sorted(Counter(one.reason for one in outcomes if one.reason).items())),
        undetermined=sum(one.undetermined for one in outcomes),
        refused=len(dataset.refused),
        unlabelled=dataset.unlabelled,
        scorers=dict(sorted(asked.items())),
        input_tokens=sum(usage.input_tokens for usage in evaluation.usages),
        output_tokens=sum(usage.output_tokens for usage in evaluation.usages),
        cost_usd=_cost(evaluation.usages),
        by_type=_broken_down(outcomes, lambda one: one.case.entity_type),
        by_kind=_broken_down(outcomes, lambda one: one.case.kind),
    )


def _applied_thresholds(evaluation: Evaluation) -> list[tuple[str, float]]:
    pairs = zip(evaluation.dataset.pairs, evaluation.assessments, strict=True)
    return [(pair.entity_type, a.threshold) for pair, a in pairs if a.threshold is not None]


def _commonest(thresholds: Iterable[float]) -> float | None:
    found = Counter(thresholds).most_common(1)
    return found[0][0] if found else None


def _cost(usages: Sequence[Usage]) -> float | None:
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return sum(costs) if usages and len(costs) == len(usages) else None


def _broken_down(
    outcomes: Iterable[JudgedCase], key: Callable[[JudgedCase], str | None]
) -> dict[str, Counted]:
    groups: dict[str, list[JudgedCase]] = defaultdict(list)
    for one in outcomes:
        if name := key(one):
            groups[name].append(one)
    return {
        name: count([one.case.supported for one in members], [one.accepted for one in members])
        for name, members in sorted(groups.items())
    }
