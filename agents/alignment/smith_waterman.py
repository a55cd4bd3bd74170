"""Smith-Waterman-Gotoh a row at a time: one context character against a block of the document.

numpy computes a row in some 25 operations over 8-bit numbers as long as the scores fit, as those
of nearly all contexts do: about a nanosecond a cell. Biopython's scalar loop takes 6 to 10 for
the score and 20 to 40 with the traceback. numpy also releases the interpreter lock inside its
operations, so that an event loop in another thread goes on.

Scores are twice the scheme's, hence integers. With ``H`` the best score of an alignment ending
in a cell, ``M`` of one ending there in a pair of characters, ``E`` in a context character against
nothing and ``F`` in a document character against nothing::

    M[i, j] = max(0, H[i-1, j-1] + pair)       E[i, j] = max(H[i-1, j] - 3, E[i-1, j] - 1)
    H[i, j] = max(M, E, F)                     F[i, j] = max(H[i, j-1] - 3, F[i, j-1] - 1)

``F`` runs along the row. A gap after a gap of the same kind is never better than a longer gap,
so unrolled, with B = max(M, E), it is a running maximum::

    F[j] = max over k < j of (B[k] - 3 - (j - k - 1)) = max over k < j of (B[k] + k) - j - 2

For this a block lies in 8 *stripes* (after Farrar, 2007): column ``j`` is place ``j // 8`` (the
*lane*) of stripe ``j % 8``, so that the columns of a lane are taken in 8 operations over all
lanes at once. Every number is kept with its stripe's number added, which is the ``+ k`` above
inside a lane. Across lanes the maximum is taken by doubling the distance: only gaps that leave a
positive score matter, so it doubles as often as the highest score asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .normalisation import Codes
from .reference import SCALE
from .scoring_scheme import GAP_EXTEND, GAP_OPEN, MATCH, MISMATCH

Scores = npt.NDArray[np.signedinteger[Any]]
_Operation = tuple[np.ufunc, Scores, Scores, Scores]
ScoreType = np.dtype[np.signedinteger[Any]]

MATCH_SCORE, MISMATCH_SCORE = int(SCALE * MATCH), int(SCALE * MISMATCH)
OPEN, EXTEND = int(-SCALE * GAP_OPEN), int(-SCALE * GAP_EXTEND)

STRIPES = 8
"""Fewer would take more doublings across lanes, more would take more operations inside them."""

NARROW: ScoreType = np.dtype(np.int8)
_TYPES: tuple[ScoreType, ...] = (NARROW, np.dtype(np.int16), np.dtype(np.int32))

# Between two looks at the highest score it is taken to grow by a match a row.
_ROWS_PER_LOOK = 4
# Lanes are a multiple of it, so that a stripe begins where a vector register may load it fast.
_ALIGNED = 32
# No character of a document.
_NOTHING = -1
# A text in an alphabet uses some 45 different ones.
_CACHED_CHARACTERS = 64


def score_type(characters: int) -> ScoreType:
    """The narrowest type that holds every score of a context of so many characters."""
    return next(t for t in _TYPES if MATCH_SCORE * characters < _highest(t))


def wider(dtype: ScoreType) -> ScoreType:
    """The next wider type."""
    return _TYPES[_TYPES.index(dtype) + 1]


def place(column: int) -> tuple[int, int]:
    """Stripe and lane of a column."""
    lane, stripe = divmod(column, STRIPES)
    return stripe, lane


def _highest(dtype: ScoreType) -> int:
    """The highest score from which one more row does not overflow, its stripe's number added."""
    return int(np.iinfo(dtype).max) - MATCH_SCORE - STRIPES


