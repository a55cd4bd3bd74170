"""`safepassage calibrate --risk`: a model folder whose thresholds keep a promise."""

from collections.abc import Sequence
from pathlib import Path

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.manifest import (
    ModelError,
    ScorerManifest,
    Thresholds,
    TypeThreshold,
)
from safepassage.scoring_worker.risk.certificate import Stratum
from safepassage.scoring_worker.risk.groups import group_of
from safepassage.scoring_worker.risk.parts import Part, certify_parts
from safepassage.scoring_worker.risk.strata import DrawnLabel, strata_of

from .cases import Dataset, LabelledCase
from .model_calibration import CalibratedFolder, labels_of
from .sources import DatasetError, OnProgress

STOPPED = "review"
CHECKED = "spot_check"
CORRECTED = "correction"


class PromiseReport(Contract):
    """What is promised, part by part. ``left_out`` labels say nothing of it: they are corrections,
    were chosen by a person, have no score, or taught the scorer."""

    revision: str
    labels: str
    n: int
    left_out: int
    risk: float
    confidence: float
    parts: tuple[Part, ...]


def promise(
    datasets: Sequence[Dataset],
    scorer: str | Path,
    out: Path,
    *,
    risk: float,
    confidence: float,
    name: str | None = None,
    on_progress: OnProgress,
) -> PromiseReport:
    """Certify thresholds of a model folder, and write a new one with them.

    Its probabilities stay: a calibration fitted to the same labels would spoil the promise. What
    another reader would judge, of another language, has no part in it: it goes to people. Labels
    without ``kind`` count as drawn at random from the stream that is to be judged. Raises
    `ModelError` where the scorer is no model folder, or ``out`` is not empty; `DatasetError` where
    nothing can be promised; the message says what is wanted."""
    start = CalibratedFolder.of(scorer, out, datasets)
    if start.manifest.kind == "cascade":
        raise ModelError(
            "nothing can be promised of a cascade by its second scorer: give decisions, or default"
        )
    named: dict[str, object] = {"name": name or start.manifest.name, "others": None}
    manifest = start.manifest.model_copy(update=named)
    every = start.scored(manifest, datasets, on_progress)
    rows = [
        (case, float(score))
        for case, score in zip(every.cases, every.raw, strict=True)
        if _counts(case) and not _learnt(manifest, case)
    ]
    strata, members, least = _strata(rows, manifest)
    types = [[case.entity_type for case in own] for own in members]
    groups = [[group_of(case.pairs[0]) for case in own] for own in members]
    parts = certify_parts(strata, types, groups, risk, confidence, least=least)
    if not any(part.certified for part in parts):
        why = [f"{part.name or 'all the rest'}: {part.shortfall}" for part in parts]
        raise DatasetError("\n".join(["nothing can be promised:", *why]))
    promised = {"risk": risk, "confidence": confidence, "labels": len(rows)}
    update = named | {
        "thresholds": _thresholds(parts, manifest.thresholds, risk, confidence),
        "metrics": {**manifest.metrics, "promised": promised},
    }
    cases = [case for case, _ in rows]
    written = start.written(update, cases, _card(parts, risk, confidence))
    return PromiseReport(
        revision=written.revision,
        labels=labels_of(datasets),
        n=len(rows),
        left_out=sum(len(dataset.cases) for dataset in datasets) - len(rows),
        risk=risk,
        confidence=confidence,
        parts=tuple(parts),
    )


def _card(parts: Sequence[Part], risk: float, confidence: float) -> str:
    rows = [
        f"- {part.name or 'all the rest'}: "
        + (
            f"{part.threshold:.4f}, at most {part.certified.observed_ci[1]:.2%} wrong by itself "
            f"({part.certified.labels} labels, {part.certified.method})"
            if part.certified
            else "nothing passes"
        )
        for part in parts
    ]
    title = f"## Promised: at most {risk:g} wrong, with {confidence:.0%} confidence\n"
    return "\n".join([title, "In place of the thresholds above:\n", *rows])


def _counts(case: LabelledCase) -> bool:
    """Whether chance chose the case, as far as the file says."""
    if case.kind in (STOPPED, CORRECTED):
        return case.kind == STOPPED and case.draw is not None
    return True


def _learnt(manifest: ScorerManifest, case: LabelledCase) -> bool:
    learnt = manifest.learnt_from
    return learnt is not None and learnt.knows(case.group, (p.premise for p in case.pairs))


def _strata(
    rows: Sequence[tuple[LabelledCase, float]], manifest: ScorerManifest
) -> tuple[list[Stratum], list[list[LabelledCase]], float]:
    """The samples, the cases of each in their order, and the loosest threshold they reach."""
    if not rows:
        raise DatasetError(
            "no label here was drawn by chance: those of stopped values alone, or of values that "
            "a person chose, say nothing of what passes; judge spot checks on the console"
        )
    reviewed = [case.kind in (STOPPED, CHECKED) for case, _ in rows]
    if not any(reviewed):
        plain = Stratum.of([score for _, score in rows], [not case.supported for case, _ in rows])
        return [plain], [[case for case, _ in rows]], 0.0
    if not all(reviewed):
        raise DatasetError(
            "labels of reviews and other labels cannot be certified together: nothing says how "
            "often each was drawn; give them one at a time"
        )
    passed = [(case, score) for case, score in rows if case.kind == CHECKED]
    stopped = sorted(
        (
            (case.draw.before, case, score)
            for case, score in rows
            if case.draw and case.kind == STOPPED
        ),
        key=lambda one: one[0],
    )
    if not passed and not manifest.thresholds.pass_nothing:
        raise DatasetError(
            "every label is of a value that was stopped, so none says what passes; judge spot "
            "checks on the console"
        )
    strata = strata_of(
        [DrawnLabel(score, not case.supported, True, case.draw) for case, score in passed]
        + [DrawnLabel(score, not case.supported, False, case.draw) for _, case, score in stopped]
    )
    members = [[case for _, case, _ in stopped]]
    if passed:
        members = [[case for case, _ in passed], *members][: len(strata)]
    limits = [manifest.thresholds.default, *(t.value for t in manifest.thresholds.by_type.values())]
    every_part = len(strata) > 1 or not passed
    return strata, members, 0.0 if every_part else max(limits)


def _thresholds(
    parts: Sequence[Part], before: Thresholds, risk: float, confidence: float
) -> Thresholds:
    target = f"risk<={risk:g} at {confidence:.0%}"

    def of(kind: str) -> dict[str, TypeThreshold]:
        return {
            part.name: TypeThreshold(value=part.threshold, n=part.labels, target=target)
            for part in parts
            if part.kind == kind
        }

    (rest,) = [part for part in parts if part.kind == "rest"]
    return Thresholds(default=rest.threshold, by_type=of("type"), by_group=of("group"))
