"""From the end of the first best alignment back to its start.

Biopython's full Smith-Waterman does it where the matrix is small. It holds two bytes a cell and
the interpreter lock, so a large matrix (a context of 5,000 characters may reach over 25,000 of
the document: 250 MB, 4 s) is walked by `_walk_back` instead: the same choice at every cell, with the
rows recomputed from checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .normalisation import Codes
from .rows import EXTEND, MATCH_SCORE, MISMATCH_SCORE, OPEN, PairScores, Rows, Scores, score_type
from .scheme import biopython_aligner
from .sweep import Endpoint, check_deadline

BIOPYTHON_CELLS = 100_000
"""Up to here Biopython is the faster of the two; it takes 4 ms."""


_PAIR, _IN_DOCUMENT, _IN_CONTEXT = range(3)
# What it costs to step into a state (second index, in the order above) from the state after it.
_COSTS = ((0, 0, 0), (OPEN, EXTEND, OPEN), (OPEN, OPEN, EXTEND))


class LocalAlignment(NamedTuple):
    """The first of the best local alignments of a context with a document, both normalised.

    It covers the document's characters ``start`` to ``end`` and ``aligned`` characters of the
    context, in ``length`` columns of which ``matches`` are equal characters.
    """

    start: int
    end: int
    aligned: int
    matches: int
    length: int


def trace_back(
    document: Codes, context: Codes, end: Endpoint, deadline: float | None = None
) -> LocalAlignment:
    """Biopython's first alignment of ``document`` and ``context``, given where it ends.

    Nothing behind the end can matter, and of the document nothing before the reach of an
    alignment of that score: it has at most as many pairs as the context has characters up to
    the end, and each document character in a gap costs at least a half of what is left of
    2 a character.
    """
    gaps = max(0, MATCH_SCORE * end.context - end.score - (OPEN - EXTEND))
    first = max(0, end.document - end.context - gaps)
    window, prefix = document[first : end.document], context[: end.context]
    if len(window) * len(prefix) <= BIOPYTHON_CELLS:
        found = biopython_first(window, prefix)
    else:
        found = _walk_back(window, prefix, deadline)
    return found._replace(start=first + found.start, end=first + found.end)


def biopython_first(document: Codes, context: Codes) -> LocalAlignment:
    """Biopython's first alignment of two texts that have a character in common."""
    # Never len(alignments): it counts all co-optimal ones, in seconds or an OverflowError.
    alignments = biopython_aligner().align(document, context)  # type: ignore[no-untyped-call]
    in_document, in_context = alignments[0].coordinates
    matches = length = 0
    for (start, end), (other, last) in zip(
        _segments(in_document), _segments(in_context), strict=True
    ):
        length += max(end - start, last - other)
        if end - start == last - other:
            matches += int((document[start:end] == context[other:last]).sum())
    start, end = int(in_document[0]), int(in_document[-1])
    return LocalAlignment(start, end, int(in_context[-1] - in_context[0]), matches, length)


def _segments(coordinates: Codes) -> Iterator[tuple[int, int]]:
    bounds = coordinates.tolist()
    return zip(bounds, bounds[1:], strict=False)


class _Strip(NamedTuple):
    """Consecutive rows of the matrix, the first of them row ``first``."""

    first: int
    pairs: Scores
    in_document: Scores
    in_context: Scores


class _Checkpoint(NamedTuple):
    """What `Rows` needs to go on after row ``row`` - 1."""

    row: int
    best: Scores
    in_context: Scores
    ceiling: int


class _Matrix:
    """The rows of a matrix in strips, last strip first: computed twice, but never all held."""

    def __init__(self, document: Codes, context: Codes, deadline: float | None) -> None:
        alphabet, symbols = np.unique(context, return_inverse=True)
        self._symbols: list[int] = symbols.tolist()
        self._deadline = deadline
        self._dtype = score_type(len(context), len(document))
        self._scores = PairScores(alphabet, document, self._dtype)
        self._rows = Rows(len(document), self._dtype)
        self._height = math.isqrt(len(context)) + 1

    def strips(self) -> Iterator[_Strip]:
        for checkpoint in reversed(list(self._checkpoints())):
            yield self._strip(checkpoint)

    def _checkpoints(self) -> Iterator[_Checkpoint]:
        rows = self._rows
        for row, symbol in enumerate(self._symbols):
            if row % self._height == 0:
                check_deadline(self._deadline)
                yield _Checkpoint(row, rows.best.copy(), rows.in_context.copy(), rows.ceiling)
            rows.pair(self._scores[symbol])
            rows.finish()

    def _strip(self, checkpoint: _Checkpoint) -> _Strip:
        check_deadline(self._deadline)
        rows, first = self._rows, checkpoint.row
        rows.resume(checkpoint.best, checkpoint.in_context, checkpoint.ceiling)
        symbols = self._symbols[first : first + self._height]
        shape = len(symbols), len(rows.pairs)
        strip = _Strip(first, *(np.empty(shape, self._dtype) for _ in range(3)))
        for row, symbol in enumerate(symbols):
            rows.pair(self._scores[symbol])
            rows.finish()
            strip.pairs[row] = rows.pairs
            strip.in_document[row] = rows.in_document
            strip.in_context[row] = rows.in_context
        return strip


class _Walk:
    """The walk back from the last cell of a matrix, which ends a best alignment.

    Of several ways to reach a cell Biopython prefers a pair of characters, then a document
    character against nothing, then a context character against nothing.
    """

    def __init__(self, document: Codes, context: Codes) -> None:
        self._document = document
        self._context = context
        self.row = len(context) - 1
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
        row = self.row - strip.first
        values = [int(scores[row, self.column]) for scores in strip[1:]]
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


def _walk_back(document: Codes, context: Codes, deadline: float | None) -> LocalAlignment:
    walk = _Walk(document, context)
    for strip in _Matrix(document, context, deadline).strips():
        if walk.through(strip):
            break
    start, aligned = walk.column + 1, len(context) - 1 - walk.row
    return LocalAlignment(start, len(document), aligned, walk.matches, walk.length)
