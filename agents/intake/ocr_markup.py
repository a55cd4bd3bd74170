"""hOCR and ALTO, the two markups in which OCR programs and libraries keep what they read."""

import re
from collections.abc import Iterator
from typing import Any

from safepassage.schemas import PageSize

from .limits import Limits, Refused, extra_module
from .page_words import Group, Page, Rectangle, Word

_BOX = re.compile(r"\bbbox\s+(-?[\d.]+)\s+(-?[\d.]+)\s+(-?[\d.]+)\s+(-?[\d.]+)")
_CONFIDENCE = re.compile(r"\bx_wconf\s+([\d.]+)")
_UNITS = {"mm10": 72 / 254, "inch1200": 72 / 1200}  # to points; pixels stay
_MAX_LENGTH = 1_000_000


def read_hocr(raw: bytes, limits: Limits) -> Iterator[Page]:
    """The pages of an hOCR file: ``ocr_page`` and ``ocrx_word`` elements, whose ``title`` says
    ``bbox`` in pixels and ``x_wconf`` in percent. Raises `Refused` where it names no pages, more
    than ``limits`` allow, or a page without a box."""
    parser = extra_module("selectolax.lexbor", "files")
    pages = parser.LexborHTMLParser(raw.decode("utf-8", "replace")).css(".ocr_page")
    _check(len(pages), limits)
    for page in pages:
        left, top, right, bottom = _title_box(page)
        words = []
        for node in page.css(".ocrx_word"):
            x1, y1, x2, y2 = _title_box(node)
            sure = _CONFIDENCE.search(node.attributes.get("title") or "")
            box = Rectangle(x1 - left, y1 - top, max(x1, x2) - left, max(y1, y2) - top)
            text = "".join(node.text().split())
            words.append(Word(text, box, min(float(sure[1]), 100) / 100 if sure else None))
        yield Page(_size(right - left, bottom - top), (Group(tuple(words)),))


def read_alto(raw: bytes, limits: Limits) -> Iterator[Page]:
    """The pages of an ALTO file (versions 2 to 4): ``String`` elements with ``CONTENT``, their box
    in the file's ``MeasurementUnit``, and ``WC`` in [0, 1]. Raises `Refused` where it is no XML,
    names no pages, or more than ``limits`` allow."""
    etree = extra_module("lxml.etree", "files")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False
    )
    try:
        root = etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        raise Refused("is no XML that can be read") from error
    unit = next(
        (_UNITS.get((e.text or "").strip(), 1.0) for e in root.iter("{*}MeasurementUnit")), 1
    )
    pages = list(root.iter("{*}Page"))
    _check(len(pages), limits)
    for page in pages:
        words = [_alto_word(string, unit) for string in page.iter("{*}String")]
        width, height = (_length(page.get(name)) * unit for name in ("WIDTH", "HEIGHT"))
        right = max((word.box.right for word in words), default=1.0)
        bottom = max((word.box.bottom for word in words), default=1.0)
        size = _size(width or right, height or bottom)
        yield Page(size, (Group(tuple(words)),))


def _alto_word(string: Any, unit: float) -> Word:
    left, top, width, height = (
        _length(string.get(name)) * unit for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
    )
    sure = string.get("WC")
    text = "".join((string.get("CONTENT") or "").split())
    confidence = min(_length(sure), 1.0) if sure else None
    return Word(text, Rectangle(left, top, left + width, top + height), confidence)


def _title_box(node: Any) -> tuple[float, float, float, float]:
    found = _BOX.search(node.attributes.get("title") or "")
    if not found:
        raise Refused("is no hOCR that can be read: an element has no box")
    left, top, right, bottom = map(_length, found.groups())
    return left, top, right, bottom


def _size(width: float, height: float) -> PageSize:
    if not (0 < width <= _MAX_LENGTH and 0 < height <= _MAX_LENGTH):
        raise Refused("has a page without a size")
    return PageSize(width, height)


def _length(text: str | None) -> float:
    try:
        length = float(text or 0)
    except ValueError as error:
        raise Refused("holds a length that is no number") from error
    if not abs(length) <= _MAX_LENGTH:
        raise Refused("holds a length beyond any page")
    return length


def _check(pages: int, limits: Limits) -> None:
    if not 0 < pages <= limits.pages:
        raise Refused(f"has {pages} pages; at most {limits.pages} are read")
