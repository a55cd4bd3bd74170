"""From the end of the first best alignment back to its start, where the matrix is large.

Biopython's traceback holds two bytes a cell: 250 MB for a context of 5,000 characters, which may
reach over 25,000 characters of the document. So `_Walk` makes the same choice at every cell,
with the rows recomputed from checkpoints.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .normalisation import Codes
from .reference import BIOPYTHON_WIDTH, LocalAlignment, biopython_first
from .smith_waterman import (
    EXTEND,
    MATCH_SCORE,
    MISMATCH_SCORE,
    OPEN,
    Block,
    Rows,
    Scores,
    place,
    score_type,
)
from .sweep import Endpoint, check_deadline, longest_alignment

_PAIR, _IN_DOCUMENT, _IN_CONTEXT = range(3)
# What it costs to step into a state (second index, in the order above) from the state after it.
_COSTS = ((0, 0, 0), (OPEN, EXTEND, OPEN), (OPEN, OPEN, EXTEND))


def trace_back(
    document: Codes, context: Codes, end: Endpoint, deadline: float | None = None
) -> LocalAlignment:
    """Biopython's first alignment of ``document`` and ``context``, given where it ends.

    Nothing behind the end matters, and of the document nothing before the reach of an alignment of
    that score. Raises `AlignmentTimeoutError` where the deadline (of `time.monotonic`) passed."""
    first = max(0, end.document - longest_alignment(end.context, end.score))
    window, prefix = document[first : end.document], context[: end.context]
    found = biopython_first(window, prefix) if len(window) <= BIOPYTHON_WIDTH else None
    return (found or _walk_back(window, prefix, end.score, deadline)).shifted(first)


class _Strip(NamedTuple):
    """Consecutive rows of the matrix, the first of them row ``first``, each in stripes."""

    first: int
    pairs: Scores
    in_document: Scores
    in_context: Scores


class _Checkpoint(NamedTuple):
    """What `Rows` needs to go on after row ``row`` - 1."""

    row: int
    state: tuple[Scores, Scores, int]


class _Matrix:
    """The rows of a matrix in strips, last strip first: computed twice, but never all held.

    The last row is the first that ends an alignment of ``score`` in the document's last column.
    """

    def __init__(self, document: Codes, context: Codes, score: int, deadline: float | None) -> None:
        self._symbols: list[int] = context.tolist()
        self._deadline = deadline
        self._dtype = score_type(len(context))
        self._block = Block(document)
        self._rows = Rows(self._block.lanes, self._dtype)
        self._height = math.isqrt(len(context)) + 1
        self._checkpoints: list[_Checkpoint] = []
        self.last_row = self._run(place(len(document) - 1), score)

    def strips(self) -> Iterator[_Strip]:
        for checkpoint in reversed(self._checkpoints):
            yield self._strip(checkpoint)

    def _run(self, end: tuple[int, int], score: int) -> int:
        for row, symbol in enumerate(self._symbols):
            if row % self._height == 0:
                check_deadline(self._deadline)
                self._checkpoints.append(_Checkpoint(row, self._rows.state()))
            self._rows.advance(self._block.pair_scores(symbol, self._dtype))
            if int(self._rows.pairs[end]) - end[0] == score:
                return row
        raise AssertionError("no row reaches the score that the sweep found")

    def _strip(self, checkpoint: _Checkpoint) -> _Strip:
        check_deadline(self._deadline)
        rows, first = self._rows, checkpoint.row
        rows.resume(*checkpoint.state)
        symbols = self._symbols[first : min(first + self._height, self.last_row + 1)]
        shape = len(symbols), *rows.pairs.shape
        strip = _Strip(first, *(np.empty(shape, self._dtype) for _ in range(3)))
        for row, symbol in enumerate(symbols):
            rows.advance(self._block.pair_scores(symbol, self._dtype))
            strip.pairs[row] = rows.pairs
            strip.in_document[row] = rows.in_document
            strip.in_context[row] = rows.in_context
        return strip


class _Walk:
    """The walk back from the last column and row ``row``, where a best alignment ends.

    Of several ways to reach a cell Biopython prefers a pair of characters, then a document
    character against nothing, then a context character against nothing.
    """

    def __init__(self, document: Codes, context: Codes, row: int) -> None:
        self._document = document
        self._context = context
        self.row = row
        self.column = len(document) - 1
        self.matches = self.length = 0
        self._value: int | None = None
        self._costs = (0, 0, 0)

    def through(self, strip: _Strip) -> bool:
        """Walk on while in ``strip``; whether the path began in it."""
        while self.row >= strip.first:
            if self.column < 0 or self._step(strip):
                return True
        return self.row < 0

    def _step(self, strip: _Strip) -> bool:
        row, (stripe, lane) = self.row - strip.first, place(self.column)
        values = [int(scores[row, stripe, lane]) - stripe for scores in strip[1:]]
        state = self._state(values)
        value = values[state]
        if value == 0:
            return True
        self.length += 1
        if state == _PAIR:
            equal = self._document[self.column] == self._context[self.row]
            self.matches += bool(equal)
            value -= MATCH_SCORE if equal else MISMATCH_SCORE
        self._value, self._costs = value, _COSTS[state]
        self.column -= state != _IN_CONTEXT
        self.row -= state != _IN_DOCUMENT
        return False

    def _state(self, values: list[int]) -> int:
        """The first of the three states from which the last step can have come."""
        if self._value is None:
            return _PAIR
        for state, (value, cost) in enumerate(zip(values, self._costs, strict=True)):
            if value - cost == self._value:
                return state
        raise AssertionError("the rows computed twice differ")


def _walk_back(
    document: Codes, context: Codes, score: int, deadline: float | None
) -> LocalAlignment:
    matrix = _Matrix(document, context, score, deadline)
    walk = _Walk(document, context, matrix.last_row)
    for strip in matrix.strips():
        if walk.through(strip):
            break
    return LocalAlignment(
        score=score,
        start=walk.column + 1,
        end=len(document),
        aligned=matrix.last_row - walk.row,
        matches=walk.matches,
        length=walk.length,
    )
