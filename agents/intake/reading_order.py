"""In which order the words of a page are read: columns, lines, rows of tables.

Pages of text and pages of an OCR go the same way: words and boxes in, lines of cells out. The
order in which a PDF or an OCR names its words is not asked, since it is anybody's.

A region is divided at a gutter where running text is on both sides of it. Text that is
side by side and does not run is a table or a form: its rows stay lines.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from .page_words import Rectangle, Word, hull

_CELL_GAP = 1.1  # of the line's height; wider parts two cells …
_USUAL_GAPS = 1.7  # … unless blanks are usually so wide: typewriters, justified lines …
_WIDEST_GAP = 1.6  # … and that not without end, since in a table all blanks are wide
_ROW_SHARE = 0.5  # of the lower one's height, for two fragments to be on one line
_PARAGRAPH_PITCH = 1.35  # of the usual distance from line to line
_USUAL_PITCH = 2.0  # of the height of words, where too few lines tell
_WIDEST_PITCH = 4.0  # of the height of words: more is no distance between lines
_GUTTER = 0.8  # of the line's height at least
_COLUMN_LINES = 3
_RUNNING_WORDS = 3.0
_RUNNING_FILL = 0.6  # of the column's width that a running line fills
_MAX_DEPTH = 6
_MAX_GUTTERS = 24
_WRAPPED_GAP = 0.6  # of the line's height, to a line that goes on with a cell


Cell = tuple[Word, ...]
"""Words that are read one after another."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of running text (one cell), or a row of a table: an empty cell has no words.
    ``apart`` is whether a blank line is before it."""

    cells: tuple[Cell, ...]
    apart: bool


@dataclass(frozen=True, slots=True)
class _Fragment:
    words: tuple[Word, ...]
    box: Rectangle


def read(words: Sequence[Word]) -> list[Line]:
    """The lines of an upright page in the order in which a person reads them."""
    if not words:
        return []
    height = median(word.box.height for word in words) or 1.0
    return _read_region(_fragments(words, height), height, 0)


def _fragments(words: Sequence[Word], height: float) -> list[_Fragment]:
    fragments = []
    rows = [[f.words[0] for f in row] for row in _rows([_Fragment((w,), w.box) for w in words])]
    blanks = [b.box.left - a.box.right for row in rows for a, b in pairwise(row)]
    usual = _USUAL_GAPS * median([blank for blank in blanks if blank > 0] or [0.0])
    for row in rows:
        run: list[Word] = []
        for word in row:
            line = max(_height(word, height), height * 0.7, 1e-6)
            reach = min(max(usual, _CELL_GAP * line), _WIDEST_GAP * line)
            if run and word.box.left - max(w.box.right for w in run) > reach:
                fragments.append(_fragment(run))
                run = []
            run.append(word)
        fragments.append(_fragment(run))
    return fragments


def _height(word: Word, usual: float) -> float:
    """A word of small letters is lower than its line."""
    return max(word.box.height, min(usual, 1.5 * word.box.height))


def _fragment(words: Sequence[Word]) -> _Fragment:
    return _Fragment(tuple(words), hull(word.box for word in words))


def _rows(fragments: Sequence[_Fragment]) -> list[list[_Fragment]]:
    """Fragments that are on one line, from left to right; lines from top to bottom."""
    rows: list[tuple[float, float, list[_Fragment]]] = []
    for fragment in sorted(fragments, key=lambda f: (f.box.top + f.box.bottom, f.box.left)):
        box = fragment.box
        for at in range(len(rows) - 1, max(-1, len(rows) - 4), -1):
            top, bottom, members = rows[at]
            shared = min(bottom, box.bottom) - max(top, box.top)
            if shared >= _ROW_SHARE * min(bottom - top, box.height):
                rows[at] = (min(top, box.top), max(bottom, box.bottom), [*members, fragment])
                break
        else:
            rows.append((box.top, box.bottom, [fragment]))
    return [sorted(members, key=lambda f: f.box.left) for _, _, members in rows]


def _read_region(fragments: list[_Fragment], height: float, depth: int) -> list[Line]:
    if depth < _MAX_DEPTH and (parts := _columns(fragments, height)):
        lines: list[Line] = []
        for part in parts:
            found = _read_region(part, height, depth + 1)
            if lines and found:
                found[0] = Line(found[0].cells, apart=True)
            lines += found
        return lines
    return _read_rows(_rows(fragments), height)


def _columns(fragments: list[_Fragment], height: float) -> list[list[_Fragment]] | None:
    """``fragments`` divided at the gutter that parts most running lines: what is above it,
    its left, its right, what is below. None where there is no such gutter."""
    best: tuple[int, list[list[_Fragment]]] | None = None
    for gutter in _gutters(fragments, height):
        left, right, across = _sides(fragments, gutter)
        for top, bottom in _bands(across, fragments):
            inside = [[f for f in side if top < _middle(f) < bottom] for side in (left, right)]
            lines = min(map(len, inside))
            if lines < _COLUMN_LINES or (best and lines <= best[0]):
                continue
            if all(_runs(side) for side in inside):
                above = [f for f in fragments if _middle(f) <= top]
                below = [f for f in fragments if _middle(f) >= bottom]
                best = lines, [part for part in (above, *inside, below) if part]
    return best[1] if best else None


def _middle(fragment: _Fragment) -> float:
    return (fragment.box.top + fragment.box.bottom) / 2


def _gutters(fragments: Sequence[_Fragment], height: float) -> list[float]:
    """Where a vertical line may part columns: left of where several fragments begin."""
    begins = sorted(f.box.left for f in fragments)
    found: list[float] = []
    counted: list[int] = []
    for begin in begins:
        if found and begin - found[-1] <= height:
            counted[-1] += 1
        else:
            found.append(begin)
            counted.append(1)
    leftmost = begins[0] + height
    usual = [(n, x) for n, x in zip(counted, found, strict=True) if n >= _COLUMN_LINES]
    chosen = [x for _, x in sorted(usual, reverse=True)[:_MAX_GUTTERS] if x > leftmost]
    return [x - _GUTTER * height / 2 for x in sorted(chosen)]


def _sides(
    fragments: Sequence[_Fragment], gutter: float
) -> tuple[list[_Fragment], list[_Fragment], list[_Fragment]]:
    left = [f for f in fragments if f.box.right <= gutter]
    right = [f for f in fragments if f.box.left >= gutter]
    across = [f for f in fragments if f.box.left < gutter < f.box.right]
    return left, right, across


def _bands(
    across: Sequence[_Fragment], fragments: Sequence[_Fragment]
) -> list[tuple[float, float]]:
    """The parts of the region, from top to bottom, between the fragments that cross a gutter."""
    edges = [min(f.box.top for f in fragments) - 1, *sorted(map(_middle, across))]
    edges.append(max(f.box.bottom for f in fragments) + 1)
    return list(pairwise(edges))


def _runs(side: Sequence[_Fragment]) -> bool:
    """Whether most of these lines are running text, as in a column, and no cells of a table."""
    width = hull(f.box for f in side).width
    rows = _rows(side)
    running = [
        row
        for row in rows
        if len(row) == 1
        and len(row[0].words) >= _RUNNING_WORDS
        and row[0].box.width >= _RUNNING_FILL * width
    ]
    return 2 * len(running) >= len(rows)


def _read_rows(rows: list[list[_Fragment]], height: float) -> list[Line]:
    lines: list[Line] = []
    pitch = _PARAGRAPH_PITCH * _pitch(rows, height)
    above: float | None = None
    for block in _blocks(rows):
        table = _as_table(block) if len(block[0]) > 1 else None
        for cells, (first, last) in table or [
            (tuple([_in_order(f.words) for f in row]), (row, row)) for row in block
        ]:
            apart = above is not None and _base(first) - above > pitch
            lines.append(Line(cells, apart))
            above = _base(last)
    return lines


def _base(row: Sequence[_Fragment]) -> float:
    """Where a row's words are; a few of them have tails."""
    return median(word.box.bottom for fragment in row for word in fragment.words)


