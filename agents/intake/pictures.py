"""A page of a file as a picture, for the person who judges what was found on it."""

import io

from . import images, mail, pdf_pages
from .file_kinds import Kind, kind_of
from .limits import Limits, Refused, extra_module
from .page_words import Pixels

_WIDTH = 1_200  # pixels
_MAX_HEIGHT = 4_000
_PIXELS = 6_000_000


def picture(raw: bytes, part: tuple[int, ...], page: int, limits: Limits) -> bytes:
    """Page ``page`` (from 0) of a file, or of its attachment ``part``, as PNG. Raises `Refused`
    where there is no such page, or the file has none or cannot be read."""
    name = ""
    if part:
        name, raw = mail.attachment(raw, part, limits)
    kind = kind_of(name, raw)
    if kind is Kind.PDF:
        return _png(_pdf_page(raw, page, limits))
    if kind is Kind.IMAGE:
        with images.opened(raw, limits) as image:
            if page >= getattr(image, "n_frames", 1):
                raise Refused("has no such page")
            return _png(images.frame(image, page))
    raise Refused("has no pages to show")


def _pdf_page(raw: bytes, page: int, limits: Limits) -> Pixels:
    with pdf_pages.opened(raw, limits) as document:
        if page >= len(document):
            raise Refused("has no such page")
        with pdf_pages.page_of(document, page) as shown:
            return pdf_pages.draw(shown, _WIDTH / shown.get_width(), _PIXELS)


def _png(pixels: Pixels) -> bytes:
    image = extra_module("PIL.Image", "files").fromarray(pixels)
    image.thumbnail((_WIDTH, _MAX_HEIGHT))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
