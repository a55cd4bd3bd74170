"""Runs one scorer over one data set: the decision on every case, timed."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safepassage.passages.granularity import over_claims
from safepassage.schemas import Assessment, Reason, Usage
from safepassage.scoring_worker.scorer import Pair, Scorer

from .cases import Dataset, LabelledCase, Lost
from .sources import OnProgress

BATCH = 512
LATENCY_SAMPLE = 200
LATENCY_SECONDS = 10.0
"""Pairs that are scored alone, one after the other, for the latency figures, and for how long."""

NO_SCORE = 2.0
"""The doubt of a case without a score: more than that of any score in [0, 1]."""


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The decision on one case. ``score`` is that of its least supported part; None where a
    part was lost or could not be scored, which is then the ``reason``."""

    case: LabelledCase
    accepted: bool
    score: float | None
    reason: Reason | None = None
    undetermined: bool = False

    @property
    def doubt(self) -> float:
        """1 - score, and above 1 without a score: such a case is never accepted."""
        return NO_SCORE if self.score is None else 1.0 - self.score


@dataclass(frozen=True, slots=True)
class Timing:
    """``seconds`` for all ``pairs`` in batches, and milliseconds of single ones."""

    pairs: int
    seconds: float
    latencies: tuple[float, ...]

    @property
    def pairs_per_second(self) -> float | None:
        """None where no pair was scored."""
        return self.pairs / self.seconds if self.pairs and self.seconds else None

    def percentile(self, share: float) -> float | None:
        """Milliseconds that ``share`` per cent of single pairs stay below."""
        return float(np.percentile(self.latencies, share)) if self.latencies else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All cases of a data set as one scorer judged them; ``scorer`` is what it was asked for by.

    ``assessments`` are in the order of ``dataset.pairs``.
    """

    dataset: Dataset
    scorer: str
    revision: str
    outcomes: tuple[JudgedCase, ...]
    assessments: tuple[Assessment, ...]
    timing: Timing

    @property
    def usages(self) -> list[Usage]:
        """What each call to an LLM took."""
        return [trail.usage for one in self.assessments for trail in one.trail if trail.usage]


def evaluate(
    dataset: Dataset, scorer: Scorer, *, name: str, on_progress: OnProgress, latency: bool = True
) -> Evaluation:
    """Score every pair of ``dataset``, and some alone for their ``latency``. Raises `RuntimeError`
    where the scorer gave another number of assessments than it got pairs."""
    pairs = dataset.pairs
    _assess(scorer, pairs[:1])  # what is loaded on first use is not timed
    started = time.perf_counter()
    assessments: list[Assessment] = []
    for start in range(0, len(pairs), BATCH):
        assessments += _assess(scorer, pairs[start : start + BATCH])
        on_progress("pairs scored", len(assessments), len(pairs))
    seconds = time.perf_counter() - started
    answers = iter(assessments)
    latencies = _latencies(scorer, pairs, assessments) if latency else ()
    return Evaluation(
        dataset=dataset,
        scorer=name,
        revision=scorer.revision,
        outcomes=tuple(_outcome(case, answers) for case in dataset.cases),
        assessments=tuple(assessments),
        timing=Timing(len(pairs), seconds, latencies),
    )


def _assess(scorer: Scorer, pairs: Sequence[Pair]) -> list[Assessment]:
    assessments = scorer.assess(pairs) if pairs else []
    if len(assessments) != len(pairs):
        raise RuntimeError(f"{scorer.name} gave {len(assessments)} of {len(pairs)} assessments")
    return assessments


def _latencies(
    scorer: Scorer, pairs: Sequence[Pair], assessments: Sequence[Assessment]
) -> tuple[float, ...]:
    """Milliseconds of single pairs. Calls to an LLM were timed already, and cost money."""
    paid = [trail.usage.milliseconds for a in assessments for trail in a.trail if trail.usage]
    if paid:
        return tuple(paid)
    latencies: list[float] = []
    step = max(1, len(pairs) // LATENCY_SAMPLE)
    for pair in pairs[::step][:LATENCY_SAMPLE]:
        if sum(latencies) > LATENCY_SECONDS * 1_000:
            break
        started = time.perf_counter()
        _assess(scorer, [pair])
        latencies.append((time.perf_counter() - started) * 1_000)
    return tuple(latencies)


def _outcome(case: LabelledCase, answers: Iterator[Assessment]) -> JudgedCase:
    parts = [part if isinstance(part, Lost) else _part(next(answers)) for part in case.parts]
    lost = [part for part in parts if isinstance(part, Lost)]
    if lost:
        undetermined = any(part.undetermined for part in lost)
        return JudgedCase(case, False, None, lost[0].reason, undetermined=undetermined)
    scored = [part for part in parts if isinstance(part, tuple)]
    accepted = all(score >= threshold for score, threshold in scored)
    score = over_claims([score for score, _ in scored])
    return JudgedCase(case, accepted, score, None if accepted else "unsupported")


def _part(assessment: Assessment) -> tuple[float, float] | Lost:
    if assessment.failure is not None:
        return Lost(assessment.failure, undetermined=True)
    if assessment.score is None or assessment.threshold is None:
        return Lost("no_threshold", undetermined=True)
    return assessment.score, assessment.threshold
