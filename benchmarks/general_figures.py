"""The figures of `general.py`: what scores and labels come to, and how that is printed.

The positive class is "unsupported". A case is flagged where its score is below its threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from recipes.row_figures import caught_at
from safepassage.scoring_worker.evaluation.plots import expected_error
from safepassage.scoring_worker.evaluation.ranking import Ranking

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FALSE_ALARMS, ESCAPED = 0.06, 0.05
BANDS = ((0.5, 0.4), (0.3, 0.6), (0.2, 0.8), (0.1, 0.9), (0.05, 0.95))
"""Scores of the first judge about which a second is asked; nothing lies in the first."""
ERRING = (0.05, 0.1, 0.2)
"""Shares of its answers in which the second errs."""
RESAMPLES = 500
NOT_JUDGED = -1.0
"""The score of what alignment stopped, or what nobody can read: below any threshold."""


@dataclass(frozen=True, slots=True)
class Row:
    """One judged case, and the threshold of its kind. ``words``: the score of word matching."""

    source: str
    label: int
    kind: str
    group: str
    language: str
    score: float
    threshold: float
    words: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one set at the shipped thresholds; None where a figure is not defined.

    ``caught``: share of the wrong ones flagged where at most 6% of the right ones are.
    ``escaped``, ``refused``: share of wrong ones accepted and of right ones flagged as shipped.
    ``review``: share of all that is flagged where at most 5% of the wrong ones are accepted.
    ``words``: AUROC of word matching.
    """

    n: int
    unsupported: int
    auroc: float | None
    macro_f1: float | None
    macro_f1_ci: tuple[float, float] | None
    f1: float | None
    f1_ci: tuple[float, float] | None
    caught: float | None
    escaped: float | None
    refused: float | None
    review: float | None
    ece: float | None
    words: float | None
    words_macro_f1: float | None
    not_judged: int


def describe(rows: Sequence[Row]) -> Figures:
    """The figures of ``rows``, whose intervals are over groups."""
    right = np.array([row.label == 1 for row in rows], dtype=bool)
    scores = np.array([row.score for row in rows])
    flagged = scores < np.array([row.threshold for row in rows])
    groups = [f"{row.source}:{row.group}" for row in rows]
    counts = counted(right, flagged, groups)
    (f1,), (macro,) = f1_of(counts.sum(axis=0, keepdims=True))
    f1_ci, macro_ci = intervals(counts)
    matched = np.array([row.words for row in rows]) >= 1
    judged = scores > NOT_JUDGED
    return Figures(
        n=len(rows),
        unsupported=int((~right).sum()),
        auroc=auroc(right, scores),
        macro_f1=float(macro),
        macro_f1_ci=macro_ci,
        f1=float(f1),
        f1_ci=f1_ci,
        caught=caught_at(scores, right, FALSE_ALARMS),
        escaped=share(~flagged[~right]),
        refused=share(flagged[right]),
        review=review_at(scores, right),
        ece=float(expected_error(scores[judged], right[judged])) if judged.any() else None,
        words=auroc(right, [row.words for row in rows]),
        words_macro_f1=float(f1_score(right, matched, average="macro", zero_division=0)),
        not_judged=int((~judged).sum()),
    )


def auroc(right: Bools, scores: Sequence[float] | Floats) -> float | None:
    """None unless both classes are there."""
    return Ranking(~right, [-score for score in scores]).auroc(np.ones(len(right)))


def share(mask: Bools) -> float | None:
    """None of nothing."""
    return float(mask.mean()) if len(mask) else None


def review_at(scores: Floats, right: Bools, escaped: float = ESCAPED) -> float | None:
    """The least share of all that a threshold flags which lets at most ``escaped`` of the wrong
    ones through."""
    if right.all():
        return None
    thresholds = _thresholds(scores)
    allowed = thresholds[1 - _below(scores[~right], thresholds) <= escaped]
    return float(_below(scores, allowed).min())


def _thresholds(scores: Floats) -> Floats:
    return np.append(np.unique(scores), np.inf)


def _below(scores: Floats, thresholds: Floats) -> Floats:
    """The share of ``scores`` below each threshold."""
    return np.searchsorted(np.sort(scores), thresholds, side="left") / len(scores)


def f1_of(counts: Floats) -> tuple[Floats, Floats]:
    """F1 of unsupported and macro F1 of rows (hits, false alarms, escaped, passed)."""
    hits, alarms, missed, passed = counts.T
    wrong = 2 * hits / np.maximum(2 * hits + alarms + missed, 1)
    right = 2 * passed / np.maximum(2 * passed + alarms + missed, 1)
    return wrong, (wrong + right) / 2


