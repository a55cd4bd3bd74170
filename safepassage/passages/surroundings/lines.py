"""A document's lines, and which of them are rows of a table."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

LINE_REACH = 2_000
"""Of a longer line only the beginning tells what kind of line it is."""

_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_PIPE = re.compile(r"[|│┃¦]")
_TAB = re.compile("\t")
_RUN = re.compile(r"[^\S\t]{2,}")
_SENTENCES = re.compile(r"[.!?:;]\s{2}")
_NUMBER = re.compile(r"[-*•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]")
_SURE_BLANKS = 3
"""So many blanks in a row part two cells; two may be a typist's."""

CellKind = Literal["pipe", "tab", "run"]
Place = tuple[int, int]
"""Code points (start, end) of the document."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of several cells, without the blanks around them; an empty cell has no length."""

    kind: CellKind
    cells: tuple[Place, ...]


class Lines:
    """The lines of ``text``, by number from 0. Safe to share between threads: what two of them
    remember at once is equal."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._rows: dict[int, Row | None] = {}

    @cached_property
    def _edges(self) -> tuple[list[int], list[int]]:
        breaks = [found.span() for found in _BREAK.finditer(self.text)]
        starts = [0, *(end for _, end in breaks)]
        return starts, [*(start for start, _ in breaks), len(self.text)]

    def __len__(self) -> int:
        return len(self._edges[0])

    def at(self, place: int) -> int:
        """The number of the line that ``place`` is in."""
        return bisect_right(self._edges[0], place) - 1

    def start(self, number: int) -> int:
        return self._edges[0][number]

    def end(self, number: int) -> int:
        """Where the line ends, without its break."""
        return self._edges[1][number]

    def words(self, number: int) -> str:
        """The line's text; of a long one its beginning."""
        start = self.start(number)
        return self.text[start : min(self.end(number), start + LINE_REACH)]

    def stripped(self, number: int) -> Place:
        """The line without the blanks around it."""
        words = self.words(number)
        start = self.start(number) + len(words) - len(words.lstrip())
        return start, start + len(words.strip())

    def blank(self, number: int) -> bool:
        return not self.words(number).strip()

    def above(self, number: int, most: int) -> Iterator[int]:
        """Up to ``most`` lines above line ``number``, the nearest first."""
        return iter(range(number - 1, max(-1, number - 1 - most), -1))

    def row(self, number: int) -> Row | None:
        """The line's cells, None where it is no row of a table."""
        if number not in self._rows:
            self._rows[number] = self._read_row(number)
        return self._rows[number]

    def _read_row(self, number: int) -> Row | None:
        words = self.words(number)
        inside = words.strip()
        if _PIPE.search(inside):
            return self._split(number, words, _PIPE, "pipe")
        if "\t" in inside:
            return self._split(number, words, _TAB, "tab")
        if not _RUN.search(inside):
            return None
        row = self._split(number, words, _RUN, "run")
        if row is None or self._widest_gap(row) >= _SURE_BLANKS:
            return row
        return row if not _SENTENCES.search(inside) and self._is_aligned(number, row) else None

    def _split(
        self, number: int, words: str, separator: re.Pattern[str], kind: CellKind
    ) -> Row | None:
        gaps = [edge for found in separator.finditer(words) for edge in found.span()]
        edges = [0, *gaps, len(words)]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        cells = [_trimmed(self.text, *self._moved(number, pair)) for pair in pairs]
        if _NUMBER.fullmatch(self.text, *cells[0]):  # an entry of a list
            cells = cells[1:]
        if kind != "tab":  # a frame, or an indentation
            cells = cells[is_empty(cells[0]) : len(cells) - is_empty(cells[-1])]
        filled = sum(not is_empty(cell) for cell in cells)
        return Row(kind, tuple(cells)) if filled > 1 else None

    def _moved(self, number: int, place: Place) -> Place:
        offset = self.start(number)
        return place[0] + offset, place[1] + offset

    @staticmethod
    def _widest_gap(row: Row) -> int:
        after = iter(row.cells)
        next(after)
        return max(right[0] - left[1] for left, right in zip(row.cells, after, strict=False))

    def _is_aligned(self, number: int, row: Row) -> bool:
        """Whether a neighbouring line has a column where one of ``row`` begins."""
        columns = [start - self.start(number) for start, _ in row.cells[1:]]
        neighbours = [line for line in (number - 1, number + 1) if 0 <= line < len(self)]
        return any(
            words[at : at + 1].strip() and words[max(0, at - 2) : at] == "  "
            for words in map(self.words, neighbours)
            for at in columns
        )


def is_empty(place: Place) -> bool:
    return place[0] >= place[1]


def _trimmed(text: str, start: int, end: int) -> Place:
    cell = text[start:end]
    left = start + len(cell) - len(cell.lstrip())
    return left, max(left, start + len(cell.rstrip()))
