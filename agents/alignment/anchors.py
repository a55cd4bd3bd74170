"""Where in the document a good alignment can be at all: a certificate from shared 4-grams.

Let the context have m characters and a perfect alignment the score 2m. Anything that an alignment
does less well costs a part of 2m - S, and may break runs of equal characters:

=====================================  ===========  ========================
a document character in a gap          1.5 (or .5)  breaks a run
a pair of different characters         4            breaks a run, one pair less
a context character in a gap           3.5 or more  breaks a run, one pair less
a context character left unaligned     2            one pair less
=====================================  ===========  ========================

A run of r equal characters contains at least r - 3 document 4-grams that the context has too.
So an alignment with M equal pairs and e breaks covers at least M - 3(e + 1) such *hits*. A break
takes at most 3 of them and a lost pair one: for each half point of cost at most one (a single
document character in a gap, 3 for 1.5; 4 / 7 or less in the other rows). With the cost
C = 2(2m - S) of an alignment in half points, it covers at least m - 3 - C hits.

It covers at most m + G characters of the document, G of them in gaps. If G > C / 3, there are at
most (C - G) / 2 gaps, hence at most 1.5 (C - G) hits lost. Cut at either end, or at both, to
m + C / 3 characters, it loses at most G - C / 3 more, which makes C or less. So all of it lies in
stretches of the document with at least ::

    m - 3 - C hits     within     m + C / 3 characters.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .normalisation import Codes
from .smith_waterman import MATCH_SCORE, OPEN

GRAM = 4
_HASH_BITS = 16
_MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)

Positions = npt.NDArray[np.intp]


class Interval(NamedTuple):
    """Document characters ``start`` to ``end``."""

    start: int
    end: int


class Anchors:
    """The 4-grams of a document, by a hash of 16 bits.

    Two different 4-grams of one hash only add hits, which leaves the certificate true.
    """

    def __init__(self, document: Codes) -> None:
        self._length = len(document)
        # As wide as numpy's indexes, so that looking them up copies nothing.
        self._hashes = _gram_hashes(document).astype(np.intp)

    def hits(self, context: Codes) -> Positions:
        """Where, in order, the document has a 4-gram of the context."""
        present = np.zeros(1 << _HASH_BITS, dtype=np.bool_)
        present[_gram_hashes(context)] = True
        return np.flatnonzero(present[self._hashes])

    def densest(self, hits: Positions, width: int) -> tuple[Interval, int]:
        """The interval of ``width`` characters with the most hits, and a few around; and how many
        it has."""
        counts = np.searchsorted(hits, hits + width) - np.arange(len(hits))
        most = int(counts.argmax())
        start = int(hits[most])
        around = Interval(max(0, start - GRAM), min(self._length, start + width + GRAM))
        return around, int(counts[most])

    def certified(self, hits: Positions, characters: int, score: int) -> list[Interval]:
        """Intervals, in order and apart, that hold every alignment of at least ``score``.

        Args:
            hits: of the context.
            characters: its length, m above.
            score: S above, doubled.

        Returns:
            The intervals; none where the score is too low to exclude any place.
        """
        cost = MATCH_SCORE * characters - score
        needed = characters - (GRAM - 1) - cost
        if needed < 1:
            return []
        reach = characters + cost // OPEN
        first, last = hits[: len(hits) - needed + 1], hits[needed - 1 :]
        dense = last + GRAM - first <= reach
        starts = np.maximum(last[dense] + GRAM - reach, 0)
        ends = np.minimum(first[dense] + reach, self._length)
        return _merged(starts, ends)


def _merged(starts: Positions, ends: Positions) -> list[Interval]:
    """The union of intervals whose starts and ends both ascend."""
    if not len(starts):
        return []
    apart = np.flatnonzero(starts[1:] > ends[:-1])
    firsts = starts[np.concatenate(([0], apart + 1))]
    lasts = ends[np.concatenate((apart, [len(ends) - 1]))]
    return [Interval(*bounds) for bounds in zip(firsts.tolist(), lasts.tolist(), strict=True)]


def _gram_hashes(codes: Codes) -> npt.NDArray[np.uint32]:
    count = max(0, len(codes) - GRAM + 1)
    mixed = np.zeros(count, dtype=np.uint32)
    unsigned = codes.astype(np.uint32)
    for offset, multiplier in enumerate(_MULTIPLIERS):
        mixed += unsigned[offset : offset + count] * np.uint32(multiplier)
    return mixed >> np.uint32(32 - _HASH_BITS)
