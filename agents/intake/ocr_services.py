"""What Amazon Textract and Azure Document Intelligence read, as words on pages.

Both name an order and tables of their own. They are not asked: every page goes the way that all
pages go, see `reading_order`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepassage.schemas import PageSize, strict_json

from .limits import Limits, Refused
from .page_words import Group, Page, Rectangle, Word, hull

_TEXTRACT_SIZE = PageSize(850, 1100)
"""Textract gives shares of a page of unknown size."""


def read_textract(raw: bytes, limits: Limits) -> Iterator[Page]:
    """The pages of a response of DetectDocumentText or AnalyzeDocument (``Blocks`` of type WORD,
    with ``Geometry.BoundingBox`` in shares of the page and ``Confidence`` in percent). Raises
    `Refused` where it is no such response, or has more pages than ``limits`` allow."""
    found = _loaded(raw)
    pages: dict[int, list[Word]] = defaultdict(list)
    last = 0
    for block in _objects(found.get("Blocks")):
        number = _number(block.get("Page"), 1)
        last = max(last, int(number))
        if block.get("BlockType") == "WORD":
            pages[int(number)].append(_textract_word(block))
    yield from _in_order(pages, last, limits, lambda _: _TEXTRACT_SIZE)


def read_azure(raw: bytes, limits: Limits) -> Iterator[Page]:
    """The pages of an analysis by the read or layout model (``pages[].words[]`` with ``content``,
    ``polygon`` in the page's unit and ``confidence`` in [0, 1]), bare or in ``analyzeResult``.
    Raises `Refused` where it is no such analysis, or has more pages than ``limits`` allow."""
    found = _loaded(raw)
    result = found.get("analyzeResult", found)
    pages: dict[int, list[Word]] = {}
    sizes: dict[int, PageSize] = {}
    for at, page in enumerate(_objects(result.get("pages") if isinstance(result, dict) else None)):
        # Inches become points, so that a tenth of a unit is fine enough.
        unit = 72.0 if page.get("unit") == "inch" else 1.0
        number = int(_number(page.get("pageNumber"), at + 1))
        sizes[number] = PageSize(
            _number(page.get("width"), 0) * unit, _number(page.get("height"), 0) * unit
        )
        pages[number] = [_azure_word(word, unit) for word in _objects(page.get("words"))]
    last = max(pages, default=0)
    yield from _in_order(pages, last, limits, lambda n: sizes.get(n, _TEXTRACT_SIZE))


def _in_order(
    pages: Mapping[int, Sequence[Word]], last: int, limits: Limits, size: Any
) -> Iterator[Page]:
    if not 0 < last <= limits.pages or min(pages, default=1) < 1:
        raise Refused(f"has {last} pages; at most {limits.pages} are read")
    for number in range(1, last + 1):
        yield Page(size(number), (Group(tuple(pages.get(number, ()))),))


def _textract_word(block: dict[str, Any]) -> Word:
    box = (block.get("Geometry") or {}).get("BoundingBox") or {}
    width, height = _TEXTRACT_SIZE
    left, top = _number(box.get("Left")) * width, _number(box.get("Top")) * height
    right = left + _number(box.get("Width")) * width
    bottom = top + _number(box.get("Height")) * height
    confidence = min(max(_number(block.get("Confidence"), 0.0) / 100, 0.0), 1.0)
    return Word(str(block.get("Text") or ""), Rectangle(left, top, right, bottom), confidence)


def _azure_word(word: dict[str, Any], unit: float) -> Word:
    polygon = word.get("polygon")
    corners = [_number(edge) * unit for edge in polygon] if isinstance(polygon, list) else []
    if len(corners) < 4 or len(corners) % 2:
        raise Refused("is no analysis that can be read: a word has no polygon")
    box = hull(Rectangle(x, y, x, y) for x, y in zip(corners[::2], corners[1::2], strict=True))
    confidence = min(max(_number(word.get("confidence"), 0.0), 0.0), 1.0)
    return Word(str(word.get("content") or ""), box, confidence)


def _loaded(raw: bytes) -> dict[str, Any]:
    try:
        found = strict_json(raw)
    except (ValueError, RecursionError) as error:
        raise Refused("is no JSON that can be read") from error
    if not isinstance(found, dict):
        raise Refused("is no output of an OCR service")
    return found


def _objects(found: object) -> Iterator[dict[str, Any]]:
    if not isinstance(found, list):
        raise Refused("is no output of an OCR service")
    yield from (element for element in found if isinstance(element, dict))


def _number(found: object, default: float | None = None) -> float:
    if isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e9:
        return float(found)
    if default is None or found is not None:
        raise Refused("is no output of an OCR service: a number is missing")
    return default
