"""Images: scans and photographs, one page for each of their frames."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from safepassage.schemas import PageSize

from .limits import Limits, Refused, extra_module
from .ocr import Reader
from .page_words import Page, Pixels

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
"""Pillow has readers of many more, each a way in for a hostile file."""

_READ_SIDE = 2_000  # pixels; the recogniser works on no more


def read_image(raw: bytes, limits: Limits, reader: Reader) -> Iterator[Page]:
    """The frames, one at a time. Their layout is in pixels of the image as it is shown. Raises
    `Refused`: damaged, cut short, too large, too many frames, or OCR is off or not installed."""
    with opened(raw, limits) as image:
        for number in range(_frames(image, limits)):
            pixels = frame(image, number)
            size = PageSize(float(pixels.shape[1]), float(pixels.shape[0]))
            group = reader.read(_readable(pixels), size, f"page {number + 1}")
            yield Page(size, (group,))


@contextmanager
def opened(raw: bytes, limits: Limits) -> Iterator[Any]:
    """The image as Pillow has it; what fails inside because of the file is refused. Raises
    `Refused`, see `read_image`."""
    pillow = extra_module("PIL.Image", "files")
    pillow.MAX_IMAGE_PIXELS = limits.page_pixels
    with warnings.catch_warnings():
        warnings.simplefilter("error", pillow.DecompressionBombWarning)
        try:
            with pillow.open(io.BytesIO(raw), formats=FORMATS) as image:
                yield image
        except (pillow.DecompressionBombWarning, pillow.DecompressionBombError) as error:
            raise Refused(f"has more than {limits.page_pixels} pixels") from error
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise Refused("is damaged or cut short: no image can be read") from error


def frame(image: Any, number: int) -> Pixels:
    """Frame ``number`` (from 0) in RGB on white, turned as its file says it is to be shown."""
    ops = extra_module("PIL.ImageOps", "files")
    pillow = extra_module("PIL.Image", "files")
    image.seek(number)
    shown = ops.exif_transpose(image).convert("RGBA")
    paper = pillow.new("RGBA", shown.size, "white")
    return np.array(pillow.alpha_composite(paper, shown).convert("RGB"))


def _frames(image: Any, limits: Limits) -> int:
    frames = int(getattr(image, "n_frames", 1))
    if frames > limits.pages:
        raise Refused(f"has {frames} pages; at most {limits.pages} are read")
    return frames


def _readable(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    ratio = _READ_SIDE / max(height, width)
    if ratio >= 1:
        return pixels
    image = extra_module("PIL.Image", "files").fromarray(pixels)
    return np.array(image.resize((round(width * ratio), round(height * ratio)), resample=1))
