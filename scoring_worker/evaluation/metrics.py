"""How well unsupported cases are found. The positive class is "unsupported", as in the paper."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from safepassage.schemas.base import Contract
from safepassage.schemas.proportion import Proportion

from .intervals import Interval, Weights, bootstrap
from .labelled_pair import LabelledPair
from .ranking import Ranking

Mask = NDArray[np.bool_]


class Counted(Contract):
    """Cases, and what became of them: ``accuracy`` is the share judged as labelled. A proportion
    without any trial is None; intervals (``_ci``) are Wilson's, at 95%."""

    n: int
    unsupported: int
    flagged: int
    accuracy: float | None
    accuracy_ci: Interval
    precision: float | None
    precision_ci: Interval
    recall: float | None
    recall_ci: Interval
    f1: float | None


class Metrics(Counted):
    """Figures of one scorer on one data set, each with its 95% interval (``_ci``).

    F1, macro F1, AUROC and AUPRC have the interval of a bootstrap over documents. They are None
    where they are not defined: AUROC and AUPRC of cases of one class, F1 where nothing is
    unsupported and nothing was flagged.
    """

    f1_ci: Interval | None
    macro_f1: float | None
    macro_f1_ci: Interval | None
    auroc: float | None
    auroc_ci: Interval | None
    auprc: float | None
    auprc_ci: Interval | None


def count(supported: Sequence[bool], accepted: Sequence[bool]) -> Counted:
    """Counts of n cases, from their labels and from what was accepted."""
    return Counted.model_validate(_counts(*_masks(supported, accepted)))


def measure(
    supported: Sequence[bool],
    accepted: Sequence[bool],
    doubt: Sequence[float],
    groups: Sequence[str],
) -> Metrics:
    """Metrics of n cases. ``doubt`` is the higher, the less supported; ``groups`` are the
    documents."""
    truth, found = _masks(supported, accepted)
    ranking = Ranking(truth, doubt)
    statistics: dict[str, Callable[[Weights], float | None]] = {
        "f1": lambda weights: _f1(truth, found, weights),
        "macro_f1": lambda weights: macro_f1_of(truth, found, weights),
        "auroc": ranking.auroc,
        "auprc": ranking.auprc,
    }
    everything = np.ones(len(truth))
    figures: dict[str, object] = _counts(truth, found)
    for name, statistic in statistics.items():
        figures[name] = statistic(everything)
        defined = figures[name] is not None
        figures[f"{name}_ci"] = bootstrap(statistic, groups) if defined else None
    return Metrics.model_validate(figures)


def at_threshold(
    scores: NDArray[np.float64], pairs: Sequence[LabelledPair], threshold: float
) -> dict[str, JsonValue]:
    """The figures of scorer.json and of the card, rounded: n, precision, recall, F1, AUROC."""
    truth, found = _masks([pair.label == 1 for pair in pairs], (scores >= threshold).tolist())
    counted = Counted.model_validate(_counts(truth, found))
    figures: dict[str, JsonValue] = {"n": counted.n, "unsupported": counted.unsupported}
    for name in ("precision", "recall", "f1"):
        figures[name] = round(getattr(counted, name) or 0.0, 4)
    auroc = Ranking(truth, (-scores).tolist()).auroc(np.ones(len(truth)))
    return figures if auroc is None else figures | {"auroc": round(auroc, 4)}


def _masks(supported: Sequence[bool], accepted: Sequence[bool]) -> tuple[Mask, Mask]:
    return ~np.asarray(supported, dtype=bool), ~np.asarray(accepted, dtype=bool)


def _counts(truth: Mask, found: Mask) -> dict[str, object]:
    hits, flagged, cases = (int(mask.sum()) for mask in (truth & found, found, truth))
    proportions = {
        "accuracy": Proportion(int((truth == found).sum()), len(truth)),
        "precision": Proportion(hits, flagged),
        "recall": Proportion(hits, cases),
    }
    figures: dict[str, object] = {"n": len(truth), "unsupported": cases, "flagged": flagged}
    for name, proportion in proportions.items():
        figures |= {name: proportion.share, f"{name}_ci": proportion.interval}
    return figures | {"f1": _f1(truth, found, np.ones(len(truth)))}


def _f1(truth: Mask, found: Mask, weights: Weights) -> float | None:
    hits = weights[truth & found].sum()
    wrong = weights[truth != found].sum()
    return float(2 * hits / (2 * hits + wrong)) if hits + wrong else None


def f1_of(truth: Mask, found: Mask, weights: Weights) -> float:
    """F1 in [0, 1]; 0 where nothing was there or found."""
    return _f1(truth, found, weights) or 0.0


def recall_of(truth: Mask, found: Mask, weights: Weights) -> float:
    """The share of ``truth`` that was ``found``, in [0, 1]; 0 of nothing."""
    total = weights[truth].sum()
    return float(weights[truth & found].sum() / total) if total else 0.0


def macro_f1_of(truth: Mask, found: Mask, weights: Weights) -> float | None:
    """F1 in [0, 1], the mean over the classes that are there; None where there are none."""
    both = (_f1(truth, found, weights), _f1(~truth, ~found, weights))
    defined = [f1 for f1 in both if f1 is not None]
    return sum(defined) / len(defined) if defined else None
