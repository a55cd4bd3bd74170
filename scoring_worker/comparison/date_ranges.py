"""Ranges of dates, "2019 - present", and which of their ends the entity type asks for."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.folding import keys_of

from .contract import Comparison, Passage, Place, Question, different
from .dates.partial_date import PartialDate
from .dates.search import dates_in
from .denials.type_words import words_of_type

End = Literal["low", "high"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DASH = re.compile(r"\s*(?:-|–|—|--|~|\.\.\.|…)\s*")
_ENDS = {"low": "beginning", "high": "end"}
_MOST_RANGES = 32
_MAX_GAP = 12


class Range(NamedTuple):
    """Both ends at their places in the quote."""

    low: Place
    high: Place

    def at(self, end: End) -> Place:
        """The place of ``end``."""
        return self.low if end == "low" else self.high


@lru_cache(maxsize=4096)
def asked_end(entity_type: str) -> End | None:
    """Which end of a range of dates the type asks for: "End Date" the later one; None for
    neither, and where it has words for both."""
    words = {keys_of(word).plain for word in words_of_type(entity_type)}
    low = not words.isdisjoint(word_list("range_start"))
    high = not words.isdisjoint(word_list("range_end"))
    return None if low == high else ("low" if low else "high")


def at_asked_end(question: Question, compared: Comparison) -> Comparison:
    """``compared``, which has found a date or the word of an open range, with the end at which it
    is: at the one that the type asks for, the rest of the range is no rival of it; at the
    other one alone, it is *different* (``range_end_differs``)."""
    end = asked_end(question.entity_type)
    if end is None or compared.answer != "same" or not compared.places:
        return compared
    ranges = list(ranges_in(question.passage))
    starts = {place.start for place in compared.places}
    asked = [one for one in ranges if one.at(end).start in starts]
    if asked:
        inside = {place.start for one in asked for place in (one.low, one.high)}
        rivals = tuple(rival for rival in compared.rivals if rival.start not in inside)
        companions = tuple(Place(one.low.start, one.high.end) for one in asked[:_MOST_RANGES])
        return replace(compared, rivals=rivals, companions=companions)
    if not starts <= {one.at("low" if end == "high" else "high").start for one in ranges}:
        return compared
    rivals = (*compared.places, *compared.rivals)
    detail = f"not the {_ENDS[end]} of the range"
    return different(compared.kind, "range_end_differs", detail, rivals)


def is_open_end(value: str) -> bool:
    """Whether ``value`` is the word that leaves a range open: "present", "heute"."""
    return keys_of(value.strip()).plain in word_list("range_open")


def ranges_in(passage: Passage) -> Iterator[Range]:
    """The ranges of dates in the quote: two dates that are in order, or a date and the word
    that leaves it open, with a dash or "to" between them. Linear in the quote."""
    quote = passage.quote
    dates = dates_in(quote, passage.language, passage.day_first)
    for number, date in enumerate(dates):
        following = dates[number + 1] if number + 1 < len(dates) else None
        if following is not None and _joins(quote[date.end : following.start]):
            if _in_order(date, following):
                yield Range(Place(date.start, date.end), Place(following.start, following.end))
        elif (open_ := _WORD.search(quote, date.end, date.end + 2 * _MAX_GAP + 8)) is not None:
            yield from _open_range(quote, date, open_)


def _open_range(quote: str, date: PartialDate, found: re.Match[str]) -> Iterator[Range]:
    if keys_of(found[0]).plain in word_list("range_joint"):
        after = _WORD.match(quote, found.end() + 1)
        found = after or found
    if is_open_end(found[0]) and _joins(quote[date.end : found.start()]):
        yield Range(Place(date.start, date.end), Place(*found.span()))


def _joins(gap: str) -> bool:
    if len(gap) > _MAX_GAP:
        return False
    return bool(_DASH.fullmatch(gap)) or keys_of(gap.strip()).plain in word_list("range_joint")


def _in_order(one: PartialDate, other: PartialDate) -> bool:
    """Whether the first date is the earlier one, as far as both state the same parts."""
    if len(one.readings) > 1 or len(other.readings) > 1:
        return False
    pairs = [(a, b) for a, b in zip(one.parts, other.parts, strict=True) if a and b]
    return bool(pairs) and [a for a, _ in pairs] < [b for _, b in pairs]
