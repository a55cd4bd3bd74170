"""Rows of cells as lines of text.

Cells are parted by a tab, an empty cell stays: so `safepassage.passages.surroundings` finds the
label of a row and the head of a column by counting, however wide the words are.
"""

from __future__ import annotations

from collections.abc import Sequence

CELL_BREAK = "\t"


def row_line(cells: Sequence[str]) -> str:
    """One line: every cell's text with its blanks and breaks made single blanks."""
    return CELL_BREAK.join(" ".join(cell.split()) for cell in cells)
