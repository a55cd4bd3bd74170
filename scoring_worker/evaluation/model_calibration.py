"""`safepassage calibrate`: a model folder with probabilities and thresholds fitted on labels."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.calibration import CalibrationKind, apply, carried_over, fit
from safepassage.scoring_worker.encoders.reader_model import BASE_FILES, reader_base_digest
from safepassage.scoring_worker.evaluation import plots
from safepassage.scoring_worker.learnt_from import more_learnt
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import (
    MANIFEST_NAME,
    PACKAGED_BASE,
    Calibration,
    ModelError,
    ScorerManifest,
    Thresholds,
)
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.scorers import folders
from safepassage.scoring_worker.scorers.by_language import serving
from safepassage.scoring_worker.scorers.folders import load_folder, open_manifest
from safepassage.scoring_worker.threshold_fitting import (
    FittedThreshold,
    Target,
    fit_thresholds,
    labels_missing,
)

from .band_fitting import FittedBand, fit_band
from .cases import Dataset, LabelledCase
from .intervals import Interval, bootstrap
from .judgement import evaluate
from .metrics import Metrics, measure
from .sources import DatasetError, OnProgress
from .splits import folds

FOLDS = 5
PLOT_NAME = "reliability.png"
CARD_NAME = "MODEL_CARD.md"

Floats = NDArray[np.float64]


class CalibrationReport(Contract):
    """What a calibration reached on ``n`` scored cases; ``left_out`` have no score or several
    parts. Errors and ``held_out`` are of documents that the fit of their fold has not seen;
    ``thresholds`` are on the labels they were fitted on, "" being the global one."""

    revision: str
    labels: str
    n: int
    left_out: int
    target: str
    kind: str
    error_before: float
    error_before_ci: Interval | None
    error_after: float
    error_after_ci: Interval | None
    held_out: Metrics
    thresholds: dict[str, FittedThreshold]
    band: FittedBand | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """What a second judge may cost: at most the share ``most`` of values are asked about, or, in
    its place, a million values cost ``usd``."""

    most: float | None = None
    usd: float | None = None

    def share(self, usd_each: float | None) -> float:
        """The share of values that may be asked about. Raises `DatasetError` where it depends on a
        price, and it is missing."""
        if self.most is not None or self.usd is None:
            return 1.0 if self.most is None else self.most
        if usd_each is None:
            raise DatasetError(
                "--cost needs a price: set SAFEPASSAGE_DECISION_INPUT_USD_PER_MILLION and "
                "SAFEPASSAGE_DECISION_OUTPUT_USD_PER_MILLION, or give --ask"
            )
        return min(1.0, self.usd / (usd_each * 1_000_000))


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Cases of one pair, and their scores; ``usd`` is what each cost where an endpoint was asked,
    None where nobody knows."""

    cases: tuple[LabelledCase, ...]
    raw: Floats
    usd: float | None = None

    @property
    def supported(self) -> NDArray[np.bool_]:
        return np.array([case.supported for case in self.cases], dtype=bool)

    @property
    def types(self) -> NDArray[Any]:
        return np.array([case.entity_type for case in self.cases])

    @property
    def groups(self) -> list[str]:
        return [case.group for case in self.cases]


def calibrate(
    datasets: Sequence[Dataset],
    scorer: str | Path,
    out: Path,
    *,
    target: Target,
    kind: CalibrationKind = "auto",
    name: str | None = None,
    asking: Asking | None = None,
    on_progress: OnProgress,
) -> CalibrationReport:
    """Fit calibration and thresholds of a model folder, and write a new one.

    Args:
        scorer: "default", a folder or a hub id; its own calibration is not built upon.
        out: the new folder, with the reliability plot in it. It must be empty or absent.
        kind: "auto" takes isotonic regression from 500 labels on.
        name: of the new scorer; by default that of the old.
        asking: what a cascade's second may cost: its band is fitted to that.

    Raises:
        ModelError: the scorer is no model folder, or ``out`` is not empty; or it is no cascade and
            ``asking`` is given.
        DatasetError: the labels are of one class, or of too few documents.
    """
    start = CalibratedFolder.of(scorer, out, datasets)
    manifest = start.manifest
    if asking and manifest.kind != "cascade":
        raise ModelError(f"{manifest.name} asks nobody: --ask and --cost are for cascade-decisions")
    bare = manifest.model_copy(update={"calibration": None, "name": name or manifest.name})
    labelled = start.scored(bare, datasets, on_progress)
    calibration, thresholds, fitted = _fit_both(labelled, manifest, kind, target)
    band = _band(labelled, calibration, thresholds, asking) if asking else None
    held_out, metrics = _held_out(labelled, kind, target)
    figures = metrics.model_dump(mode="json", include={"n", "precision", "recall", "f1", "auroc"})
    written = start.written(
        {
            "name": bare.name,
            "calibration": calibration,
            "thresholds": thresholds,
            "band": (band.low, band.high) if band else manifest.band,
            "metrics": {**manifest.metrics, "calibrated": {**figures, "target": str(target)}},
        },
        [case for data in datasets for case in data.cases],
        _card(thresholds, figures, str(target)),
        plotted=lambda path: _plot(path, bare.name, labelled, held_out),
    )
    return CalibrationReport(
        revision=written.revision,
        labels=labels_of(datasets),
        n=len(labelled.cases),
        left_out=sum(len(dataset.cases) for dataset in datasets) - len(labelled.cases),
        target=str(target),
        kind=calibration.kind,
        held_out=metrics,
        thresholds=fitted,
        band=band,
        **_error("error_before", labelled.raw, labelled),
        **_error("error_after", held_out, labelled),
    )


