"""Quality by the number of reviews of a field: what ``train`` makes of them, on other documents.

For every size and draw the product's own path is gone: reviews drawn as the console draws them, the
reader that serves their language, `training.train`, the scorer as a worker loads it, the stream's
questions. What a draw gave is kept in a file, so that a stopped run goes on.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import structlog
from rich.table import Table

from safepassage.schemas.base import Contract
from safepassage.schemas.jsonl import BadLine, read_jsonl
from safepassage.scoring_worker.evaluation.cases import Dataset, LabelledCase
from safepassage.scoring_worker.evaluation.judgement import JudgedCase, evaluate
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.result_tables import (
    number,
    terminal_table,
    with_interval,
)
from safepassage.scoring_worker.evaluation.runs import Outcome
from safepassage.scoring_worker.evaluation.sources import OnProgress
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.risk.draws import checks_among
from safepassage.scoring_worker.training import Recipe, TrainingLabels, train

from .draws import reviews, split
from .figures import CHECKS, FALSE_ALARMS, Judged, ReviewsPoint, point_of

log = structlog.get_logger(__name__)

SIZES = (0, 25, 100)


@dataclass(frozen=True, slots=True)
class ReviewsSettings:
    """How the curve is made. ``checks`` is the share of reviews that are spot checks of accepted
    values, None the console's; ``judged`` at most so many cases judge each draw."""

    base: str = "default"
    sizes: tuple[int, ...] = SIZES
    draws: int = 3
    checks: float | None = None
    judged: int | None = None
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0


class ReviewsCurve(Contract):
    """What ``curve --json`` writes. ``absent`` says which sizes have no figures, and why."""

    version: Literal[1] = 1
    experiment: Literal["reviews"] = "reviews"
    dataset: str
    labels: str
    base: str
    revision: str
    cases: int
    checks: float | None
    seed: int
    results: tuple[ReviewsPoint, ...]
    absent: tuple[str, ...] = ()


def reviews_curve(
    dataset: Dataset, settings: ReviewsSettings, keep: Path | None, on_progress: OnProgress
) -> ReviewsCurve:
    """Learn and judge at every size. Raises `DatasetError` where there are too few documents;
    `ModelError` where the base cannot be loaded."""
    scorer = load_scorer(settings.base)
    revision = scorer.revision
    try:
        before = {
            id(one.case): one
            for one in evaluate(
                dataset, scorer, name="", on_progress=on_progress, latency=False
            ).outcomes
        }
    finally:
        scorer.close()
    run = _Run(dataset, settings, before, _Kept.of(dataset, settings, revision, keep))
    sizes = sorted(set(settings.sizes))
    found: dict[int, list[Judged]] = {}
    absent = []
    total = len(sizes) * settings.draws
    for draw in range(settings.draws):
        for at, size in enumerate(sizes):
            judged = run.judged(size, draw)
            if judged is None:
                absent.append(f"{size} reviews, draw {draw + 1}: there are fewer cases to review")
            else:
                found.setdefault(size, []).append(judged)
            on_progress("draws of reviews learnt from", draw * len(sizes) + at + 1, total)
    return ReviewsCurve(
        dataset=dataset.name,
        labels=dataset.labels,
        base=settings.base,
        revision=revision,
        cases=len(dataset.cases),
        checks=settings.checks,
        seed=settings.seed,
        results=tuple(point_of(found[size]) for size in sizes if size in found),
        absent=tuple(absent),
    )


