"""What a reviewer sees of a text: differences, the surroundings of a passage, and every control
character by its name. Pure; escaping is done here and nowhere else for document text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape
from rapidfuzz.distance import Levenshtein

from safepassage.schemas import Span

MAX_SHOWN_CHARACTERS = 10_000  # Longer quotes and passages are shown cut and are not compared

AROUND_CHARACTERS = 700
STUB = 60  # Characters that are shown: to say that they are left out takes as much room
MAX_AROUND_CHARACTERS = 45_000

# Controls, invisible signs and everything that reorders text: in a quarantine they are evidence.
_INVISIBLE = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff])"
)


_LIKE_A_BLANK = frozenset(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
_ROOM_TO_COUNT = 200


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of characters; ``changed`` ones are on this side only."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A quote and its passage, segment by segment. ``distance`` is the number of character
    edits between them; None where one was too long to compare and both are cut."""

    quote: tuple[Segment, ...]
    passage: tuple[Segment, ...]
    distance: int | None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document: plain, ``marked`` as the passage, or left out (``skipped`` > 0)."""

    text: str = ""
    marked: bool = False
    skipped: int = 0


def compare(quote: str, passage: str) -> Comparison:
    if max(len(quote), len(passage)) > MAX_SHOWN_CHARACTERS:
        return Comparison((Segment(cut(quote), False),), (Segment(cut(passage), False),), None)
    left: list[Segment] = []
    right: list[Segment] = []
    for edit in Levenshtein.opcodes(quote, passage):
        changed = edit.tag != "equal"
        if edit.src_start < edit.src_end:
            left.append(Segment(quote[edit.src_start : edit.src_end], changed))
        if edit.dest_start < edit.dest_end:
            right.append(Segment(passage[edit.dest_start : edit.dest_end], changed))
    return Comparison(tuple(left), tuple(right), Levenshtein.distance(quote, passage))


def cut(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """``text``, or its beginning and, where there is room to say it, how much is missing."""
    if len(text) <= limit:
        return text
    if limit < _ROOM_TO_COUNT:
        return f"{text[: limit - 1]}…"
    return f"{text[:limit]} […{len(text) - limit:,} more characters]"


def excerpt(text: str, spans: Sequence[Span], around: int) -> list[Piece]:
    """``text`` with ``around`` characters beside every span, and pieces for what is left out."""
    marks = _merged(sorted((span.start, min(span.end, len(text))) for span in spans))
    shown = [(start - around, end + around) for start, end in marks] or [(0, 2 * around)]
    pieces: list[Piece] = []
    position = 0
    for start, end in _merged([_to_the_edge(*one, len(text)) for one in shown], STUB):
        if start > position:
            pieces.append(Piece(skipped=start - position))
        pieces += _marked_between(text, start, end, marks)
        position = end
    if position < len(text):
        pieces.append(Piece(skipped=len(text) - position))
    return pieces


def _to_the_edge(start: int, end: int, length: int) -> tuple[int, int]:
    return 0 if start <= STUB else start, length if length - end <= STUB else end


def visible(text: str) -> Markup:
    """``text`` as safe HTML. What cannot be seen, or moves what can, is named by code point."""
    return _render(text.replace("\r\n", "\n"))


def plain(text: str) -> str:
    """``text`` for where no markup can be, such as a page's title."""
    return _INVISIBLE.sub("\ufffd", text)


def visible_change(text: str) -> Markup:
    """A changed run: line ends and blanks, invisible but different, get signs of their own."""
    signed = text.replace("\r\n", "\n").replace("\n", "↵\n")
    if not text.isspace():
        return _render(signed)
    signed = signed.replace(" ", "␣").replace("\t", "⇥")
    return Markup("").join(
        _named(sign) if sign in _LIKE_A_BLANK or _INVISIBLE.match(sign) else sign for sign in signed
    )


def _render(text: str) -> Markup:
    parts = enumerate(_INVISIBLE.split(text))  # every second one is such a sign
    return Markup("").join(_named(part) if at % 2 else escape(part) for at, part in parts)


def _named(sign: str) -> Markup:
    return Markup('<span class="sign">U+{:04X}</span>').format(ord(sign))


def _marked_between(
    text: str, start: int, end: int, marks: Sequence[tuple[int, int]]
) -> list[Piece]:
    pieces: list[Piece] = []
    for mark_start, mark_end in marks:
        if start <= mark_start < end:
            pieces += [Piece(text[start:mark_start]), Piece(text[mark_start:mark_end], marked=True)]
            start = mark_end
    pieces.append(Piece(text[start:end]))
    return [piece for piece in pieces if piece.text]


def _merged(intervals: Sequence[tuple[int, int]], apart: int = 0) -> list[tuple[int, int]]:
    """Sorted intervals, those that touch or are at most ``apart`` made one."""
    merged: list[tuple[int, int]] = []
    for start, end in intervals:
        if merged and start <= merged[-1][1] + apart:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
