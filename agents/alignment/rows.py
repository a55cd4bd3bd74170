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
ScoreType = np.dtype[np.int16] | np.dtype[np.int32]

MATCH_SCORE, MISMATCH_SCORE = int(SCALE * MATCH), int(SCALE * MISMATCH)
OPEN, EXTEND = int(-SCALE * GAP_OPEN), int(-SCALE * GAP_EXTEND)


def score_type(characters: int, width: int) -> ScoreType:
    """The narrowest type that holds a context's best score plus a column number."""
    fits = width <= widest_short_block(characters)
    return np.dtype(np.int16) if fits else np.dtype(np.int32)


def widest_short_block(characters: int) -> int:
    """How many columns 16 bits can number beside the best score of so long a context."""
    return int(np.iinfo(np.int16).max) - MATCH_SCORE * (characters + 2)


class PairScores:
    """What each character of a context scores against each character of a document block."""

    def __init__(self, alphabet: Codes, document: Codes, dtype: ScoreType) -> None:
        self._alphabet = alphabet
        self._document = document
        self._dtype = dtype
        self._rows: dict[int, Scores] = {}

    def __getitem__(self, symbol: int) -> Scores:
        row = self._rows.get(symbol)
        if row is None:
            row = (self._document == self._alphabet[symbol]).astype(self._dtype)
            row *= MATCH_SCORE - MISMATCH_SCORE
            row += MISMATCH_SCORE
            self._rows[symbol] = row
        return row


class Rows:
    """The rows of one document block, each made of the one before.

    ``pairs[j]``, ``in_context[j]`` and ``in_document[j]`` (M, E and F above) belong to the
    document character ``j`` of the block; ``best[j + 1]`` (H) too, ``best[0]`` to the column
    left of it.
    """

    def __init__(self, width: int, dtype: ScoreType) -> None:
        self.pairs = np.zeros(width, dtype)
        self.in_context = np.full(width, -OPEN, dtype)
        self.in_document = np.full(width, -OPEN, dtype)
        self.best = np.zeros(width + 1, dtype)
        self.ceiling = 0
        self._context_ceiling = 0
        self._opened = np.empty(width, dtype)
        self._columns = np.cumsum(np.ones(width + 1, dtype), dtype=dtype) - np.array(1, dtype)
        self._costs = self._columns[1:] + np.array(OPEN - EXTEND, dtype)
        self._base = np.zeros(width + 1, dtype)
        self._reach = _Reach(width + 1, dtype)
        # numpy subtracts a 0-d array faster than a number, and takes a maximum of an array and
        # a number six times slower than of two arrays.
        self._extend = np.array(EXTEND, dtype)
        self._open = np.array(OPEN, dtype)
        self._zeros = np.zeros(width, dtype)
        # A row is a dozen operations of a microsecond: views made once are worth it.
        self._above, self._diagonal = self.best[1:], self.best[:-1]
        self._own_base = self._base[1:]

    def resume(self, best: Scores, in_context: Scores, ceiling: int) -> None:
        """Go on as after the row that left these values."""
        self.best[...] = best
        self.in_context[...] = in_context
        self.ceiling = self._context_ceiling = ceiling

    def pair(self, pair_scores: Scores) -> None:
        """Begin a row: its ``pairs`` and ``in_context``."""
        np.subtract(self.in_context, self._extend, out=self.in_context)
        np.subtract(self._above, self._open, out=self._opened)
        np.maximum(self.in_context, self._opened, out=self.in_context)
        np.add(self._diagonal, pair_scores, out=self.pairs)
        np.maximum(self.pairs, self._zeros, out=self.pairs)
        self._context_ceiling = max(self._context_ceiling - EXTEND, self.ceiling - OPEN)
        self.ceiling += MATCH_SCORE

    def best_pair(self) -> int:
        """The first column with the best of ``pairs``, from which ``ceiling`` is known exactly."""
        column = int(self.pairs.argmax())
        self.ceiling = int(self.pairs[column])
        return column

    def finish(self, left: int = 0, left_gap: int = 0) -> int:
        """End the row: its ``in_document`` and ``best``.

        Args:
            left: ``best`` in the column left of the block.
            left_gap: what a gap that runs into the block continues from: the value that
                `finish` returned for this row of the block on the left.
        """
        self.ceiling = max(self.ceiling, self._context_ceiling, left_gap, left)
        self._base[0] = left_gap
        np.maximum(self.pairs, self.in_context, out=self._own_base)
        running = self._reach.running_maximum(self._base, self._columns, self.ceiling)
        np.subtract(running[:-1], self._costs, out=self.in_document)
        np.maximum(self._own_base, self.in_document, out=self._above)
        self.best[0] = left
        return int(running[-1] - self._columns[-1])


class _Reach:
    """Running maxima over a limited distance, by doubling between two buffers.

    The buffers begin with as many very low numbers as the last doubling looks back.
    """

    def __init__(self, width: int, dtype: ScoreType) -> None:
        back = 1 << max(0, (width - 1).bit_length() - 1)
        low = np.iinfo(dtype).min
        self._buffers = tuple(np.full(back + width, low, dtype) for _ in range(2))
        self._own = tuple(buffer[back:] for buffer in self._buffers)
        self._steps = list(self._doublings(back, width))

    def _doublings(self, back: int, width: int) -> Iterator[tuple[Scores, Scores, Scores]]:
        shift, turn = 1, 0
        while shift < width:
            before = self._buffers[turn][back - shift : back - shift + width]
            yield self._own[turn], before, self._own[1 - turn]
            shift, turn = 2 * shift, 1 - turn

    def running_maximum(self, base: Scores, columns: Scores, ceiling: int) -> Scores:
        """At each column the greatest ``base + columns`` of it and of ``ceiling`` - 3 before it."""
        np.add(base, columns, out=self._own[0])
        doublings = min(max(ceiling - OPEN, 1).bit_length(), len(self._steps))
        for here, before, running in self._steps[:doublings]:
            np.maximum(here, before, out=running)
        return self._own[doublings % 2]
