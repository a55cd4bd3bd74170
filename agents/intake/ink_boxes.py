"""Boxes fitted to the ink: an OCR says roughly where a word is, its picture says where exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .page_words import Rectangle, Word

_INK = 0.35  # of the contrast between paper and ink
_FAINT = 24  # of 255: less contrast in a line is no ink
_RULE = 0.85  # of a row or column inked: a line of a table
_REACH = 0.6  # of the line's height, to look for the gap between two words


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the OCR found it, in pixels."""

    box: Rectangle
    words: Sequence[Word]


def fitted(line: Line, grey: Any) -> list[Word]:
    """The line's words with boxes that just hold their ink. ``grey`` is the picture, (height,
    width) in [0, 255]. Where no ink can be told from paper, a box stays as it was."""
    height, width = grey.shape
    top, bottom = max(0, int(line.box.top)), min(height, int(line.box.bottom) + 1)
    left, right = max(0, int(line.box.left)), min(width, int(line.box.right) + 1)
    ink = _ink(grey[top:bottom, left:right])
    if ink is None or not line.words:
        return list(line.words)
    words = sorted(line.words, key=lambda word: word.box.left)
    edges = [0]
    for one, other in pairwise(words):
        edges.append(_gap(ink, (one.box.right + other.box.left) / 2 - left, edges[-1]))
    edges.append(right - left)
    found = []
    for word, (start, end) in zip(words, pairwise(edges), strict=True):
        box = _tight(ink[:, start:end])
        if box is None:  # the blanks were not where the OCR says: at least the line's height
            rows = _tight(ink)
            box = (0, rows[1], end - start, rows[3]) if rows else (0, 0, end - start, bottom - top)
        x1, y1, x2, y2 = box
        place = Rectangle(left + start + x1, top + y1, left + start + x2, top + y2)
        found.append(Word(word.text, place, word.confidence))
    return found


def _ink(crop: Any) -> Any:
    """Which pixels are ink, True, of a line; None where it has no contrast."""
    if crop.size == 0:
        return None
    paper = float(np.median(crop))
    distance = np.abs(crop - paper)
    contrast = float(np.percentile(distance, 99.5))
    if contrast < _FAINT:
        return None
    ink = distance > _INK * contrast
    # The rules of a table around the line are not of the word.
    ink[ink.mean(axis=1) > _RULE, :] = False
    ink[:, ink.mean(axis=0) > _RULE] = _inner_columns(ink)
    return _one_line(ink)


def _one_line(ink: Any) -> Any:
    """Without what reaches in from the lines above and below: only the rows around the fullest
    one, as far as no blank row parts them."""
    full = ink.sum(axis=1)
    if not full.any():
        return ink
    blank = np.flatnonzero(full == 0)
    at = int(full.argmax())
    top = int(blank[blank < at].max(initial=-1)) + 1
    bottom = int(blank[blank > at].min(initial=len(full)))
    ink[:top], ink[bottom:] = False, False
    return ink


def _inner_columns(ink: Any) -> Any:
    """A full column is a rule only at either end of the line; inside it is a letter's stem."""
    full = ink.mean(axis=0) > _RULE
    kept = ink[:, full].copy()
    places = np.flatnonzero(full)
    at_edge = (places < 4) | (places >= ink.shape[1] - 4)
    kept[:, at_edge] = False
    return kept


def _gap(ink: Any, middle: float, after: int) -> int:
    """Where the line parts two words, behind ``after``: of the blanks near ``middle``, where the
    OCR says, those about as wide as any; of these the nearest."""
    reach = _REACH * ink.shape[0]
    low, high = max(after, int(middle - reach)), min(ink.shape[1], int(middle + reach) + 1)
    inked = np.concatenate([[True], ink[:, low:high].any(axis=0), [True]])
    edges = np.flatnonzero(np.diff(inked.astype(int))).reshape(-1, 2) + low
    if not len(edges):
        return int(min(max(middle, after), ink.shape[1]))
    lengths = edges[:, 1] - edges[:, 0]
    wide = edges[2 * lengths >= lengths.max()]
    middles = wide.mean(axis=1)
    return int(middles[np.abs(middles - middle).argmin()])


def _tight(ink: Any) -> tuple[int, int, int, int] | None:
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows) or not len(columns):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
