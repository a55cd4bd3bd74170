"""The pages of a PDF as PDFium has them, and pictures of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .limits import Limits, Refused, extra_module
from .page_words import Pixels

_TAIL_BYTES = 2_048
_MAX_SIDE = 14_400.0  # points; PDF's own bound on a page


@contextmanager
def opened(raw: bytes, limits: Limits) -> Iterator[Any]:
    """The document as pypdfium2 has it, with its forms drawn. Raises `Refused`: encrypted, cut
    short, damaged, too many pages, or a form that only XFA draws."""
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
    Raises `Refused` where the page is damaged, or of no size."""
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
