"""The pages of a document with a layout, drawn from its words, with boxes around the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from safepassage.schemas import Document, Layout
from safepassage.schemas.layout import Region

from .marks import Mark
from .markup import Content, Markup, element

MAX_PAGES = 200
"""Pages that are drawn with their words; of further ones those with evidence."""
_BASELINE = 0.22
_SIZE = 0.86


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
        element("g", [_word(document.text[w.start : w.end], w) for w in words], class_="words"),
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


def _word(words: str, region: Region) -> Markup:
    height = region.bottom - region.top
    return element(
        "text",
        " ".join(words.split()),
        x=_number(region.left),
        y=_number(region.bottom - _BASELINE * height),
        font_size=_number(_SIZE * height),
        textLength=_number(region.right - region.left),
        lengthAdjust="spacingAndGlyphs",
    )


def _number(value: float) -> str:
    return f"{max(value, 0):.2f}".rstrip("0").rstrip(".")