def _pitch(rows: Sequence[Sequence[_Fragment]], height: float) -> float:
    steps = [_base(below) - _base(above) for above, below in pairwise(rows)]
    near = [step for step in steps if 0 < step <= _WIDEST_PITCH * height]
    return median(near) if len(near) > 1 else _USUAL_PITCH * height


def _in_order(words: Sequence[Word]) -> tuple[Word, ...]:
    """From right to left where that is how the script runs."""
    strong = [unicodedata.bidirectional(sign) for word in words for sign in word.text]
    from_right = sum(kind in ("R", "AL") for kind in strong)
    return tuple(reversed(words)) if from_right > strong.count("L") else tuple(words)


def _blocks(rows: list[list[_Fragment]]) -> list[list[list[_Fragment]]]:
    """Rows of one fragment by themselves; rows of several that follow each other, together with
    the lines between them that only go on with a cell."""
    blocks: list[list[list[_Fragment]]] = []
    for row in rows:
        previous = blocks[-1] if blocks else None
        inside = previous is not None and len(previous[0]) > 1
        if inside and previous is not None and (len(row) > 1 or _goes_on(previous[-1], row)):
            previous.append(row)
        else:
            blocks.append([row])
    return blocks


def _goes_on(above: list[_Fragment], row: list[_Fragment]) -> bool:
    """Whether ``row``, a single fragment, is close below one cell of ``above`` alone, that is
    not the first: a cell of two lines."""
    box, over = row[0].box, hull(f.box for f in above)
    if box.top - over.bottom > _WRAPPED_GAP * box.height:
        return False
    touched = [f for f in above if f.box.left < box.right and f.box.right > box.left]
    return len(touched) == 1 and touched[0] is not above[0]


