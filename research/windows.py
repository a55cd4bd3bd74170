"""Windows of whole sentences over a context, for methods that read all of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from safepassage.passages.sentence_splitting import sentences


@dataclass(frozen=True, slots=True)
class Window:
    """``context[passage][start:end]``: whole sentences, or a part of one longer than a window."""

    passage: int
    start: int
    end: int


def windows(
    context: Sequence[str], room: int, *, size: Callable[[str], int] = len, overlap: int = 1
) -> list[Window]:
    """Windows of whole sentences over every passage, in order; none spans two passages.

    Args:
        room: the most that ``size`` of a window may be, at least 1.
        size: characters, or tokens; of a longer text never less.
        overlap: how many sentences of a window the next one begins with, where they leave room.

    Every letter and digit of the context is in a window: a sentence longer than ``room`` is
    cut at blanks into windows of its own.

    Raises:
        ValueError: ``room`` is below 1.
    """
    if room < 1:
        raise ValueError("a window has room for something")
    return [
        Window(number, start, end)
        for number, text in enumerate(context)
        for start, end in _windows_of(text, room, size, overlap)
    ]


def _windows_of(
    text: str, room: int, size: Callable[[str], int], overlap: int
) -> list[tuple[int, int]]:
    parts = [part for start, end in sentences(text) for part in _cut(text, start, end, room, size)]
    made: list[tuple[int, int]] = []
    first = 0
    while first < len(parts):
        last = first
        while last + 1 < len(parts) and size(text[parts[first][0] : parts[last + 1][1]]) <= room:
            last += 1
        made.append((parts[first][0], parts[last][1]))
        if last + 1 == len(parts):
            break
        first = max(first + 1, last + 1 - overlap)
        # An overlap that leaves no room for the next sentence would only repeat the end.
        while first <= last and size(text[parts[first][0] : parts[last + 1][1]]) > room:
            first += 1
    return made


def _cut(
    text: str, start: int, end: int, room: int, size: Callable[[str], int]
) -> list[tuple[int, int]]:
    """A sentence whole where it fits; else in parts, cut at blanks as far as there are any."""
    parts = []
    while size(text[start:end]) > room:
        low, high = start + 1, end - 1  # the longest part that fits, at least one character
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if size(text[start:middle]) <= room else (low, middle - 1)
        blank = text.rfind(" ", start + 1, low + 1)
        cut = blank if blank > start else low
        parts.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        parts.append((start, end))
    return parts
