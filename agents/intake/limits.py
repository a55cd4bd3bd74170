"""What a file may cost, and the two ways in which an import ends without a document."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from pydantic import Field

from safepassage.schemas import Contract

OcrUse = Literal["needed", "always", "never"]
"""``needed``: pages and pictures without text of their own, and one page for each font, to see
whether the font shows what it says. ``always``: every page. ``never``: no page; a scan is
refused."""


class Refused(Exception):
    """The file gives no document. The message says why, for the person who submitted it, and
    quotes nothing of what the file holds."""


class MissingExtra(Refused):
    """A library that this kind of file needs is not installed."""


class Limits(Contract):
    """Bounds on one file. Beyond any of them it is refused, never cut short."""

    file_bytes: int = Field(default=100 * 2**20, ge=1)
    characters: int = Field(default=500_000, ge=1)
    pages: int = Field(default=2_000, ge=1)
    ocr_pages: int = Field(default=200, ge=0)
    page_pixels: int = Field(default=40_000_000, ge=1)
    unpacked_bytes: int = Field(default=200 * 2**20, ge=1)
    parts: int = Field(default=100, ge=1)
    depth: int = Field(default=5, ge=1)
    seconds: float = Field(default=600, gt=0)
    memory_bytes: int = Field(default=4 * 2**30, ge=256 * 2**20)
    ocr: OcrUse = "needed"


def ocr_is_installed() -> bool:
    """Whether pages can be read: for scans, and to compare fonts with what pages show."""
    return find_spec("rapidocr") is not None


def extra_module(name: str, extra: str) -> Any:
    """The module ``name``, which ``safepassage[extra]`` brings. Raises `MissingExtra` where it is
    not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingExtra(f"needs {package}: pip install 'safepassage[{extra}]'") from error
