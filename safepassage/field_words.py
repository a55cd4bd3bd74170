"""Which words of a document name the field that a value is of."""

from collections.abc import Iterator

from safepassage.schemas import CLAIM_TYPE, Span, Verdict
from safepassage.schemas.alignment import Alignment

from .passages.words import content_words, placed_words

_NEIGHBOURS = 1
"""Characters between two words that are shown as one."""


def field_words(verdict: Verdict) -> tuple[Span, ...]:
    """The words of the passage, and of what is around it, that the entity type shares, in the
    order of the document. Where there are none: the label of the row, the head of the column and
    the heading above. Empty for a claim, for a quote that was not found, and where nothing names
    the field: then only the sense of the passage tells what the value is."""
    alignment = verdict.alignment
    if verdict.entity_type == CLAIM_TYPE or alignment is None or not alignment.found:
        return ()
    wanted = set(content_words(verdict.entity_type))
    shared = {s.start: s for text in _texts(alignment) for s in _shared(text, wanted)}
    return tuple(shared[start] for start in sorted(shared)) or tuple(_names(alignment))


def _shared(text: Span, wanted: set[str]) -> Iterator[Span]:
    """The words of ``text`` whose stem is ``wanted``, neighbours as one."""
    places: list[tuple[int, int]] = []
    for word in placed_words(text.text):
        if word.stem not in wanted:
            continue
        near = places and word.start - places[-1][1] <= _NEIGHBOURS
        places.append((places.pop()[0] if near else word.start, word.end))
    for start, end in places:
        said = text.text[start:end]
        yield Span(start=text.start + start, end=text.start + end, text=said)


def _texts(alignment: Alignment) -> list[Span]:
    around = [part for one in alignment.surroundings or () for part in one.slices]
    return [*alignment.quoted, *(part for part in around if part is not None)]


def _names(alignment: Alignment) -> Iterator[Span]:
    """Labels and heads: each is beside or above a value to say what it is."""
    seen: set[int] = set()
    for one in alignment.surroundings or ():
        for part in (one.label, one.column, one.heading):
            if part is not None and part.start not in seen:
                seen.add(part.start)
                yield part
