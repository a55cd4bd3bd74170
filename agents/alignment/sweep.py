"""Where the best local alignment ends, over a document of any length."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .normalisation import Codes
from .smith_waterman import EXTEND, MATCH_SCORE, NARROW, OPEN, STRIPES, Block, Rows, Scores

# Columns computed together: the rows in use then fit a second-level cache of 512 KiB.
_BLOCK = 24_576
# Blocks overlap by a multiple of this, so that contexts of most lengths share the same blocks.
_OVERLAP = 1_024
_CACHED_BLOCKS = 8
_ROWS_PER_CLOCK = 64
# How often it is noted on the way which scores were reached: the traceback takes a third less
# where it knows that the alignment ended early in the context.
_SNAPSHOTS = 8


class AlignmentTimeoutError(TimeoutError):
    """An alignment did not end before its deadline."""


class Endpoint(NamedTuple):
    """Where the first of the best alignments ends (exclusive), and its doubled score.

    Of several ends in the document the first is the least, as it is in Biopython's list. In the
    context it ends there or before.
    """

    score: int
    document: int
    context: int


class SweptText:
    """A document in blocks, which are kept for further contexts."""

    def __init__(self, document: Codes) -> None:
        self._document = document
        self._blocks: dict[tuple[int, int], Block] = {}

    def best_endpoint(self, context: Codes, deadline: float | None = None) -> Endpoint | None:
        """The end of the first best alignment; None where no character matches.

        Memory: a dozen rows of a block, and a row for each character of a context in use. Raises
        `AlignmentTimeoutError` where the deadline (of `time.monotonic`) passed."""
        symbols = context.tolist()
        best = Endpoint(0, 0, 0)
        # Blocks overlap by more than the longest alignment: each is complete in one of them.
        for start, end in self._bounds(longest_alignment(len(symbols), 1)):
            found = _best_in(self._block(start, end), symbols, deadline)
            if found.score > best.score:
                best = found._replace(document=start + found.document)
        return best if best.score else None

    def _bounds(self, overlap: int) -> Iterator[tuple[int, int]]:
        overlap += -overlap % _OVERLAP
        width = max(_BLOCK, 3 * overlap)
        length = len(self._document)
        for start in range(0, max(min(1, length), length - overlap), width - overlap):
            yield start, min(length, start + width)

    def _block(self, start: int, end: int) -> Block:
        block = self._blocks.get((start, end))
        if block is None:
            if len(self._blocks) >= _CACHED_BLOCKS:
                self._blocks.clear()
            block = self._blocks[start, end] = Block(self._document[start:end])
        return block


def longest_alignment(characters: int, score: int) -> int:
    """The most document characters that an alignment of so long a context covers: its pairs, and
    gaps at a cost of ``EXTEND`` that leave ``score``."""
    return characters + max(0, (MATCH_SCORE * characters - score - (OPEN - EXTEND)) // EXTEND)


def _best_in(block: Block, symbols: list[int], deadline: float | None) -> Endpoint:
    rows = Rows(block.lanes, NARROW)
    peaks = rows.zero.copy()
    earlier: list[tuple[int, Scores]] = []
    for row, symbol in enumerate(symbols):
        if row % _ROWS_PER_CLOCK == 0:
            check_deadline(deadline)
        if rows.full:
            rows = rows.widened()
            peaks = peaks.astype(rows.dtype)
        rows.advance(block.pair_scores(symbol, rows.dtype))
        np.maximum(peaks, rows.pairs, out=peaks)
        if row % (len(symbols) // _SNAPSHOTS + 1) == 0:
            earlier.append((row, peaks.copy()))
    stripe, lane = _first_peak(peaks - rows.zero)
    peak = peaks[stripe, lane]
    last = next((row for row, kept in earlier if kept[stripe, lane] == peak), len(symbols) - 1)
    return Endpoint(int(peak) - stripe, lane * STRIPES + stripe + 1, last + 1)


def _first_peak(peaks: Scores) -> tuple[int, int]:
    highest = peaks == peaks.max()
    lane = int(highest.any(axis=0).argmax())
    return int(highest[:, lane].argmax()), lane


def check_deadline(deadline: float | None) -> None:
    """Raise `AlignmentTimeoutError` if ``deadline`` (of `time.monotonic`) has passed."""
    if deadline is not None and time.monotonic() > deadline:
        raise AlignmentTimeoutError("the alignment did not end before its deadline")
