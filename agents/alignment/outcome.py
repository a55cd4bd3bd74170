"""From where the parts of a context were found to the `Alignment` that is reported."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from safepassage.agents.alignment_thresholds import (
    LOW_EVIDENCE_CHARACTERS,
    LOW_EVIDENCE_SCORE,
    TINY_CHARACTERS,
)
from safepassage.schemas import Alignment, Occurrence, Route, Span

# A number, date or reference is one token: "1,250.00", "2013-06-19", "MA1-01234", "l'audience".
_TOKEN = re.compile(r"\w+(?:[.,:/'’\-–]\w+)*")
# Scripts without blanks would otherwise pull in whole sentences.
_REACH = 32


def widen_to_tokens(text: str, start: int, end: int) -> tuple[int, int]:
    """``start`` and ``end`` moved outward where they cut a token of ``text``.

    The best local alignment of "june 19, 2014" with "june 19, 2013" ends before the last
    digit: the scorer would judge "june 19, 201" and could not see that the value is wrong.
    """
    return _token_around(text, start)[0], _token_around(text, end)[1]


def _token_around(text: str, edge: int) -> tuple[int, int]:
    """The token that ``edge`` cuts, or (edge, edge) where it cuts none."""
    if not text[edge - 1 : edge].strip() or not text[edge : edge + 1].strip():
        return edge, edge  # beside a blank or at an end of the text: by far the most frequent
    first = max(0, edge - _REACH)
    for token in _TOKEN.finditer(text[first : edge + _REACH]):
        if first + token.start() < edge < first + token.end():
            return first + token.start(), first + token.end()
    return edge, edge


# An elided context is as exact as its least exact part.
_ROUTES: Final[tuple[Route, ...]] = ("verbatim", "normalised", "window", "full", "bound", "none")


class PlacedPart(NamedTuple):
    """One part of a context of ``characters`` normalised characters, and where it was found.

    ``start`` and ``end`` are original code points; ``others`` are further exact occurrences,
    ``occurrences`` counts them all. ``bound`` is set instead where only an upper bound on the
    score is known. As it begins, no character of the part is in the document.
    """

    characters: int
    start: int = 0
    end: int = 0
    matches: int = 0
    length: int = 0
    aligned: int = 0
    route: Route = "none"
    occurrences: int = 0
    others: tuple[tuple[int, int], ...] = ()
    bound: float | None = None

    @property
    def unaligned(self) -> int:
        """Context characters outside the local alignment."""
        return self.characters - self.aligned

    @property
    def score(self) -> float:
        """D = M / (L + unaligned context characters), or its bound."""
        if self.bound is not None:
            return self.bound
        return self.matches / (self.length + self.unaligned)


def exactly(
    characters: int,
    place: tuple[int, int],
    route: Route,
    others: Sequence[tuple[int, int]],
    count: int,
) -> PlacedPart:
    """A part that is in the document as it is, ``count`` times in all."""
    return PlacedPart(
        characters,
        *place,
        matches=characters,
        length=characters,
        aligned=characters,
        route=route,
        occurrences=count,
        others=tuple(others),
    )


def nothing(threshold: float) -> Alignment:
    """The alignment of a context that is blank or empty."""
    return Alignment(score=0.0, matches=0, length=0, unaligned=0, threshold=threshold, route="none")


def outcome(text: str, parts: Sequence[PlacedPart], threshold: float) -> Alignment:
    """Put the parts together: the least score decides, the counts are sums."""
    found = [part for part in parts if part.matches]
    spans = tuple([_span(text, part.start, part.end) for part in found])
    score = min([part.score for part in parts])
    whole = parts[0] if len(parts) == 1 else None
    characters = sum([part.characters for part in parts])
    occurrences = whole.occurrences if whole else 0
    weak = characters < LOW_EVIDENCE_CHARACTERS and score < LOW_EVIDENCE_SCORE
    anywhere = characters <= TINY_CHARACTERS and occurrences > 1
    alignment = Alignment(
        score=score,
        matches=sum([part.matches for part in parts]),
        length=sum([part.length for part in parts]),
        unaligned=sum([part.unaligned for part in parts]),
        threshold=threshold,
        spans=spans,
        passages=tuple([_widened(text, span) for span in spans]),
        in_order=all(before.end <= after.start for before, after in pairwise(found)),
        occurrences=occurrences,
        alternatives=tuple([Occurrence(start=a, end=b) for a, b in whole.others]) if whole else (),
        low_evidence=weak or anywhere,
        scored=all(part.bound is None for part in parts),
        route=max([part.route for part in parts], key=_ROUTES.index),
    )
    return alignment.model_copy(update={"low_evidence": True}) if alignment.scatter else alignment


def _span(text: str, start: int, end: int) -> Span:
    return Span(start=start, end=end, text=text[start:end])


def _widened(text: str, span: Span) -> Span:
    start, end = widen_to_tokens(text, span.start, span.end)
    return span if (start, end) == (span.start, span.end) else _span(text, start, end)