class Block:
    """A stretch of the document in stripes, and what each character scores against it."""

    def __init__(self, document: Codes) -> None:
        self.lanes = -(-len(document) // (STRIPES * _ALIGNED)) * _ALIGNED
        codes = np.full(self.lanes * STRIPES, _NOTHING, dtype=np.int32)
        codes[: len(document)] = document
        self._codes = np.ascontiguousarray(codes.reshape(self.lanes, STRIPES).T)
        self._pairs: dict[int, Scores] = {}

    def pair_scores(self, character: int, dtype: ScoreType) -> Scores:
        """The scores of all columns against ``character``: to add to the column on the left."""
        scores = self._pairs.get(character)
        if scores is None:
            scores = (self._codes == character).view(NARROW)
            scores *= MATCH_SCORE - MISMATCH_SCORE
            scores += MISMATCH_SCORE + EXTEND
            if len(self._pairs) >= _CACHED_CHARACTERS:
                self._pairs.clear()
            self._pairs[character] = scores
        return scores.astype(dtype, copy=False)


class Rows:
    """The rows of one block, each made of the one before.

    ``pairs``, ``in_context`` and ``in_document`` (M, E and F above) and ``best`` (H) have one
    line a stripe and one column a lane; the stripe's number is added to every score. What is 0
    or less may be too low in ``in_document``: no alignment goes through it.
    """

    def __init__(self, lanes: int, dtype: ScoreType) -> None:
        self.dtype = dtype
        self.ceiling = 0
        self._row = 0
        self._limit = _highest(dtype)
        shape = STRIPES, lanes
        # numpy takes a maximum with an array six times faster than with a number.
        self.zero = np.empty(shape, dtype)
        self.zero[...] = np.arange(STRIPES, dtype=dtype)[:, None]
        self.pairs = self.zero.copy()
        self.in_context = self.zero - np.array(OPEN, dtype)
        self.in_document = self.in_context.copy()
        # One stripe more: the first has the columns left of the first stripe's.
        self._best = np.full((STRIPES + 1, lanes), -EXTEND, dtype)
        self.best = self._best[1:]
        self.best[...] = self.zero
        self._base = np.empty(shape, dtype)
        self._opened = np.empty(shape, dtype)
        self._program(lanes)

    def _program(self, lanes: int) -> None:
        """Write the operations of a row down once: looking things up again would take a tenth
        of the time. So would naming ``out``, which `np.maximum` asks for and `np.fmax` does not.
        """
        subtract, greater = np.subtract, np.fmax
        opened, running, gap = self._opened, self.in_document, self.in_context
        ends, shifted = np.empty((2, lanes), self.dtype)
        half, quarter = (np.empty((STRIPES // n, lanes), self.dtype) for n in (2, 4))
        self._diagonal = self._best[:-1]
        self._gaps: list[_Operation] = [
            (subtract, gap, self._number(EXTEND), gap),
            (subtract, self.best, self._number(OPEN), opened),
            (greater, gap, opened, gap),
        ]
        # The greatest of each lane.
        self._before: list[_Operation] = [
            (greater, self.pairs, self.zero, self.pairs),
            (greater, self.pairs, gap, self._base),
            (subtract, self._base, self._number(OPEN - EXTEND), opened),
            (greater, opened[: STRIPES // 2], opened[STRIPES // 2 :], half),
            (greater, half[:2], half[2:], quarter),
            (greater, quarter[0], quarter[1], ends),
        ]
        self._doublings: list[tuple[int, _Operation, _Operation]] = []
        distance = 1
        while distance < lanes and (loss := STRIPES * EXTEND * distance) <= self._limit:
            before, here, moved = ends[:-distance], ends[distance:], shifted[distance:]
            fall = (subtract, before, self._number(loss), moved)
            self._doublings.append((loss, fall, (greater, here, moved, here)))
            distance *= 2
        # What enters a lane from the left, then the running maximum inside the lanes.
        lane = self._number(STRIPES * EXTEND)
        self._after: list[_Operation] = [
            (subtract, ends[:-1], lane, running[0, 1:]),
            *((greater, running[s], opened[s], running[s + 1]) for s in range(STRIPES - 1)),
            (greater, self._base, running, self.best),
            (subtract, self.best[-1, :-1], lane, self._best[0, 1:]),
        ]

    def _number(self, value: int) -> Scores:
        # numpy subtracts a 0-d array faster than a number.
        return np.array(value, self.dtype)

    @property
    def full(self) -> bool:
        """Whether another row might not fit the type: then go on with `widened` rows."""
        return self.ceiling > self._limit

    def widened(self) -> Rows:
        """The same rows in the next wider type."""
        rows = Rows(self.pairs.shape[1], wider(self.dtype))
        rows.resume(self._best, self.in_context, self.ceiling)
        return rows

    def state(self) -> tuple[Scores, Scores, int]:
        """A copy of what the next row is made of."""
        return self._best.copy(), self.in_context.copy(), self.ceiling

    def resume(self, best: Scores, in_context: Scores, ceiling: int) -> None:
        """Go on as after the row that left this `state`."""
        self._best[...] = best
        self.in_context[...] = in_context
        self.ceiling = ceiling

    def advance(self, pair_scores: Scores) -> None:
        """Go to the next row, whose context character has these `Block.pair_scores`."""
        for operation, one, other, result in self._gaps:
            operation(one, other, result)
        np.add(self._diagonal, pair_scores, self.pairs)
        self.ceiling += MATCH_SCORE + EXTEND
        for operation, one, other, result in self._before:
            operation(one, other, result)
        for reach, *doubling in self._doublings:
            if reach >= self.ceiling:
                break
            for operation, one, other, result in doubling:
                operation(one, other, result)
        for operation, one, other, result in self._after:
            operation(one, other, result)
        self._look()

    def _look(self) -> None:
        """Replace the estimate of the highest score by what it is, now and then."""
        self._row += 1
        if self._row % _ROWS_PER_LOOK == 0 or self.full:
            self.ceiling = int(self.best.ravel()[self.best.argmax()])
