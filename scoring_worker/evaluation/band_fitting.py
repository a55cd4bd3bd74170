"""Which scores of the first scorer a cascade's second is asked about, for a set cost."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas.base import Contract
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.cascade import asking_score, doubt_of

from .sources import DatasetError

STEPS = 40
"""A band begins and ends at one of so many quantiles of the scores."""

Booleans = NDArray[np.bool_]


class FittedBand(Contract):
    """A band, and what it does on the labels it was fitted on: shares, each of its own class."""

    low: float
    high: float
    asked: float
    wrong_stopped: float
    right_stopped: float
    usd_per_million: float | None = None
    """What so many values cost; None without a price."""


def fit_band(
    first: Scorer, pairs: Sequence[Pair], second: Booleans, supported: Booleans, most: float
) -> FittedBand:
    """The band that stops most of what is wrong and least of what is right, by the mean of both
    shares, where at most the share ``most`` of ``pairs`` is asked about.

    Args:
        second: which pairs the second lets pass [pairs].
        supported: their labels [pairs].
        most: from 0 to 1.

    Raises:
        DatasetError: the labels are of one class.
    """
    if len(set(supported.tolist())) < 2:
        raise DatasetError("a band needs supported and unsupported labels")
    said = first.assess(pairs)
    asking = [asking_score(pair, one, doubt_of) for pair, one in zip(pairs, said, strict=True)]
    scores = np.array([np.nan if one is None else one for one in asking])
    # What its checks contradict passes nowhere, regardless of its score.
    alone = np.array(
        [one.passes and at is not None for one, at in zip(said, asking, strict=True)], dtype=bool
    )
    edges = np.unique(np.nanquantile(scores, np.linspace(0, 1, STEPS + 1)))
    bands = [(0.0, 0.0), *((low, high) for low in edges for high in edges if low <= high)]
    tried = [_tried(band, scores, alone, second, supported) for band in bands]
    return max(
        [band for band in tried if band.asked <= most],
        key=lambda band: (round(band.wrong_stopped - band.right_stopped, 9), -band.asked),
    )


def _tried(
    band: tuple[float, float],
    scores: NDArray[np.float64],
    alone: Booleans,
    second: Booleans,
    supported: Booleans,
) -> FittedBand:
    low, high = band
    asked = (scores >= low) & (scores <= high)
    stopped = ~np.where(asked, second, alone)
    return FittedBand(
        low=float(low),
        high=float(high),
        asked=float(asked.mean()),
        wrong_stopped=float(stopped[~supported].mean()),
        right_stopped=float(stopped[supported].mean()),
    )
