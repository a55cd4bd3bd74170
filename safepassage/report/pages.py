"""The pages of a document with a layout, drawn from its words, with boxes around the evidence."""

from collections.abc import Iterator, Mapping, Sequence

from safepassage.schemas import Document, Layout
from safepassage.schemas.layout import Region

from .marks import Mark
from .markup import Content, Markup, element

MAX_PAGES = 200
"""Pages that are drawn with their words; of further ones those with evidence."""
_BASELINE = 0.22
_SIZE = 0.86
_ON_ONE_LINE = 0.5
"""Of the lower of two neighbours: so much of it is beside the other."""


def pages(document: Document, marks: Sequence[Mark], kinds: Mapping[int, str]) -> Iterator[Markup]:
    """The pages as pictures; ``kinds`` is the decision of each verdict by its number."""
    layout = document.layout
    if layout is None:
        return
    words: dict[int, list[Region]] = {}
    for region in layout.regions:
        words.setdefault(region.page, []).append(region)
    boxes: dict[int, list[Markup]] = {}
    for mark in marks:
        for box in () if mark.is_value else layout.boxes(mark.start, mark.end):
            boxes.setdefault(box.page, []).append(
                element(
                    "rect",
                    class_=f"box {kinds[mark.number]}",
                    data_v=mark.number,
                    x=_number(box.left - 1),
                    y=_number(box.top - 1),
                    width=_number(box.right - box.left + 2),
                    height=_number(box.bottom - box.top + 2),
                    rx=2,
                )
            )
    for number in range(len(layout.pages)):
        if number < MAX_PAGES or number in boxes:
            yield _page(document, layout, number, words.get(number, ()), boxes.get(number, ()))


def _page(
    document: Document,
    layout: Layout,
    number: int,
    words: Sequence[Region],
    boxes: Sequence[Markup],
) -> Markup:
    size = layout.pages[number]
    shown: Content = [
        element("rect", class_="sheet", width=_number(size.width), height=_number(size.height)),
        element(
            "g",
            [
                _word(document.text[word.start : word.end], word, *extent)
                for word, extent in zip(words, _extents(words), strict=True)
            ],
            class_="words",
        ),
        element("g", boxes),
    ]
    drawn = element(
        "svg",
        shown,
        viewBox=f"0 0 {_number(size.width)} {_number(size.height)}",
        role="img",
        aria_label=f"Page {number + 1}",
    )
    return element("figure", [drawn, element("figcaption", f"Page {number + 1}")], class_="page")


def _extents(words: Sequence[Region]) -> list[tuple[float, float]]:
    """Top and bottom of the line of each word: a box may end with the ink of its own letters, and
    words would then be on as many heights as they have shapes."""
    lines: list[list[Region]] = []
    for word in words:
        if lines and _beside(lines[-1][-1], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [
        (min(word.top for word in line), max(word.bottom for word in line))
        for line in lines
        for _ in line
    ]


def _beside(one: Region, other: Region) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    low = min(one.bottom - one.top, other.bottom - other.top)
    return other.left >= one.left and shared > _ON_ONE_LINE * low


def _word(words: str, region: Region, top: float, bottom: float) -> Markup:
    height = bottom - top
    return element(
        "text",
        " ".join(words.split()),
        x=_number(region.left),
        y=_number(bottom - _BASELINE * height),
        font_size=_number(_SIZE * height),
        textLength=_number(region.right - region.left),
        lengthAdjust="spacingAndGlyphs",
    )


def _number(value: float) -> str:
    return f"{max(value, 0):.2f}".rstrip("0").rstrip(".")
