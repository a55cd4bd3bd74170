"""A reader's state in 8-bit numbers, and how alike two of them are.

Sums of products of 8-bit numbers are whole numbers below 2^24 up to a width of 1,040, so float32
adds them exactly in any order: a likeness is the same in every batch and on every machine. Wider
states are added in float64.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST = 127
EXACT_WIDTH = 1_040
DECIMALS = 6

Floats = NDArray[np.float64]
Bytes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Trace:
    """What a part of a value leaves in a memory: its number and type, how it was read, the revision
    of the scorer, the reader's state of its words in 8-bit numbers, and the scorer's own log-odds.
    Of shape "words" it is not read, and leaves the ``words`` that the quote has in other words (see
    `safepassage.scoring_worker.comparison.other_words`).
    """

    number: int
    part: str
    shape: str
    space: str
    state: Bytes
    log_odds: float
    words: tuple[str, ...] = ()


def quantised(state: Floats) -> Bytes:
    """``state`` [width] in 8-bit numbers, its largest as 127. A state of zeros stays one."""
    most = float(np.abs(state).max())
    scaled = np.zeros_like(state) if most == 0 else np.rint(state / most * LARGEST)
    return scaled.astype(np.int8)


def written(state: Bytes) -> str:
    """As a record carries it."""
    return base64.b64encode(state.tobytes()).decode()


def read(text: str) -> Bytes:
    """The state that `written` wrote."""
    return np.frombuffer(base64.b64decode(text), dtype=np.int8)


class States:
    """Rows of states of one width, to be compared with another state."""

    def __init__(self, rows: Sequence[Bytes]) -> None:
        stacked = np.stack(rows)
        exact = stacked.shape[1] <= EXACT_WIDTH
        self._rows = stacked.astype(np.float32 if exact else np.float64)
        self._norms = np.sqrt((self._rows.astype(np.float64) ** 2).sum(axis=1))

    @property
    def width(self) -> int:
        """Numbers of a state."""
        return int(self._rows.shape[1])

    def likeness(self, state: Bytes) -> Floats:
        """The cosine [rows] of ``state`` with every row, rounded; 0 where one of them is zero."""
        asked = state.astype(self._rows.dtype)
        norm = float(np.sqrt((asked.astype(np.float64) ** 2).sum()))
        dots = (self._rows @ asked).astype(np.float64)
        lengths = self._norms * norm
        cosines = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
        rounded: Floats = np.clip(np.round(cosines, DECIMALS), -1.0, 1.0)
        return rounded
