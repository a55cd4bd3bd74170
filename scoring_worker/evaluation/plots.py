"""How often values of a score are supported: as a plot, and as an error."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 10
_SIZE = (6.4, 4.4)

Scored = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""Scores [cases] in [0, 1], and whether each case is supported."""


def reliability(path: Path, curves: Mapping[str, Scored], title: str) -> None:
    """How often cases of a score are supported; ``curves`` by scorer."""
    with axes_of(path) as axes:
        axes.plot([0, 1], [0, 1], color="0.7", linestyle=":", label="perfect")
        for name, (scores, supported) in curves.items():
            means, shares, _ = binned(scores, supported)
            error = expected_error(scores, supported)
            axes.plot(means, shares, marker="o", label=f"{name} (ECE {error:.3f})")
        axes.set(xlabel="score", ylabel="share that is supported", title=title)
        axes.legend()


def binned(
    scores: Sequence[float] | NDArray[Any], supported: Sequence[bool] | NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Mean score, share of supported and number of cases of each non-empty bin of scores."""
    values, labels = np.asarray(scores, dtype=np.float64), np.asarray(supported, dtype=np.float64)
    which = np.minimum((values * BINS).astype(int), BINS - 1)
    counts = np.bincount(which, minlength=BINS)
    filled = counts > 0
    means = np.bincount(which, values, BINS)[filled] / counts[filled]
    shares = np.bincount(which, labels, BINS)[filled] / counts[filled]
    return means, shares, counts[filled]


def expected_error(
    scores: Sequence[float] | NDArray[Any], supported: Sequence[bool] | NDArray[Any]
) -> float:
    """Expected calibration error: the mean distance between score and share, over 10 bins."""
    means, shares, counts = binned(scores, supported)
    return float(np.abs(means - shares) @ counts / max(counts.sum(), 1))


@contextmanager
def axes_of(path: Path) -> Iterator[Any]:
    """Axes of a figure that is written to ``path``, without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (slow to import)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=_SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.grid(alpha=0.3)
    yield axes
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
