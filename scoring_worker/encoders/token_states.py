"""The reader's own state of some words of a task: the mean of its last layer over their tokens."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from .reading_windows import Window

Places = tuple[tuple[int, int], ...]
"""Code points (start, end) of the passage; () represents all that was asked."""
Floats = NDArray[np.float64]


def rows_of(window: Window, places: Places) -> list[int]:
    """The tokens of ``window`` that share a code point with ``places``, in order."""
    side = 1 if places else 0
    return [
        at
        for at, (own, (start, end)) in enumerate(zip(window.sides, window.offsets, strict=True))
        if own == side
        and start < end
        and (not places or any(start < last and end > first for first, last in places))
    ]


def wanted_rows(window: Window, wanted: Collection[Places]) -> tuple[int, ...]:
    """Every token of ``window`` that one of the ``wanted`` needs, in order."""
    return tuple(sorted({row for places in wanted for row in rows_of(window, places)}))


def states_of(
    parts: Sequence[tuple[Window, tuple[int, ...], Floats]], wanted: Collection[Places]
) -> dict[Places, Floats]:
    """The mean state [width] of each of the ``wanted``, over all windows; none where no token
    is there. ``parts`` are windows, the tokens that were kept, and their states [kept, width].
    """
    found: dict[Places, Floats] = {}
    for places in wanted:
        rows = [
            states[kept.index(row)]
            for window, kept, states in parts
            for row in rows_of(window, places)
        ]
        if rows:
            found[places] = np.mean(np.stack(rows), axis=0)
    return found