def _as_table(
    block: list[list[_Fragment]],
) -> list[tuple[tuple[Cell, ...], tuple[list[_Fragment], list[_Fragment]]]] | None:
    """The rows with a cell for every column of the block, each with its first and last line; None
    where the fragments share no columns."""
    columns = _column_edges(block)
    if len(columns) < 2:
        return None
    merged: list[list[list[Word]]] = []
    edges: list[tuple[list[_Fragment], list[_Fragment]]] = []
    for row in block:
        if merged and len(row) < len(block[0]) and _continues(edges[-1][1], row, columns):
            edges[-1] = edges[-1][0], row
        else:
            merged.append([[] for _ in columns])
            edges.append((row, row))
        for fragment in row:
            merged[-1][_column_of(fragment.box, columns)] += _in_order(fragment.words)
    cells = [tuple(map(tuple, row)) for row in _with_labels(merged)]
    return list(zip(cells, edges, strict=True))


def _with_labels(rows: list[list[list[Word]]]) -> list[list[list[Word]]]:
    """A column of labels ("Tenant:") is one with the column of what they name: a form's lines
    have no heads."""
    for column in range(len(rows[0]) - 2, -1, -1):
        labels = [row[column][-1].text for row in rows if row[column]]
        if labels and all(label.endswith((":", "：")) for label in labels):
            rows = [
                [*row[:column], row[column] + row[column + 1], *row[column + 2 :]] for row in rows
            ]
    return rows


def _continues(
    above: list[_Fragment], row: list[_Fragment], columns: list[tuple[float, float]]
) -> bool:
    """Whether ``row`` has no first cell and is close below: cells of two lines."""
    box = hull(f.box for f in row)
    first = any(_column_of(f.box, columns) == 0 for f in row)
    over = hull(f.box for f in above)
    return not first and box.top - over.bottom <= _WRAPPED_GAP * box.height


def _column_edges(block: list[list[_Fragment]]) -> list[tuple[float, float]]:
    """Left and right of the columns: what overlaps from row to row is one. A fragment that would
    join two of its neighbours (a title across) founds no column."""
    widest = max(block, key=len)
    columns = [(f.box.left, f.box.right) for f in widest]
    for row in block:
        for fragment in row:
            touched = [
                at
                for at, (left, right) in enumerate(columns)
                if left < fragment.box.right and right > fragment.box.left
            ]
            if len(touched) == 1:
                left, right = columns[touched[0]]
                columns[touched[0]] = min(left, fragment.box.left), max(right, fragment.box.right)
            elif not touched:
                columns.append((fragment.box.left, fragment.box.right))
                columns.sort()
    return columns


def _column_of(box: Rectangle, columns: list[tuple[float, float]]) -> int:
    def shared(at: int) -> float:
        left, right = columns[at]
        return min(right, box.right) - max(left, box.left)

    return max(range(len(columns)), key=shared)
