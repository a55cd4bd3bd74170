"""Words on a page, as every importer of pages finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from safepassage.schemas import Omission, PageSize

Pixels = npt.NDArray[np.uint8]
"""A picture in RGB: (height, width, 3)."""


class Rectangle(NamedTuple):
    """From the top left corner of the page, in its units."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def share_inside(self, other: Rectangle) -> float:
        """How much of this rectangle's area lies within ``other``, in [0, 1]."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        area = self.width * self.height
        return max(0.0, width) * max(0.0, height) / area if area > 0 else 0.0


def hull(rectangles: Iterable[Rectangle]) -> Rectangle:
    """The smallest rectangle around all of ``rectangles``, of which there is one at least."""
    lefts, tops, rights, bottoms = zip(*rectangles, strict=True)
    return Rectangle(min(lefts), min(tops), max(rights), max(bottoms))


@dataclass(frozen=True, slots=True)
class Word:
    """``text`` without blanks; ``confidence`` in [0, 1] where an OCR read it. ``upright`` is where
    the word is once its page is upright, where that is more than a turn by right angles. A PDF
    names the ``font``; ``turn`` see `Group`."""

    text: str
    box: Rectangle
    confidence: float | None = None
    upright: Rectangle | None = None
    turn: int = 0
    font: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Words of a page that run in one direction. ``turn`` is by how many degrees clockwise (0,
    90, 180, 270) the page would have to be turned for them to be upright."""

    words: Sequence[Word]
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its groups of words, those first that are read first."""

    size: PageSize
    groups: Sequence[Group]
    omissions: tuple[Omission, ...] = ()


def turned(box: Rectangle, size: PageSize, turn: int) -> Rectangle:
    """Where ``box`` is once a page of ``size`` is turned by ``turn`` degrees clockwise."""
    left, top, right, bottom = box
    width, height = size
    if turn == 90:
        return Rectangle(height - bottom, left, height - top, right)
    if turn == 180:
        return Rectangle(width - right, height - bottom, width - left, height - top)
    if turn == 270:
        return Rectangle(top, width - right, bottom, width - left)
    return box
