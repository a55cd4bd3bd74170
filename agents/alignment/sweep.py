"""Where the best local alignment ends, over a document of any length."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from .normalisation import Codes
from .rows import PairScores, Rows, score_type, widest_short_block

# Columns computed together: the rows in use then about fit a second-level cache of 512 KiB.
# Half as many are still better than scores of 32 bits.
_BLOCK = 20_480
_ROWS_PER_CLOCK = 64


class AlignmentTimeoutError(TimeoutError):
    """An alignment did not end before its deadline."""


class Endpoint(NamedTuple):
    """Where the first of the best alignments ends (exclusive), and its doubled score.

    Of several ends the first is the least in the document, then in the context: the order in
    which Biopython lists them.
    """

    score: int
    document: int
    context: int


def best_endpoint(
    document: Codes, context: Codes, deadline: float | None = None
) -> Endpoint | None:
    """The end of the first best alignment; None where no character matches.

    The document is taken in blocks, each row of which hands its last column on to the next
    block. Memory: a few rows of a block, and twice the context's length.

    Args:
        deadline: of `time.monotonic`, in seconds.

    Raises:
        AlignmentTimeoutError: the deadline passed.
    """
    sweep = _Sweep(context, deadline)
    width = max(_BLOCK // 2, min(_BLOCK, widest_short_block(len(context))))
    for start in range(0, len(document), width):
        sweep.block(document[start : start + width], start)
    return sweep.best if sweep.best.score else None


class _Sweep:
    def __init__(self, context: Codes, deadline: float | None) -> None:
        self.best = Endpoint(0, 0, 0)
        self._alphabet, symbols = np.unique(context, return_inverse=True)
        self._symbols: list[int] = symbols.tolist()
        self._deadline = deadline
        # Of each row, in the column left of the block: H, and what a gap continues from.
        self._left = [0] * len(symbols)
        self._left_gap = [0] * len(symbols)

    def block(self, document: Codes, start: int) -> None:
        dtype = score_type(len(self._symbols), len(document))
        scores = PairScores(self._alphabet, document, dtype)
        rows = Rows(len(document), dtype)
        for row, symbol in enumerate(self._symbols):
            rows.pair(scores[symbol])
            self._note_best(rows, row, start)
            gap = rows.finish(self._left[row], self._left_gap[row])
            self._left[row], self._left_gap[row] = int(rows.best[-1]), gap
            if row % _ROWS_PER_CLOCK == 0:
                check_deadline(self._deadline)

    def _note_best(self, rows: Rows, row: int, start: int) -> None:
        if rows.ceiling < self.best.score:
            return
        end = start + rows.best_pair() + 1
        score = rows.ceiling
        if score > self.best.score or (score == self.best.score and end < self.best.document):
            self.best = Endpoint(score, end, row + 1)


def check_deadline(deadline: float | None) -> None:
    """Raise `AlignmentTimeoutError` if ``deadline`` (of `time.monotonic`) has passed."""
    if deadline is not None and time.monotonic() > deadline:
        raise AlignmentTimeoutError("the alignment did not end before its deadline")
