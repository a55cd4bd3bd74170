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
_PARTING = re.compile(r"\s*[|│┃¦\t]\s*|[^\S\t]{2,}")
_PARTS = " |│┃¦\t"
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
    row, cell = _cells(text[quote.start : quote.end], at - quote.start)
    if column := _head_of(heads.column, len(row), cell):
        found.append(Label(column, names=True))
    first = heads.label if heads.label and not above else row[0] if cell else ""
    if _is_name(first):
        found.append(Label(first, names=False))
    if not found and _is_name(lead := _LEAD.split(line)[-1].strip(_MARKS)):
        found.append(Label(lead, names=False))
    return found


def _cells(quote: str, at: int) -> tuple[list[str], int]:
    """The cells of a quoted row, and the number of the one that code point ``at`` is in."""
    if "\n" in quote.strip():
        return [quote], 0
    edges = [0, *(found.end() for found in _PARTING.finditer(quote)), len(quote)]
    cells = [quote[start:end].strip(_PARTS) for start, end in pairwise(edges)]
    number = sum(edge <= at for edge in edges[1:-1])
    left, right = (len(cells) > 1 and not cells[end] for end in (0, -1))  # a table's frame
    return cells[left : len(cells) - right], max(0, number - left)


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
