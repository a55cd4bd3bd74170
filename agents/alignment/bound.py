"""An upper bound on D over every local alignment, for rejection by proof.

An alignment of M equal pairs that leaves g document characters in gaps has D = M / (m + g) for a
context of m characters. Let V be the greatest M - g / 2 over all paths
that may skip context characters and pair different ones for nothing. Then M <= V + g / 2 and
M <= m bound D by its value at g = 0 or at g = 2(m - V), since it is monotonous in between::

    D <= max(V / m, m / (3m - 2V))

Quotes of other documents have V / m of .4 to .5 from 60 characters on, far below tau = .6.

V is computed for all columns of the document at once, with one bit of a Python integer for each:
after Myers (1999) and Hyyro (2004), from the differences between neighbouring cells alone. With
V doubled, so that a match is worth 2 and a skipped document character -1, the horizontal
difference dh = V[i,j] - V[i,j-1] lies in -1..2, the vertical one dv = V[i,j] - V[i-1,j] in 0..3,
and with z = V[i,j] - V[i-1,j-1]::

    z = max(2 where the characters are equal, 0, dh[i-1,j], dv[i,j-1] - 1)
    dv[i,j] = z - dh[i-1,j]        dh[i,j] = z - dv[i,j-1]

dv depends on its left neighbour only through runs of dh = -1, over which an addition carries it.
"""

from collections.abc import Iterator

import numpy as np

from .normalisation import Codes
from .sweep import check_deadline

# Bits computed together, about: the integers in use then fit a second-level cache.
_BLOCK = 65_536
_ROWS_PER_CLOCK = 64
_CACHED_MASK_BYTES = 8_000_000
# Share of the context after which most foreign contexts are already beyond hope.
_EARLY = 0.75


def highest_score(gain: int, characters: int) -> float:
    """The bound on D, given doubled V and the context's length m."""
    return max(gain / (2 * characters), characters / (3 * characters - gain))


class Bound:
    """Bounds for the contexts of one normalised document."""

    def __init__(self, document: Codes) -> None:
        self._document = document
        self._masks: dict[tuple[int, int], int] = {}
        self._mask_bytes = 0

    def below(self, context: Codes, threshold: float, deadline: float | None) -> float | None:
        """An upper bound on D that is below ``threshold``, or None where none was proven. Raises
        `AlignmentTimeoutError` where the deadline (of `time.monotonic`) passed."""
        bounds: list[float] = [0.0]
        for start, end in self._blocks(len(context)):
            bound = self._bound(start, end, context.tolist(), threshold, deadline)
            if bound >= threshold:
                return None
            bounds.append(bound)
        return max(bounds)

    def _blocks(self, characters: int) -> Iterator[tuple[int, int]]:
        """Blocks that overlap by more than a path with a positive V can be long."""
        reach = 3 * characters
        width = max(_BLOCK, 2 * reach)
        for start in range(0, max(1, len(self._document) - reach), width - reach):
            yield start, min(len(self._document), start + width)

    def _bound(
        self, start: int, end: int, context: list[int], threshold: float, deadline: float | None
    ) -> float:
        rows, size = _Differences(end - start, len(context)), len(context)
        early = int(_EARLY * size)
        for row, character in enumerate(context):
            if row % _ROWS_PER_CLOCK == 0:
                check_deadline(deadline)
            if row == early:
                bound = highest_score(rows.greatest() + 2 * (size - row), size)
                if bound < threshold:
                    return bound
            rows.advance(self._mask(character, start, end))
        return highest_score(rows.greatest(), size)

    def _mask(self, character: int, start: int, end: int) -> int:
        """One bit for each document character of the block that equals ``character``."""
        mask = self._masks.get((character, start))
        if mask is None:
            bits = np.packbits(self._document[start:end] == character, bitorder="little")
            mask = int.from_bytes(bits.tobytes(), "little")
            if self._mask_bytes > _CACHED_MASK_BYTES:
                self._masks.clear()
                self._mask_bytes = 0
            self._masks[character, start] = mask
            self._mask_bytes += len(bits)
        return mask


class _Differences:
    """The horizontal differences dh of one row, as the sets of columns with each value.

    A gain of 2 a row spreads to the right at a cost of 1 a column: two more columns a row, in
    which no character is equal, take up what runs past the last one. ``a ^ (a & b)`` is a
    without b: Python negates integers slowly.
    """

    def __init__(self, width: int, rows: int) -> None:
        self._width = width
        self._all = (1 << (width + 2 * rows + 2)) - 1
        self._two = self._one = self._minus = 0

    def advance(self, equal: int) -> None:
        """Go to the next row, where ``equal`` has the columns whose characters are equal."""
        two, one, minus = self._two, self._one, self._minus
        zero = self._all ^ two ^ one ^ minus
        # dv = 3 begins where the characters are equal and runs on over dh = -1.
        down3 = _carried(minus & equal, minus)
        left3 = down3 << 1
        best = equal | left3
        # dv = 2 begins where z = 2 and dh = 0, and runs on over the rest of dh = -1.
        begun = zero & best
        rest = minus ^ down3
        left2 = (begun | _carried((begun << 1) & rest, rest)) << 1
        down1 = (one & best) | ((zero ^ begun) & left2) | (rest ^ (rest & left2))
        left1 = down1 << 1
        gain2 = best | two
        gain1 = one | left2
        gain1 ^= gain1 & gain2
        descended = left1 | left2 | left3
        self._two = gain2 ^ (gain2 & descended)
        self._one = (gain2 & left1) | (gain1 ^ (gain1 & descended))
        self._minus = left3 | (gain1 & left2) | (left1 ^ (left1 & (gain1 | gain2)))

    def greatest(self) -> int:
        """The greatest doubled V of the row: its differences summed up from the left."""
        steps = 2 * self._bits(self._two) + self._bits(self._one) - self._bits(self._minus)
        return max(0, int(np.cumsum(steps, dtype=np.int32).max(initial=0)))

    def _bits(self, columns: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
        size = self._all.bit_length() // 8 + 1
        packed = np.frombuffer(columns.to_bytes(size, "little"), dtype=np.uint8)
        return np.unpackbits(packed, bitorder="little", count=self._width).view(np.int8)


def _carried(begun: int, run: int) -> int:
    """The columns of ``run`` reached from ``begun`` (a part of it) without leaving it."""
    return (((begun + run) ^ run) | begun) & run
