"""What a person who looks at the page can see of its text.

The page is drawn twice, with its text and without. Text that makes no difference is unseen,
by any trick: no ink, the paper's colour, a cover, a clip, a layer that is off, a place
beside the page. There is no list of tricks to keep.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .file_documents import Omitted
from .limits import extra_module
from .pdf_characters import Character
from .pdf_pages import draw

_CONTRAST = 32  # of 255, in the colour that differs most; a fainter letter is not read
_SMALLEST = 2.5  # points, the height of a font's line
_MAX_NESTING = 10


def seen(
    page: Any, found: Sequence[Character | None], scale: float, pixels: int
) -> tuple[list[Character | None], Omitted, bool]:
    """The characters that can be seen, how many cannot, and whether the page is blank. The page's
    text is drawn again afterwards."""
    omitted = Omitted()
    difference, blank, ratio = _difference(page, scale, pixels)
    shown: list[Character | None] = []
    for character in found:
        if character is None:
            shown.append(None)
        elif character.height < _SMALLEST:
            omitted["tiny"] += 1
        elif not _inked(difference, character, ratio):
            omitted["unseen"] += 1
        else:
            shown.append(character)
    return (shown if any(shown) else []), omitted, blank


def _difference(page: Any, scale: float, pixels: int) -> tuple[Any, bool, float]:
    """Where text changes the page (height, width), whether the page is blank, pixels a point."""
    raw = extra_module("pypdfium2", "files").raw
    with_text = draw(page, scale, pixels)
    texts = list(page.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT], max_depth=_MAX_NESTING))
    modes = [raw.FPDFTextObj_GetTextRenderMode(text) for text in texts]
    for text in texts:
        raw.FPDFTextObj_SetTextRenderMode(text, raw.FPDF_TEXTRENDERMODE_INVISIBLE)
    without = draw(page, scale, pixels)
    for text, mode in zip(texts, modes, strict=True):
        raw.FPDFTextObj_SetTextRenderMode(text, mode)
    change = np.abs(with_text.astype(np.int16) - without).max(axis=2) >= _CONTRAST
    blank = int(with_text.max()) - int(with_text.min()) < _CONTRAST
    return change, blank, with_text.shape[1] / page.get_width()


def _inked(difference: Any, character: Character, ratio: float) -> bool:
    height, width = difference.shape
    left, top, right, bottom = (edge * ratio for edge in character.box)
    columns = slice(max(0, int(left)), min(width, int(right) + 1))
    rows = slice(max(0, int(top)), min(height, int(bottom) + 1))
    return bool(difference[rows, columns].any())