class _Kept:
    """What draws gave, a line each, in a file named by all that they depend on."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[tuple[int, int], Judged] = {}
        if path is not None and path.exists():
            for row in read_jsonl(path, Judged):
                if not isinstance(row, BadLine):  # a line that was cut is made again
                    self.found[row.size, row.draw] = row

    @classmethod
    def of(
        cls, dataset: Dataset, settings: ReviewsSettings, revision: str, folder: Path | None
    ) -> _Kept:
        if folder is None:
            return cls(None)
        bare = replace(settings, sizes=(max(settings.sizes),), draws=0)
        said = [revision, repr(bare), *(repr((c.parts, c.supported)) for c in dataset.cases)]
        digest = hashlib.sha256("\n".join(said).encode("utf-8", "replace")).hexdigest()[:12]
        return cls(folder / f"reviews-{digest}.jsonl")

    def add(self, judged: Judged) -> None:
        self.found[judged.size, judged.draw] = judged
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(judged.model_dump_json() + "\n")


@dataclass(frozen=True, slots=True)
class _Run:
    """One curve. ``before`` has what the base makes of every case, by its identity."""

    dataset: Dataset
    settings: ReviewsSettings
    before: dict[int, JudgedCase]
    kept: _Kept

    def judged(self, size: int, draw: int) -> Judged | None:
        """One size of one draw; None where there are fewer cases to review."""
        if (size, draw) in self.kept.found:
            return self.kept.found[size, draw]
        settings = self.settings
        seed = 1_000 * settings.seed + draw
        parts = split(self.dataset, max(settings.sizes), seed, settings.judged)
        outcomes = [self.before[id(case)] for case in parts.reviewed]
        share = settings.checks
        checks = checks_among(size) if share is None else round(share * size)
        drawn = reviews(outcomes, size, checks, seed)
        if len(drawn) < size:
            return None
        started = time.monotonic()
        learnt: dict[str, str] = {}
        if size:
            found, learnt = self._learn(drawn, parts.judged, seed)
        else:
            found = [self.before[id(case)] for case in parts.judged]
        numbers: dict[str, int] = {}
        judged = Judged(
            size=size,
            draw=draw,
            reviewed=len(drawn),
            supported_reviewed=sum(pair.label for pair in drawn),
            seconds=round(time.monotonic() - started, 1),
            learnt=learnt,
            supported=tuple(one.case.supported for one in found),
            accepted=tuple(one.accepted for one in found),
            doubt=tuple(one.doubt for one in found),
            groups=tuple(numbers.setdefault(one.case.group, len(numbers)) for one in found),
        )
        self.kept.add(judged)
        return judged

    def _learn(
        self, drawn: Sequence[LabelledPair], cases: Sequence[LabelledCase], seed: int
    ) -> tuple[list[JudgedCase], dict[str, str]]:
        with tempfile.TemporaryDirectory(prefix="safepassage-") as name:
            folder = Path(name) / "scorer"
            recipe = replace(self.settings.recipe, seed=seed)
            train(self.settings.base, TrainingLabels(gold=drawn), folder, recipe)
            said = ScorerManifest.load(folder).metrics.get("learnt")
            scorer = load_scorer(folder)
            try:
                judged = evaluate(
                    replace(self.dataset, cases=tuple(cases)),
                    scorer,
                    name="",
                    on_progress=lambda *_: None,
                    latency=False,
                )
            finally:
                scorer.close()
        learnt = {k: str(v) for k, v in said.items()} if isinstance(said, dict) else {}
        return list(judged.outcomes), learnt


def measured(
    dataset: Dataset, settings: ReviewsSettings, keep: Path | None, on_progress: OnProgress
) -> Outcome:
    """Quality by the number of reviews. Raises `DatasetError` where it has too few documents;
    `ModelError` where the base cannot be loaded."""
    made = reviews_curve(dataset, settings, keep, on_progress)
    return Outcome(made, [reviews_table(made), certified_table(made)], left_out=made.absent)


def reviews_table(curve: ReviewsCurve) -> Table:
    """Quality by number of reviews."""
    rows = [
        (
            str(point.size),
            number(point.supported_reviewed, 0),
            with_interval(point.macro_f1, point.macro_f1_ci),
            with_interval(point.auroc, point.auroc_ci),
            with_interval(point.caught, point.caught_ci),
            number(point.seconds / 60, 1),
        )
        for point in curve.results
    ]
    caught = f"wrong ones caught at {FALSE_ALARMS:.0%} false alarms"
    columns = ("reviews", "of them right", "macro F1", "AUROC", caught, "minutes")
    draws = max((point.draws for point in curve.results), default=0)
    judged = max((point.judged for point in curve.results), default=0)
    checks = "the console's share" if curve.checks is None else f"{curve.checks:.0%}"
    return terminal_table(
        f"{curve.dataset}: quality by reviews, {draws} draws",
        columns,
        rows,
        f"From {curve.base}, judged on {judged} values of other documents; {checks} of "
        f"the reviews are spot checks. Labels: {curve.labels}.",
    )


def certified_table(curve: ReviewsCurve) -> Table:
    """What may pass at a certified risk, by number of reviews."""
    kinds = [(one.wrong, one.risk) for point in curve.results[:1] for one in point.certified]
    columns = ("reviews", *(f"{wrong:.0%} wrong, risk {risk:.0%}" for wrong, risk in kinds))
    rows = [
        (
            str(point.size),
            *(with_interval(one.accepted, one.accepted_ci) for one in point.certified),
        )
        for point in curve.results
    ]
    return terminal_table(
        f"{curve.dataset}: share accepted without a person",
        columns,
        rows,
        "By the share of wrong values in the stream and the certified risk (95% confidence, on "
        f"{CHECKS} labelled values of the stream).",
    )
