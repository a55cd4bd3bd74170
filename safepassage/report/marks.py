"""A text in segments, each with the verdicts whose evidence it belongs to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from safepassage.schemas import Span, Verdict, render_value


@dataclass(frozen=True, slots=True)
class Mark:
    """Code points ``start`` to ``end`` (exclusive) that verdict ``number`` rests on; ``is_value``
    where they are its value, ``is_field`` where they name its field."""

    start: int
    end: int
    number: int
    is_value: bool = False
    is_field: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice of the text with the numbers of its verdicts, and whether it is a value of one, or
    names the field of one."""

    text: str
    numbers: tuple[int, ...] = ()
    is_value: bool = False
    is_field: bool = False


def marks_of(number: int, verdict: Verdict, named: Sequence[Span]) -> list[Mark]:
    """Where the evidence of ``verdict`` is, in it the value where it is as it is, and what
    of the document has ``named`` the field. A quote that was not found has none."""
    alignment = verdict.alignment
    if alignment is None or not alignment.found:
        return []
    value = render_value(verdict.value).casefold()
    found = [Mark(s.start, s.end, number, is_field=True) for s in named]
    for span in alignment.quoted:
        found.append(Mark(span.start, span.end, number))
        folded = span.text.casefold()
        at = folded.find(value) if value and len(folded) == len(span.text) else -1
        if at >= 0:
            found.append(Mark(span.start + at, span.start + at + len(value), number, True))
    return found


def segments(text: str, marks: Sequence[Mark]) -> Iterator[Segment]:
    """All of ``text`` in order, cut where a mark begins or ends."""
    sound = [m for m in marks if 0 <= m.start < m.end <= len(text)]
    edges = sorted({0, len(text), *(m.start for m in sound), *(m.end for m in sound)})
    opening: dict[int, list[Mark]] = {}
    for mark in sound:
        opening.setdefault(mark.start, []).append(mark)
    current: list[Mark] = []
    for start, end in pairwise(edges):
        current = [m for m in (*current, *opening.get(start, ())) if m.end > start]
        numbers = tuple(sorted({m.number for m in current}))
        value = any(mark.is_value for mark in current)
        yield Segment(text[start:end], numbers, value, any(mark.is_field for mark in current))
