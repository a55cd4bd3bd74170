"""Smith-Waterman-Gotoh a row at a time: one context character against a block of the document.

numpy computes a row in some 15 operations of about a tenth of a nanosecond a cell each;
Biopython's scalar loop takes 10 ns a cell for the score and 36 ns with the traceback. numpy also
releases the interpreter lock inside its operations, so that an event loop in another thread goes
on.

Scores are twice the scheme's, hence integers. With ``H`` the best score of an alignment ending
in a cell, ``M`` of one ending there in a pair of characters, ``E`` in a context character against
nothing and ``F`` in a document character against nothing::

    M[i, j] = max(0, H[i-1, j-1] + pair)       E[i, j] = max(H[i-1, j] - 3, E[i-1, j] - 1)
    H[i, j] = max(M, E, F)                     F[i, j] = max(H[i, j-1] - 3, F[i, j-1] - 1)

``F`` runs along the row. A gap after a gap of the same kind is never better than a longer gap,
so unrolled, with B = max(M, E), it is a running maximum::

    F[j] = max over k < j of (B[k] - 3 - (j - k - 1)) = max over k < j of (B[k] + k) - j - 2

taken by doubling. Only gaps that leave a positive score matter, so it doubles as often as the
best B of the row has binary digits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .normalisation import Codes
from .reference import SCALE
from .scheme import GAP_EXTEND, GAP_OPEN, MATCH, MISMATCH

Scores = npt.NDArray[np.int16] | npt.NDArray[np.int32]

MATCH_SCORE, MISMATCH_SCORE = int(SCALE * MATCH), int(SCALE * MISMATCH)
OPEN, EXTEND = int(-SCALE * GAP_OPEN), int(-SCALE * GAP_EXTEND)


def score_type(context_length: int, width: int) -> np.dtype[np.int16] | np.dtype[np.int32]:
    """The narrowest type that holds a row's best score plus its column number."""
    fits = MATCH_SCORE * (context_length + 2) + width < np.iinfo(np.int16).max
    return np.dtype(np.int16) if fits else np.dtype(np.int32)


class PairScores:
    """What each character of a context scores against each character of a document block."""

    def __init__(self, alphabet: Codes, document: Codes, dtype: np.dtype[np.generic]) -> None:
        self._alphabet = alphabet
        self._document = document
        self._dtype = dtype
        self._rows: dict[int, Scores] = {}

    def __getitem__(self, symbol: int) -> Scores:
        row = self._rows.get(symbol)
        if row is None:
            equal = self._document == self._alphabet[symbol]
            row = equal.astype(self._dtype) * (MATCH_SCORE - MISMATCH_SCORE) + MISMATCH_SCORE
            self._rows[symbol] = row
        return row


class Rows:
    """The rows of one document block, each made of the one before.

    ``pairs[j]``, ``in_context[j]`` and ``in_document[j]`` (M, E and F above) belong to the
    document character ``j`` of the block; ``best[j + 1]`` (H) too, ``best[0]`` to the column
    left of it.
    """

    def __init__(self, width: int, dtype: np.dtype[np.generic]) -> None:
        self.pairs = np.zeros(width, dtype)
        self.in_context = np.full(width, -OPEN, dtype)
        self.in_document = np.full(width, -OPEN, dtype)
        self.best = np.zeros(width + 1, dtype)
        self.ceiling = 0
        self._context_ceiling = 0
        self._opened = np.empty(width, dtype)
        self._base = np.zeros(width + 1, dtype)
        self._columns = np.arange(width + 1, dtype=dtype)
        self._costs = self._columns[1:] + dtype.type(OPEN - EXTEND)
        self._reach = _Reach(width + 1, dtype)
        self._one = np.full(1, EXTEND, dtype)
        self._three = np.full(1, OPEN, dtype)
        self._zero = np.zeros(1, dtype)

    def resume(self, best: Scores, in_context: Scores, ceiling: int) -> None:
        """Go on as after the row that left these values."""
        self.best[...] = best
        self.in_context[...] = in_context
        self.ceiling = self._context_ceiling = ceiling

    def pair(self, pair_scores: Scores) -> None:
        """Begin a row: its ``pairs`` and ``in_context``."""
        np.subtract(self.in_context, self._one, out=self.in_context)
        np.subtract(self.best[1:], self._three, out=self._opened)
        np.maximum(self.in_context, self._opened, out=self.in_context)
        np.add(self.best[:-1], pair_scores, out=self.pairs)
        np.maximum(self.pairs, self._zero, out=self.pairs)
        self._context_ceiling = max(self._context_ceiling - EXTEND, self.ceiling - OPEN)
        self.ceiling += MATCH_SCORE

    def finish(self, left: int = 0, left_gap: int = 0) -> int:
        """End the row: its ``in_document`` and ``best``.

        Args:
            left: ``best`` in the column left of the block.
            left_gap: what a gap that runs into the block continues from: the value that
                `finish` returned for this row of the block on the left.
        """
        self.ceiling = max(self.ceiling, self._context_ceiling, left_gap, left)
        base = self._base
        base[0] = left_gap
        np.maximum(self.pairs, self.in_context, out=base[1:])
        running = self._reach.running_maximum(base, self._columns, self.ceiling)
        np.subtract(running[:-1], self._costs, out=self.in_document)
        np.maximum(base[1:], self.in_document, out=self.best[1:])
        self.best[0] = left
        return int(running[-1]) - len(self.pairs)


class _Reach:
    """Running maxima over a limited distance, by doubling between two buffers."""

    def __init__(self, width: int, dtype: np.dtype[np.generic]) -> None:
        self._buffers = np.empty(width, dtype), np.empty(width, dtype)
        self._steps = list(self._doublings(width))

    def _doublings(self, width: int) -> Iterator[tuple[Scores, ...]]:
        source, target = self._buffers
        shift = 1
        while shift < width:
            yield source[:shift], target[:shift], source[shift:], source[:-shift], target[shift:]
            source, target = target, source
            shift *= 2

    def running_maximum(self, base: Scores, columns: Scores, ceiling: int) -> Scores:
        """At each column the greatest ``base + columns`` of it and of ``ceiling`` - 3 before it."""
        np.add(base, columns, out=self._buffers[0])
        doublings = min(max(ceiling - OPEN, 1).bit_length(), len(self._steps))
        for head, kept, here, before, running in self._steps[:doublings]:
            kept[...] = head
            np.maximum(here, before, out=running)
        return self._buffers[doublings % 2]
