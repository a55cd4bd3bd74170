"""Where a document's text is on its pages, and the file that it was read from.

A layout travels once, with its document. Every later event names places by code points alone;
anyone who shows a place to a person looks its boxes up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from .base import Contract, Probability, Text, is_empty

MAX_PAGES = 10_000
MAX_REGIONS = 250_000
"""Words of a document: the longest that is accepted by default has some 100,000."""
MAX_URI_CHARACTERS = 2_048
MAX_OMISSIONS = 1_000

_WIDEST_GAP = 1.5  # of the line's height: what is farther apart is boxed apart
_TALL = 2.0  # heights by widths
_SAME_LINE = 0.5  # of the lower box's height

Length = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


class PageSize(NamedTuple):
    """Width and height of a page as a person sees it, after its rotation, in units of its own:
    points of a PDF, pixels of an image."""

    width: Length
    height: Length


class Box(NamedTuple):
    """A rectangle on page ``page`` (from 0), from the top left corner in the page's units."""

    page: Count
    left: Length
    top: Length
    right: Length
    bottom: Length


class Region(NamedTuple):
    """A word or a line: code points ``start`` to ``end`` (exclusive) of the text, and its box.
    ``confidence`` is the OCR's, in [0, 1]; None where the file itself held the text."""

    start: Count
    end: Count
    page: Count
    left: Length
    top: Length
    right: Length
    bottom: Length
    confidence: Probability | None = None

    @property
    def box(self) -> Box:
        """The region's rectangle."""
        return Box(self.page, self.left, self.top, self.right, self.bottom)


class Layout(Contract):
    """The pages of a document and the regions of its text, in the order of the text. Raises
    `pydantic.ValidationError` where regions overlap in the text or are out of its order, a region
    is empty, turned inside out, or on no page."""

    pages: tuple[PageSize, ...] = Field(max_length=MAX_PAGES)
    regions: tuple[Region, ...] = Field(max_length=MAX_REGIONS, repr=False)

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if any(one.end > other.start for one, other in pairwise(self.regions)):
            raise ValueError("regions overlap, or are not in the order of the text")
        for region in self.regions:
            if region.start >= region.end or region.page >= len(self.pages):
                raise ValueError("a region holds no text, or is on no page")
            if region.left > region.right or region.top > region.bottom:
                raise ValueError("a region's box is turned inside out")
        return self

    @property
    def end(self) -> int:
        """Where the last region ends."""
        return self.regions[-1].end if self.regions else 0

    def within(self, start: int, end: int) -> Sequence[Region]:
        """The regions that share a code point with ``start`` to ``end`` (exclusive)."""
        ends = bisect_right(self.regions, start, key=lambda region: region.end)
        starts = bisect_right(self.regions, end - 1, key=lambda region: region.start)
        return self.regions[ends:starts] if start < end else ()

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """What to draw around ``start`` to ``end`` (exclusive): one box for each run of
        neighbours on a line. Empty where nothing of it is known to be anywhere."""
        return tuple([line.box for line in _lines(self.within(start, end))])

    def confidence(self, start: int, end: int) -> float | None:
        """The lowest confidence of the OCR there, None where none was needed."""
        known = [r.confidence for r in self.within(start, end) if r.confidence is not None]
        return min(known, default=None)

    def by_lines(self) -> Layout:
        """The same places in fewer regions: neighbours on a line are one. For a document whose
        words alone would not fit into a record."""
        return Layout(pages=self.pages, regions=tuple(_lines(self.regions)))


OmissionKind = Literal[
    "unseen",  # it makes no difference to the page: invisible, of the paper's colour, covered, off
    "tiny",  # too small to be read
    "overprinted",  # other text is in the same place
    "hidden",  # the file's own markup hides it
    "contradicted",  # the page shows other characters than the file says
    "picture",  # a picture that was not read
]


class Omission(Contract):
    """What a file holds and the text does not, since a person who looks at it does not see it (or
    a picture that nobody read). ``page`` counts from 0; None where the file has no pages."""

    kind: OmissionKind
    characters: Count = 0
    page: Count | None = None


class Original(Contract):
    """The file that a document was read from, by reference: it is never on a topic.

    ``uri`` is a path below ``SAFEPASSAGE_ORIGINALS``, any other path, or a URL. ``digest`` is the
    SHA-256 of the file's bytes: a picture is shown of that file and no other. ``part`` leads to
    an attachment: the number of the part in its e-mail, and so on inwards.
    """

    uri: Text = Field(min_length=1, max_length=MAX_URI_CHARACTERS)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    media_type: str = Field(max_length=120, pattern=r"^[\w.+-]+/[\w.+-]+$")
    part: tuple[Count, ...] = Field(default=(), max_length=10, exclude_if=is_empty)
    omissions: tuple[Omission, ...] = Field(
        default=(), max_length=MAX_OMISSIONS, exclude_if=is_empty
    )


def _lines(regions: Iterable[Region]) -> list[Region]:
    """``regions`` in their order, neighbours on a line as one."""
    lines: list[Region] = []
    for region in regions:
        if lines and _are_neighbours(lines[-1].box, region.box):
            lines[-1] = _spanning(lines[-1], region)
        else:
            lines.append(region)
    return lines


def _are_neighbours(one: Box, other: Box) -> bool:
    """Whether two boxes are side by side on a line, also one that runs up or down the page."""
    if one.page != other.page:
        return False
    if _run_down(one, other):
        one, other = _turned(one), _turned(other)
    height = min(one.bottom - one.top, other.bottom - other.top)
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = max(one.left, other.left) - min(one.right, other.right)
    return shared >= _SAME_LINE * height and gap <= _WIDEST_GAP * max(
        one.bottom - one.top, other.bottom - other.top
    )


def _run_down(one: Box, other: Box) -> bool:
    """Whether two boxes are of a line that runs up or down: as thick as each other, and one of
    them much higher than it is wide."""
    widths = one.right - one.left, other.right - other.left
    heights = one.bottom - one.top, other.bottom - other.top
    tall = any(h > _TALL * w for h, w in zip(heights, widths, strict=True))
    return tall and max(widths) <= _TALL * min(widths)


def _turned(box: Box) -> Box:
    return Box(box.page, box.top, box.left, box.bottom, box.right)


def _spanning(one: Region, other: Region) -> Region:
    known = [c for c in (one.confidence, other.confidence) if c is not None]
    return Region(
        one.start,
        other.end,
        one.page,
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
        min(known, default=None),
    )
