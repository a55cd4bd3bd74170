"""The labels of a value, and which field of the schema their words are of.

A label before a colon and the head of a column name the field of a value. The head of a row, and
the words right before a value ("Potassium 5.9"), may name its field, or what the row is of.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from safepassage.passages.words import content_words
from safepassage.schemas import entity_type_name
from safepassage.schemas.alignment import MAX_COLUMN
from safepassage.scoring_worker.comparison import Place
from safepassage.scoring_worker.comparison.denials.languages import in_any

_MAX_WORDS = 6
_LINE = 200
"""Characters before a value among which its label is looked for."""
_COLON = re.compile(r"[:：](?=\s|$)")
_EDGE = re.compile(r"[.;,](?=\s)|[|\t\n│]|\s{2,}")
"""What may part a label from what is before it in its line."""
_LETTER = re.compile(r"[^\W\d_]")
_MARKS = " \t-*•–—▪◦●○·>()"
_LEAD = re.compile(r"[.;,:](?=\s)|[|│┃¦\t()]|\s{2,}")
"""What is before the words that lead to a value."""
_LEADING = 4
_NUMBERED = re.compile(r"\b(?:no|nr|ref)\.?\s*\Z", re.IGNORECASE)
_PARTING = re.compile(r"\s*[|│┃¦\t]\s*|[^\S\t]{2,}")
_PARTS = " |│┃¦\t"
PAIR = 2
"""Cells of a row that is a label and its value."""
_LONGEST_CUT = 15
"""Code points that are missing where the last head was cut at a blank, at the most."""


def label_before(text: str, at: int) -> str | None:
    """The label ("Bill to:") right before code point ``at`` of ``text``, without its colon; None
    where none is there. With words between it is rather the topic of a sentence."""
    line = text[max(0, at - _LINE) : at].rpartition("\n")[2]
    colons = list(_COLON.finditer(line))
    if not colons or line[colons[-1].end() :].strip(" \"'(“„«"):
        return None
    label = _EDGE.split(line[: colons[-1].start()].rstrip())[-1].strip(" -*•–—()")
    return label if _LETTER.search(label) and len(label.split()) <= _MAX_WORDS else None


class Label(NamedTuple):
    """``names`` says that it can only be the name of the value's field, or a synonym of it."""

    text: str
    names: bool


class Heads(NamedTuple):
    """What the document has beside or above a quote: the label of its row or line, and the heads of
    the columns that it covers, as the document parts them; "" where there are none."""

    label: str = ""
    column: str = ""


def labels_of(text: str, at: int, quote: Place, heads: Heads) -> list[Label]:
    """The labels of the value at code point ``at`` of ``text``, in which the quote is at
    ``quote``."""
    found = []
    line = text[max(0, at - _LINE) : at].rpartition("\n")[2]
    above = heads.label.rstrip(" :：") if heads.label.rstrip().endswith((":", "：")) else ""
    named = label_before(text, at) or (above if not line.strip(_MARKS) else "")
    if named:
        found.append(Label(named, names=True))
    row, cell = _cells(text, quote, at)
    if column := _head_of(heads.column, len(row), cell):
        found.append(Label(column, names=True))
    first = heads.label if heads.label and not above else _of(text, row[0]) if cell else ""
    if _is_name(first):
        found.append(Label(first, names=False))
    return found


def leads_of(text: str, at: int, *, named: bool) -> list[str]:
    """The last words right before code point ``at`` in its clause, one to `_LEADING` of them:
    "quotation", "your quotation" of "with your quotation 4711". Numbers are left out, and what is
    before an "and"; where a thing is ``named``, so is what is before a preposition: "the supplier
    of Merrow Ltd" is not Merrow."""
    line = _NUMBERED.sub("", text[max(0, at - _LINE) : at].rpartition("\n")[2])
    linking = in_any("prepositions")
    ends = in_any("and") | linking if named else in_any("and") - linking
    words: list[str] = []
    for word in reversed(_LEAD.split(line)[-1].split()[-_LEADING:]):
        if word.casefold() in ends:
            break
        if not any(map(str.isdigit, word)):
            words.insert(0, word)
    return [" ".join(words[-count:]) for count in range(1, len(words) + 1)]


def cell_with_head(text: str, at: int, quote: Place, heads: Heads) -> tuple[str, Place] | None:
    """The cell of a table that code point ``at`` is in, and what names it: the head of its column,
    or the other cell of a row of two. None where it is in no cell, or nothing names it."""
    row, number = _cells(text, quote, at)
    named = _of(text, row[0]) if len(row) == PAIR and number else ""
    head = named or _head_of(heads.column, len(row), number)
    return (head, row[number]) if _is_name(head) else None


def _cells(text: str, quote: Place, at: int) -> tuple[list[Place], int]:
    """The cells of the quoted row that code point ``at`` is in, and the number of its cell."""
    first = text.rfind("\n", quote.start, at) + 1 or quote.start
    end = text.find("\n", at, quote.end)
    row = text[first : end if end >= 0 else quote.end]
    edges = [0, *(found.end() for found in _PARTING.finditer(row)), len(row)]
    cells = [_stripped(row, start, end, first) for start, end in pairwise(edges)]
    number = sum(edge <= at - first for edge in edges[1:-1])
    # A table's frame is no cell.
    left, right = (len(cells) > 1 and cells[e].start == cells[e].end for e in (0, -1))
    return cells[left : len(cells) - right], max(0, number - left)


def _stripped(text: str, start: int, end: int, shift: int) -> Place:
    while start < end and text[start] in _PARTS:
        start += 1
    while start < end and text[end - 1] in _PARTS:
        end -= 1
    return Place(start + shift, end + shift)


def _of(text: str, place: Place) -> str:
    return text[place.start : place.end]


def _head_of(column: str, cells: int, number: int) -> str:
    """The head of cell ``number`` among as many ``cells``; "" where it cannot be told. ``column``
    may be cut at `MAX_COLUMN` code points: then its last head is not one."""
    heads = [one.strip(_PARTS) for one in _PARTING.split(column)] if column else []
    cut = len(column) > MAX_COLUMN - _LONGEST_CUT
    if len(heads) != cells and not (cut and number < len(heads) - 1):
        return ""
    return heads[number] if number < len(heads) and _is_name(heads[number]) else ""


def _is_name(text: str) -> bool:
    return bool(_LETTER.search(text)) and len(text.split()) <= _MAX_WORDS


def names_another(label: str, own: str, others: Iterable[str], description: str = "") -> bool:
    """Whether ``label`` has the words of one of the fields ``others`` ("Order" is less than "Order
    Number"), and none of field ``own`` or its ``description``."""
    said = _words(label)
    if not said or said & (_words(own) | _words(description)):
        return False
    return any(said == _words(other) for other in others)


def nearer_by_words(
    labels: Iterable[str], own: str, others: Iterable[str], description: str = ""
) -> float:
    """How much more of the words of ``labels`` is of field ``own`` than of the nearest of the
    ``others``, in [-1, 1]; a word of its ``description`` counts half. Words are compared by their
    stems; 0 where no field shares any."""
    said = [words for label in labels if (words := _words(label))]
    more = _words(description)
    described = max((len(label & more) / len(label) / 2 for label in said), default=0.0)
    nearest = max((_share(label, _words(other)) for label in said for other in others), default=0.0)
    return max(described, *(_share(label, _words(own)) for label in said), 0.0) - nearest


def _share(label: set[str], field: set[str]) -> float:
    return len(label & field) / len(label | field)


def _words(name: str) -> set[str]:
    return set(content_words(entity_type_name(name))) if name else set()
