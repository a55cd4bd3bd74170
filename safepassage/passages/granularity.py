"""From a text to what is judged, and from what was judged to the whole: in one place.

A context is cut into windows of whole sentences, a response into claims. Every pair of a window
and a claim is judged; pairs become a claim's score, claims become the response's. How, each method
says by name. The one that published implementations get wrong: a claim is out of context only
where it is so in EVERY window, so a claim is as grounded as its best window; a response is out of
context where ANY of its claims is, so it is as grounded as its worst claim (RAGulator, sections
2.1 and 3.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from safepassage.passages.sentence_splitting import sentences

Aggregation = Literal["min", "max", "mean", "any", "all"]


@dataclass(frozen=True, slots=True)
class Granularity:
    """How a method gets from windows to a claim, and from claims to a response."""

    windows: Aggregation
    claims: Aggregation


ANY_WINDOW_EVERY_CLAIM: Final = Granularity(windows="max", claims="min")
"""RAGulator, sections 2.1 and 3.3: P(out of context) of a sentence is the minimum over windows;
one sentence out of context makes the response so. SummaC and MiniCheck read windows alike."""

MEAN_OVER_CLAIMS: Final = Granularity(windows="max", claims="mean")
"""The share of claims that are grounded: RAGAS faithfulness, SelfCheckGPT, SummaC."""


def aggregate(how: Aggregation, scores: Sequence[float | None]) -> float | None:
    """One score in [0, 1] of several, None where it is undetermined.

    Nothing to aggregate is undetermined, never 1. For min, max and mean one unknown score makes
    the whole unknown. ``any`` and ``all`` are over decisions, 0 or 1, of which an unknown one
    matters only where it could change the outcome.

    Raises:
        ValueError: any or all of what is no decision.
    """
    if not scores:
        return None
    if how in ("any", "all"):
        if any(score not in (None, 0.0, 1.0) for score in scores):
            raise ValueError("any and all are over decisions, 0 or 1")
        settles = float(how == "any")
        return settles if settles in scores else None if None in scores else 1.0 - settles
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return None
    if how == "mean":
        return sum(known) / len(known)
    return min(known) if how == "min" else max(known)


def over_windows(scores: Sequence[float | None]) -> float | None:
    """How grounded a claim is: as in its best window; None where a window is not known."""
    return aggregate(ANY_WINDOW_EVERY_CLAIM.windows, scores)


def over_claims(scores: Sequence[float | None]) -> float | None:
    """How grounded a response is: as its worst claim; None where a claim is not known."""
    return aggregate(ANY_WINDOW_EVERY_CLAIM.claims, scores)


MAX_RETRIEVED_FROM = 1_000_000
"""Characters of a context: more is no retrieval."""


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


def unusable_context(context: Sequence[str]) -> str | None:
    """Why no passages are retrieved from ``context``; None where they are."""
    if sum(map(len, context)) > MAX_RETRIEVED_FROM:
        return "context_too_long"
    return None if any(text.strip() for text in context) else "no_context"


def claims(response: str) -> list[tuple[int, int]]:
    """The sentences of a response, each a claim: code points in it."""
    return list(sentences(response))


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
