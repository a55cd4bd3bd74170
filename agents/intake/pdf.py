"""PDF: what a person sees on the pages, as words and boxes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from safepassage.schemas import PageSize

from .fonts import FontCheck
from .limits import Limits, Refused, extra_module
from .ocr import Reader, beside
from .pdf_characters import as_groups, as_words, characters
from .visibility import omissions, seen
from .words import Page

Pixels = npt.NDArray[np.uint8]

_TAIL_BYTES = 2_048
_MAX_SIDE = 14_400.0  # points; PDF's own bound on a page
_SEEN_SCALE = 1.5  # pixels a point: letters of 6 points still leave clear ink
_OCR_SIDE = 2_000  # pixels; the recogniser works on no more
_OCR_SCALE = 170 / 72  # pixels a point
_PICTURE_SHARE = 0.15  # of the page, all its larger pictures together
_LARGER_PICTURE = 0.03
_MAX_NESTING = 10


def read_pdf(raw: bytes, limits: Limits, reader: Reader) -> Iterator[Page]:
    """The pages, one at a time.

    Raises:
        Refused: encrypted, cut short, damaged, too many pages, or a scan that nothing can read.
    """
    with opened(raw, limits) as document:
        fonts = FontCheck()
        for number in range(len(document)):
            yield _read_page(document, number, reader, fonts)


@contextmanager
def opened(raw: bytes, limits: Limits) -> Iterator[Any]:
    """The document as pypdfium2 has it, with its forms drawn.

    Raises:
        Refused: see `read_pdf`.
    """
    pdfium = extra_module("pypdfium2", "files")
    if b"%%EOF" not in raw[-_TAIL_BYTES:]:
        raise Refused("is cut short: the PDF has no end")
    try:
        document = pdfium.PdfDocument(raw)
    except pdfium.PdfiumError as error:
        locked = getattr(error, "err_code", None) == pdfium.raw.FPDF_ERR_PASSWORD
        raise Refused(
            "is encrypted: it needs a password" if locked else "is damaged: no PDF can be read"
        ) from error
    try:
        if not 0 < len(document) <= limits.pages:
            raise Refused(f"has {len(document)} pages; at most {limits.pages} are read")
        if document.get_formtype() == pdfium.raw.FORMTYPE_XFA_FULL:
            raise Refused("is an XFA form, whose pages only its own program can draw")
        document.init_forms()
        yield document
    finally:
        document.close()


@contextmanager
def page_of(document: Any, number: int) -> Iterator[Any]:
    """Page ``number`` (from 0) with annotations and forms made part of it, as they are shown.

    Raises:
        Refused: the page is damaged, or of no size.
    """
    pdfium = extra_module("pypdfium2", "files")
    try:
        page = document[number]
        flattened = pdfium.raw.FPDFPage_Flatten(page, pdfium.raw.FLAT_NORMALDISPLAY)
        if flattened == pdfium.raw.FLATTEN_SUCCESS:
            page.close()
            page = document[number]
    except pdfium.PdfiumError as error:
        raise Refused(f"page {number + 1} is damaged") from error
    try:
        width, height = page.get_size()
        if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
            raise Refused(f"page {number + 1} is {width:g} by {height:g} points")
        yield page
    finally:
        page.close()


def draw(page: Any, scale: float, pixels: int) -> Pixels:
    """The page in RGB on white, shape (height, width, 3), with at most ``pixels`` pixels."""
    width, height = page.get_size()
    scale = min(scale, (pixels / (width * height)) ** 0.5)
    picture: Pixels = page.render(scale=scale, rev_byteorder=True).to_numpy()
    return np.array(picture[:, :, :3])


def _read_page(document: Any, number: int, reader: Reader, fonts: FontCheck) -> Page:
    with page_of(document, number) as page:
        size = PageSize(*page.get_size())
        found = list(characters(page))
        shown, left_out, blank = seen(page, found, _SEEN_SCALE, reader.limits.page_pixels)
        words, overprinted = as_words(shown)
        left_out["overprinted"] += overprinted
        pictured = (not shown and not blank) or _picture_share(page) >= _PICTURE_SHARE
        if pictured and reader.use == "never" and shown:
            left_out["picture"] += 1
        elif pictured or reader.use == "always" or (reader.may_compare and fonts.wants(words)):
            scale = min(_OCR_SCALE, _OCR_SIDE / max(size))
            pixels = draw(page, scale, reader.limits.page_pixels)
            read = reader.read(pixels, size, f"page {number + 1}")
            words, contradicted = fonts.compare(words, read)
            left_out["contradicted"] += contradicted
            if pictured or contradicted or reader.use == "always":
                return Page(size, beside(words, read), omissions(left_out, number))
        return Page(size, as_groups(words), omissions(left_out, number))


def _picture_share(page: Any) -> float:
    """How much of the page its larger pictures cover, in [0, 1]."""
    raw = extra_module("pypdfium2", "files").raw
    width, height = page.get_size()
    share = 0.0
    for found in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_NESTING):
        left, bottom, right, top = found.get_bounds()
        one = min(abs((right - left) * (top - bottom)) / (width * height), 1.0)
        share += one if one >= _LARGER_PICTURE else 0.0
    return min(share, 1.0)