def counted(right: Bools, flagged: Bools, groups: Sequence[str]) -> Floats:
    """For every group its hits, false alarms, escaped and passed ones."""
    names = {name: at for at, name in enumerate(dict.fromkeys(groups))}
    found = np.zeros((len(names), 4))
    column = 2 * (~flagged).astype(int) + right.astype(int)
    np.add.at(found, (np.array([names[group] for group in groups]), column), 1)
    return found


def intervals(counts: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """95% intervals of F1 and macro F1, groups drawn with replacement, seed 0."""
    groups = len(counts)
    drawn = np.random.default_rng(0).multinomial(groups, [1 / groups] * groups, size=RESAMPLES)
    wrong, macro = (np.quantile(of, [0.025, 0.975]) for of in f1_of(drawn @ counts))
    return (float(wrong[0]), float(wrong[1])), (float(macro[0]), float(macro[1]))


def of_kinds(rows: Sequence[Row]) -> dict[str, Figures]:
    """By kind of wrong case: they alone, beside every right case of ``rows``."""
    right = [row for row in rows if row.label]
    kinds = sorted({row.kind for row in rows if not row.label})
    return {
        kind: describe([*right, *(r for r in rows if r.kind == kind and not r.label)])
        for kind in kinds
    }


def of_languages(rows: Sequence[Row]) -> dict[str, Figures]:
    """By language."""
    languages = sorted({row.language for row in rows})
    return {
        language: describe([row for row in rows if row.language == language])
        for language in languages
    }


def cascade_table(rows: Sequence[Row]) -> list[str]:
    """For each band of scores that a second judge is asked about: the share of ``rows`` asked, and
    which shares of the wrong ones then escape and of the right ones are refused, where that judge
    errs in some share of its answers, by chance."""
    right = np.array([row.label == 1 for row in rows], dtype=bool)
    scores = np.array([row.score for row in rows])
    flagged = scores < np.array([row.threshold for row in rows])
    lines = [f"{'band':12}{'asked':>7}" + "".join(f"{f'errs in {e:.0%}':>16}" for e in ERRING)]
    for low, high in BANDS:
        asked = (scores >= low) & (scores <= high)
        cells = []
        for erring in ERRING:
            left = np.where(asked, erring, flagged != ~right)
            cells.append(f"{left[~right].mean():.3f} {left[right].mean():.3f}")
        lines.append(
            f"{low:.2f}–{high:.2f}".ljust(12)
            + f"{asked.mean():7.3f}"
            + "".join(f"{cell:>16}" for cell in cells)
        )
    return lines


HEADING = (
    f"{'':50}{'n':>5}{'uns.':>6}{'AUROC':>7}  {'macro F1':20}{'F1 of unsupported':20}"
    f"{'caught':>7}{'escaped':>8}{'refused':>8}{'review':>7}{'ECE':>6}   "
    f"{'words':>6}{'(mF1)':>6}"
)


def line_of(name: str, found: Figures) -> str:
    """One line below `HEADING`."""
    return (
        f"{name:50}{found.n:5}{found.unsupported:6}{_cell(found.auroc, 7)}  "
        f"{_ranged(found.macro_f1, found.macro_f1_ci):20}{_ranged(found.f1, found.f1_ci):20}"
        f"{_cell(found.caught, 7)}{_cell(found.escaped, 8)}{_cell(found.refused, 8)}"
        f"{_cell(found.review, 7)}{_cell(found.ece, 6)}   {_cell(found.words, 6)}"
        f"{_cell(found.words_macro_f1, 6)}"
    )


SHORT_HEADING = (
    f"{'':50}{'n':>5}{'uns.':>6}{'AUROC':>7}  {'macro F1':20}{'caught':>7}{'escaped':>8}"
    f"{'refused':>8}{'review':>7}{'ECE':>6}{'words':>7}"
)


def short_line(name: str, found: Figures) -> str:
    """One line below `SHORT_HEADING`."""
    return (
        f"{name:50}{found.n:5}{found.unsupported:6}{_cell(found.auroc, 7)}  "
        f"{_ranged(found.macro_f1, found.macro_f1_ci):20}{_cell(found.caught, 7)}"
        f"{_cell(found.escaped, 8)}{_cell(found.refused, 8)}{_cell(found.review, 7)}"
        f"{_cell(found.ece, 6)}{_cell(found.words_macro_f1, 7)}"
    )


def _cell(value: float | None, width: int) -> str:
    text = "–" if value is None else f"{value:.3f}".removeprefix("0")
    return f"{text:>{width}}"


def _ranged(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return "–"
    low, high = (_cell(bound, 0) for bound in interval)
    return f"{_cell(value, 0)} [{low}, {high}]"


def as_json(sets: dict[str, Figures]) -> dict[str, object]:
    """Figures with four decimals."""
    return {name: _rounded(asdict(found)) for name, found in sets.items()}


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value


def pooled(sets: Iterable[Sequence[Row]]) -> list[Row]:
    """All rows of several sets."""
    return [row for rows in sets for row in rows]