def _fit_both(
    labelled: LabelledScores, before: ScorerManifest, kind: CalibrationKind, target: Target
) -> tuple[Calibration, Thresholds, dict[str, FittedThreshold]]:
    kinds = [] if before.thresholds.pass_nothing else [case.kind for case in labelled.cases]
    if missing := labels_missing(labelled.supported.tolist(), kinds):
        raise DatasetError(f"calibration needs supported and unsupported labels: {missing}")
    calibration = _fit(labelled.raw, labelled.supported, kind)
    thresholds, fitted = fit_thresholds(
        apply(calibration, labelled.raw),
        labelled.supported.tolist(),
        labelled.types.tolist(),
        target,
        known=carried_over(before.thresholds, before.calibration, calibration),
    )
    return calibration, thresholds, fitted


def _band(
    labelled: LabelledScores,
    calibration: Calibration,
    thresholds: Thresholds,
    asking: Asking,
) -> FittedBand:
    scores = apply(calibration, labelled.raw)
    limits = np.array([thresholds.of(name) for name in labelled.types])
    first = load_scorer()
    pairs = [case.pairs[0] for case in labelled.cases]
    most = asking.share(labelled.usd)
    found = fit_band(first, pairs, scores >= limits, labelled.supported, most)
    first.close()
    usd = None if labelled.usd is None else found.asked * labelled.usd * 1_000_000
    return found.model_copy(update={"usd_per_million": usd})


def labels_of(datasets: Sequence[Dataset]) -> str:
    """Who labelled ``datasets``, each named once."""
    return "; ".join(dict.fromkeys(dataset.labels for dataset in datasets))


@dataclass(frozen=True, slots=True)
class CalibratedFolder:
    """A model folder, its manifest, and the new folder ``out``. ``shared`` is whether its base is
    the one that ships, which no copy brings."""

    folder: Path
    manifest: ScorerManifest
    out: Path
    shared: bool

    @classmethod
    def of(cls, scorer: str | Path, out: Path, datasets: Sequence[Dataset]) -> Self:
        """The folder of ``scorer``. Of "default" it is the reader that serves most of ``datasets``
        by their language; the manifest leaves other languages to the other reader. Raises
        `ModelError` where the scorer is no model folder, or ``out`` is not empty."""
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ModelError(f"{out} exists; calibrate writes a new folder")
        others = None
        if ScorerSpec.parse(scorer).values == PACKAGED_BASE:
            scorer, others = serving([pair for data in datasets for pair in data.pairs])
        folder, manifest = open_manifest(scorer)
        if others:
            manifest = manifest.model_copy(update={"others": others})
        if manifest.base and (folder / manifest.base).is_dir():
            raise ModelError(f"{folder}: its base is a folder of its own, which a copy would lose")
        shared = manifest.kind == "reader" and folder.samefile(folders.DEFAULT_MODEL)
        return cls(folder, manifest, out, shared)

    def scored(
        self, manifest: ScorerManifest, datasets: Sequence[Dataset], on_progress: OnProgress
    ) -> LabelledScores:
        """What the scorer of ``manifest`` makes of the labelled cases that are one pair each.
        Raises `DatasetError` where there is no such case."""
        scorer = load_folder(self.folder, manifest)
        evaluated = [
            evaluate(dataset, scorer, name=manifest.name, on_progress=on_progress, latency=False)
            for dataset in datasets
        ]
        scorer.close()
        outcomes = [outcome for one in evaluated for outcome in one.outcomes]
        costs = [usage.cost_usd for one in evaluated for usage in one.usages if usage.cost_usd]
        known = [one for one in outcomes if one.score is not None and len(one.case.parts) == 1]
        if not known:
            raise DatasetError(
                f"none of {len(outcomes)} cases has one part and a score. Which sentence of an "
                "answer is wrong its label does not say: give labelled sentences, as `claim` in "
                "place of `response`"
            )
        raw = np.array([one.score for one in known], dtype=np.float64)
        cases = tuple(one.case for one in known)
        return LabelledScores(cases, raw, fmean(costs) if costs else None)

    def written(
        self,
        update: Mapping[str, object],
        cases: Iterable[LabelledCase],
        card: str,
        plotted: Callable[[Path], None] = lambda _: None,
    ) -> ScorerManifest:
        """Copy the folder, with the manifest's ``update``. It learnt from ``cases``. ``card`` is
        added to the model card, and counts in place of what that says of thresholds; ``plotted``
        draws the reliability plot."""
        without = BASE_FILES if self.shared else ()
        ignored = shutil.ignore_patterns(MANIFEST_NAME, PLOT_NAME, ".*", *without)
        shutil.copytree(self.folder, self.out, dirs_exist_ok=True, ignore=ignored)
        plotted(self.out / PLOT_NAME)
        path = self.out / CARD_NAME
        before = path.read_text("utf-8") + "\n" if path.exists() else ""
        path.write_text(before + card + "\n", "utf-8")
        seen = [(case.group, pair.premise) for case in cases for pair in case.pairs]
        base: dict[str, object] = {"learnt_from": more_learnt(self.manifest.learnt_from, seen)}
        if self.shared:
            digest = reader_base_digest(self.folder)
            base |= {"base": PACKAGED_BASE, "base_digest": digest}
        return self.manifest.model_copy(update={**base, **update}).save(self.out)


