"""What names a passage: the label of its row or line, the head of its column, the heading above."""

import re

from .lines import Lines, Place, Row, is_empty
from .sentences import BULLET, LABELLED_LINE, wraps

_TABLE_ROWS = 200
_LIST_LINES = 50
_HEADING_REACH = 20_000  # characters above a quote
_LONGEST_HEADING = 120
_HEADING_WORDS = 12

_LABEL = re.compile(r"[^\W\d_][^:：\n.;|]{0,58}[:：](?=\s)")
_MARKS = " \t-*•–—▪◦●○·>()"
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_FIGURE = re.compile(r"\d(?:[\d.,' ]*\d)?")
_WORD = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIVIDER = re.compile(r"[\s|│┃¦:+\-=_─━┼╋]+")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|─{3,}|~{3,})\s*")
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\S|[IVX]+\.\s+\S")
_NO_HEADING_ENDS = (".", ",", ";", "!", "?", "…", "。", "|", ":", "：")
"""A colon is of the line or list below it alone, see `label`."""
_CAPITALS = 4  # letters


def column_head(lines: Lines, number: int, row: Row, passage: Place) -> Place | None:
    """The heads of the columns that ``passage`` covers in line ``number``, as one slice."""
    covered = [
        at
        for at, (start, end) in enumerate(row.cells)
        if start < passage[1] and end > passage[0] and start < end
    ]
    line = _head_line(lines, number, row, covered[-1]) if covered else None
    head = lines.row(line) if line is not None else None
    if line is None or head is None:
        return None
    chosen = [head.cells[at] for at in range(covered[0], covered[-1] + 1)]
    if row.kind == "run":
        shift = lines.start(number) - lines.start(line)
        cells = [row.cells[at] for at in covered]
        above = [
            (a, b) for a, b in head.cells if any(a + shift < d and b + shift > c for c, d in cells)
        ]
        chosen = above or (chosen if len(head.cells) == len(row.cells) else [])
    chosen = [cell for cell in chosen if not is_empty(cell)]
    return (chosen[0][0], chosen[-1][1]) if chosen else None


def label(lines: Lines, top: int, before: Place, row: Row | None) -> Place | None:
    """The first cell of the row; ``Label:`` in the line before the passage or on the line above.

    ``before`` is what completes the sentence before the passage, which begins in line ``top``.
    """
    start, place = before
    if row and row.cells[0][1] <= place and not is_empty(row.cells[0]):
        return row.cells[0]
    end = min(len(lines.text), place + 1)
    labels = [found for found in _LABEL.finditer(lines.text, start, end) if found.end() <= place]
    if labels:
        return labels[-1].span()
    return None if lines.text[start:place].strip(_MARKS) else _label_above(lines, top)


class Headings:
    """The nearest heading above a line. Each line of a document is looked at once."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[int, int | None] = {}

    def above(self, number: int) -> int | None:
        """The line of the heading, None where none is near."""
        walked: list[int] = []
        heading: int | None = None
        floor = self._lines.start(number) - _HEADING_REACH
        for line in range(number, -1, -1):
            if line in self._known:
                heading = self._known[line]
                break
            walked.append(line)
            if line == 0 or self._lines.start(line - 1) < floor:
                break
            if _is_heading(self._lines, line - 1):
                heading = line - 1
                break
        self._known.update(dict.fromkeys(walked, heading))
        return heading


def _head_line(lines: Lines, number: int, row: Row, column: int) -> int | None:
    """The table's head: the row above a dividing line, else its topmost one that can be one."""
    head: int | None = None
    divided = False
    for line in lines.above(number, _TABLE_ROWS):
        words = lines.words(line)
        if words.strip() and _DIVIDER.fullmatch(words):
            divided = True
            continue
        above = lines.row(line)
        if above is None or above.kind != row.kind:
            break
        if len(above.cells) > column and _names_columns(lines.text, above):
            if divided:
                return line
            if not _is_alike(lines.text, above, row):
                head = line
    return head


def _names_columns(text: str, row: Row) -> bool:
    words = [text[start:end] for start, end in row.cells]
    plain = sum(not _DIGIT.search(word) for word in words)
    return 2 * plain > len(words) and any(map(_LETTER.search, words))


def _is_alike(text: str, above: Row, row: Row) -> bool:
    """Whether ``above`` holds values as ``row`` does: figures of the same form in one column
    ("850 mg" over "5 mg"). Years are left out, since they name columns too."""
    if row.kind == "run" and len(above.cells) != len(row.cells):
        return False
    for one, other in zip(above.cells, row.cells, strict=False):
        upper, lower = text[slice(*one)], text[slice(*other)]
        if not _DIGIT.search(upper) or _YEAR.fullmatch(upper):
            continue
        if _form(upper) == _form(lower):
            return True
    return False


def _form(cell: str) -> str:
    """A cell with its figures and words made equal."""
    return _WORD.sub("a", _FIGURE.sub("0", cell))


def _label_above(lines: Lines, number: int) -> Place | None:
    """``Label:`` on the line above, or above the list that line ``number`` belongs to."""
    in_list = BULLET.match(lines.words(number) + " ") is not None
    blanks = 0
    for line in lines.above(number, _LIST_LINES):
        words = lines.words(line).strip()
        if words.endswith((":", "：")):
            return lines.stripped(line) if len(words) <= _LONGEST_HEADING else None
        blanks += not words
        if blanks > 1 or (words and not (in_list and BULLET.match(words + " "))):
            return None
    return None


def _is_heading(lines: Lines, number: int) -> bool:
    words = lines.words(number).strip()
    if not words or len(words) > _LONGEST_HEADING or not _LETTER.search(words):
        return False
    if words[0] == "#" or (
        number + 1 < len(lines) and _UNDERLINE.fullmatch(lines.words(number + 1))
    ):
        return True
    if words.endswith(_NO_HEADING_ENDS) or len(words.split()) > _HEADING_WORDS:
        return False
    numbered = _NUMBERED.match(words) is not None
    if lines.row(number) or LABELLED_LINE.match(words):
        return False
    if BULLET.match(words) and not numbered:
        return False
    alone = number == 0 or lines.blank(number - 1)
    capitals = words.isupper() and sum(map(str.isalpha, words)) >= _CAPITALS
    return (alone or numbered or capitals) and not wraps(lines, number)
