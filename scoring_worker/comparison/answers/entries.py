"""A quote as a form: its rows and sentences, each with its label, as "Allergies: none known"."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..contract import Passage, Place
from ..denials.cued_text import CuedText
from ..denials.languages import in_any
from ..denials.scopes import is_break
from ..denials.type_words import same_stem, words_of_type

_LONGEST_LABEL = 8
_SIGNS = frozenset({":", "：", "=", "?", "|", "\t"})
"""What is between a label and its entry. A cell's border is one for the cell before."""
_WIDE = 2
"""Blanks beyond which the next column of a row begins."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Tokens ``start`` to ``end`` of what is entered, and the folded words of its label."""

    label: tuple[str, ...]
    start: int
    end: int


def entries_of(reading: CuedText, passage: Passage) -> list[Entry]:
    """The rows and sentences of the quote. One without a label of its own has the passage's
    heading; linear in the quote."""
    first, last = reading.span(Place(0, len(passage.quote)))
    heading = words_of_type(passage.heading)
    entries: list[Entry] = []
    for start, end in _rows(reading, first, last):
        sign = _sign(reading, start, end)
        if sign is None:
            entries.append(Entry(heading, start, end))
            continue
        label = tuple(t.text for t in reading.tokens[start:sign] if t.is_word)
        entries.append(Entry(label or heading, sign + 1, _end(reading, sign + 1, end)))
    return entries


def _rows(reading: CuedText, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Tokens of each row; two cells side by side are one row, label and entry."""
    start = first
    for at in range(first, last):
        if is_break(reading, at) and reading.tokens[at].text not in _SIGNS:
            if at > start:
                yield start, at
            start = at + 1
    if last > start:
        yield start, last


def _sign(reading: CuedText, start: int, end: int) -> int | None:
    """The first sign behind a label that is short enough to be one."""
    words = 0
    for at in range(start, end):
        if reading.tokens[at].text in _SIGNS and words:
            return at
        words += reading.tokens[at].is_word
        if words > _LONGEST_LABEL:
            return None
    return None


def _end(reading: CuedText, start: int, end: int) -> int:
    """Where the entry ends: at the next column, or before the end of the row."""
    for at in range(start, end):
        apart = at > start and reading.tokens[at].start - reading.tokens[at - 1].end
        if apart >= _WIDE or (reading.tokens[at].text in _SIGNS and at > start):
            return at
    return end


def is_labelled(entry: Entry, entity_type: str) -> bool:
    """Whether the label shares the stem of a word with the type."""
    asked = words_of_type(entity_type)
    return any(same_stem(word, other) for word in entry.label for other in asked)


def said(reading: CuedText, entry: Entry, section: str) -> bool:
    """Whether the entry, or its words before the first comma or bracket, are a phrase of
    ``section`` in any language."""
    signs = (at for at in range(entry.start, entry.end) if reading.tokens[at].text in {",", "("})
    ends = entry.end, next(signs, entry.end)
    return any(_phrase(reading, entry.start, end) in in_any(section) for end in ends)


def _phrase(reading: CuedText, start: int, end: int) -> str:
    texts = [token.text for token in reading.tokens[start:end] if token.text != "\n"]
    while len(texts) > 1 and texts[-1] in {".", "!", ","}:
        texts.pop()
    return " ".join(texts)


def place_of(reading: CuedText, passage: Passage, start: int, end: int) -> tuple[Place, ...]:
    """The place in the quote of tokens ``start`` to ``end``; none for no tokens."""
    if start >= end:
        return ()
    begin = max(0, reading.tokens[start].start - reading.offset)
    return (Place(begin, min(reading.tokens[end - 1].end - reading.offset, len(passage.quote))),)