def _fit(raw: Floats, supported: NDArray[np.bool_], kind: CalibrationKind) -> Calibration:
    try:
        return fit(raw, supported, kind)
    except ValueError as error:
        raise DatasetError(str(error)) from error


def _held_out(
    labelled: LabelledScores, kind: CalibrationKind, target: Target
) -> tuple[Floats, Metrics]:
    """Scores and decisions on every document, from a fit that has not seen it."""
    fold_of_case = _folds(labelled.groups)
    scores = np.zeros(len(labelled.cases))
    accepted = np.zeros(len(labelled.cases), dtype=bool)
    for fold in sorted(set(fold_of_case.tolist())):
        inside, outside = fold_of_case == fold, fold_of_case != fold
        if len(set(labelled.supported[outside].tolist())) < 2:
            raise DatasetError(f"too few labelled documents for {FOLDS} folds")
        calibration = _fit(labelled.raw[outside], labelled.supported[outside], kind)
        scores[inside] = apply(calibration, labelled.raw[inside])
        thresholds, _ = fit_thresholds(
            apply(calibration, labelled.raw[outside]),
            labelled.supported[outside].tolist(),
            labelled.types[outside].tolist(),
            target,
        )
        limits = np.array([thresholds.of(name) for name in labelled.types[inside]])
        accepted[inside] = scores[inside] >= limits
    doubt = (1 - scores).tolist()
    return scores, measure(labelled.supported.tolist(), accepted.tolist(), doubt, labelled.groups)


def _folds(groups: Sequence[str]) -> NDArray[np.int64]:
    fold_of = folds(groups, FOLDS)
    return np.array([fold_of[group] for group in groups], dtype=np.int64)


def _error(name: str, scores: Floats, labelled: LabelledScores) -> dict[str, Any]:
    supported = labelled.supported

    def error(weights: Floats) -> float:
        rows = np.repeat(np.arange(len(scores)), weights.astype(int))
        return plots.expected_error(scores[rows], supported[rows])

    found = plots.expected_error(scores, supported)
    return {name: found, f"{name}_ci": bootstrap(error, labelled.groups)}


def _card(thresholds: Thresholds, figures: Mapping[str, object], target: str) -> str:
    rows = [f"| {name} | {value} |" for name, value in figures.items()]
    limits = [f"- {name}: {one.value:.4f}" for name, one in sorted(thresholds.by_type.items())]
    lines = [
        f"## Calibrated to {target}\n",
        "On documents held out in turn; in place of the thresholds above:\n",
        "| | |\n|---|---|",
        *rows,
        f"\nDefault threshold {thresholds.default:.4f}.",
        *limits,
    ]
    return "\n".join(lines)


def _plot(path: Path, name: str, labelled: LabelledScores, held_out: Floats) -> None:
    supported = labelled.supported
    curves = {"before": (labelled.raw, supported), "after, held-out": (held_out, supported)}
    plots.reliability(path, curves, f"Reliability of {name}")
