"""PDF: what a person sees on the pages, as words and boxes."""

from collections.abc import Iterator
from typing import Any

from safepassage.schemas import PageSize

from .file_documents import omissions
from .fonts import FontCheck
from .limits import Limits, extra_module
from .ocr import Reader, beside
from .page_words import Page
from .pdf_characters import as_groups, as_words, characters
from .pdf_pages import draw, opened, page_of
from .pdf_visibility import seen

_SEEN_SCALE = 1.5  # pixels a point: letters of 6 points still leave clear ink
_OCR_SIDE = 2_000  # pixels; the recogniser works on no more
_OCR_SCALE = 170 / 72  # pixels a point
_PICTURE_SHARE = 0.15  # of the page, all its larger pictures together
_LARGER_PICTURE = 0.03
_MAX_NESTING = 10


def read_pdf(raw: bytes, limits: Limits, reader: Reader) -> Iterator[Page]:
    """The pages, one at a time. Raises `Refused`, see `opened`; or a page is a scan that nothing
    can read."""
    with opened(raw, limits) as document:
        fonts = FontCheck()
        for number in range(len(document)):
            yield _read_page(document, number, reader, fonts)


def _read_page(document: Any, number: int, reader: Reader, fonts: FontCheck) -> Page:
    with page_of(document, number) as page:
        size, ocr = PageSize(*page.get_size()), reader.limits.ocr
        found = list(characters(page))
        shown, left_out, blank = seen(page, found, _SEEN_SCALE, reader.limits.page_pixels)
        words, overprinted = as_words(shown)
        left_out["overprinted"] += overprinted
        pictured = (not shown and not blank) or _picture_share(page) >= _PICTURE_SHARE
        if pictured and ocr == "never" and shown:
            left_out["picture"] += 1
        elif pictured or ocr == "always" or (reader.may_compare and fonts.wants(words)):
            scale = min(_OCR_SCALE, _OCR_SIDE / max(size))
            pixels = draw(page, scale, reader.limits.page_pixels)
            read = reader.read(pixels, size, f"page {number + 1}")
            words, contradicted = fonts.compare(words, read)
            left_out["contradicted"] += contradicted
            if pictured or contradicted or ocr == "always":
                return Page(size, beside(words, read), omissions(left_out, number))
        return Page(size, as_groups(words), omissions(left_out, number))


def _picture_share(page: Any) -> float:
    raw = extra_module("pypdfium2", "files").raw
    width, height = page.get_size()
    share = 0.0
    for found in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_NESTING):
        left, bottom, right, top = found.get_bounds()
        one = min(abs((right - left) * (top - bottom)) / (width * height), 1.0)
        share += one if one >= _LARGER_PICTURE else 0.0
    return min(share, 1.0)
