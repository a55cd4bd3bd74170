"""95% intervals by the bootstrap; single proportions: `schemas.proportion`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]

RESAMPLES = 500

Weights = NDArray[np.float64]


def draws(
    statistic: Callable[[Weights], float | None],
    groups: Sequence[str],
    *,
    resamples: int = RESAMPLES,
) -> list[float]:
    """``statistic`` over documents drawn with replacement, wherever it is defined.

    Rows of one document err together, so documents are drawn and not rows. ``statistic`` takes
    the weight of each row: how often its document was drawn.
    """
    names: dict[str, int] = {}
    member = np.array([names.setdefault(group, len(names)) for group in groups], dtype=np.int64)
    if not names:
        return []
    source: Any = np.random.default_rng(0)
    drawn = source.multinomial(len(names), [1 / len(names)] * len(names), size=resamples)
    values = (statistic(counts[member].astype(np.float64)) for counts in drawn)
    return [value for value in values if value is not None]


def bootstrap(
    statistic: Callable[[Weights], float | None], groups: Sequence[str]
) -> Interval | None:
    """The 2.5% and 97.5% quantiles of `draws`; None where it is never defined."""
    known = draws(statistic, groups)
    if not known:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return (float(low), float(high))
