"""`DocumentLayout`: one document, and what is around any passage of it."""

from collections.abc import Callable, Sequence
from functools import cached_property

from safepassage.passages.date_order import day_first_of
from safepassage.schemas import Alignment, Span, Surroundings
from safepassage.schemas.alignment import MAX_COLUMN, MAX_HEADING, MAX_LABEL, MAX_SIDE

from .lines import Lines, Place
from .names import Headings, column_head, label
from .sentences import first_line, sentence_end, sentence_start

LanguageOf = Callable[[str], str | None]
"""The language of a document's text (ISO 639-1); None where it is unknown."""


class DocumentLayout:
    """A document's text, and what is found out of it on first need. Threads may share it."""

    def __init__(self, text: str, language_of: LanguageOf | None = None) -> None:
        self.text = text
        self._language_of = language_of
        self._lines = Lines(text)
        self._headings = Headings(self._lines)

    @cached_property
    def day_first(self) -> bool | None:
        """Whether the document writes days before months in figures (13/5/2019); None where
        neither a format that it writes out nor its other dates decide."""
        return day_first_of(self.text)

    @cached_property
    def language(self) -> str | None:
        """The document's language; None where it is unknown or nobody was given who knows."""
        return self._language_of(self.text) if self._language_of else None

    def around(self, passages: Sequence[Span]) -> tuple[Surroundings, ...]:
        """What is around each of ``passages``, which are slices of this document.

        No side reaches into a neighbouring passage, and the inner sides of an elided quote
        share `MAX_SIDE` characters, so that many passages hold no more than a few.
        """
        inner = MAX_SIDE // max(1, len(passages) - 1)
        last = len(passages) - 1
        found = []
        for number, passage in enumerate(passages):
            floor = passages[number - 1].end if number else 0
            ceiling = passages[number + 1].start if number < last else len(self.text)
            low = passage.start - (inner if number else MAX_SIDE)
            high = passage.end + (inner if number < last else MAX_SIDE)
            low = max(low, floor if floor <= passage.start else 0)
            high = min(high, ceiling if ceiling >= passage.end else len(self.text))
            found.append(self._around((passage.start, passage.end), max(0, low), high))
        return tuple(found)

    def _around(self, passage: Place, low: int, high: int) -> Surroundings:
        lines, (start, end) = self._lines, passage
        first, last = lines.at(start), lines.at(max(start, end - 1))
        row = lines.row(first)
        top = first if row else first_line(lines, first, start)
        low = max(low, lines.start(top))
        begin = low if row else sentence_start(lines, low, start)
        if lines.row(last):
            finish = max(end, min(high, lines.end(last)))
        else:
            finish = sentence_end(lines, last, end, high)
        named = label(lines, top, (begin, start), row)
        heading = self._headings.above(top)
        place = lines.stripped(heading) if heading is not None else None
        return Surroundings(
            before=self._before(begin, start),
            after=self._after(end, finish),
            label=self._cut(named, MAX_LABEL),
            column=self._cut(column_head(lines, first, row, passage) if row else None, MAX_COLUMN),
            heading=self._cut(place if place != named else None, MAX_HEADING),
        )

    def _before(self, start: int, end: int) -> Span | None:
        """Up to the passage, from the edge of a word where ``start`` cuts one."""
        if self._cuts_a_word(start):
            while start < end and not self.text[start].isspace():
                start += 1
        while start < end and self.text[start].isspace():
            start += 1
        return self._span(start, end)

    def _after(self, start: int, end: int) -> Span | None:
        """From the passage, to the edge of a word where ``end`` cuts one."""
        if self._cuts_a_word(end):
            while end > start and not self.text[end - 1].isspace():
                end -= 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return self._span(start, end)

    def _cuts_a_word(self, place: int) -> bool:
        # Ideographs have no blanks to cut at: what cannot be avoided is no cut.
        left, right = self.text[place - 1 : place], self.text[place : place + 1]
        return bool(place and left.isalnum() and right.isalnum() and left < "\u2e80")

    def _cut(self, place: Place | None, limit: int) -> Span | None:
        if place is None:
            return None
        start, end = place
        if end - start > limit:
            end = start + limit
            blank = self.text.rfind(" ", start, end)
            end = blank if blank > start else end
        return self._span(start, end)

    def _span(self, start: int, end: int) -> Span | None:
        if start >= end:
            return None
        return Span(start=start, end=end, text=self.text[start:end])


def with_surroundings(alignment: Alignment, layout: DocumentLayout) -> Alignment:
    """``alignment``, which is of the same document, with what is around its passages."""
    found = {
        "surroundings": layout.around(alignment.quoted),
        "language": layout.language,
        "day_first": layout.day_first,
    }
    return alignment.model_copy(update=found)
