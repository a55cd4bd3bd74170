"""The figures of a text: numbers, amounts of money and quantities, in any notation and script."""

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from pydantic import JsonValue

from ..contract import Place
from .bounds import bound_after, bound_before
from .compound_figures import linked
from .digits import MAX_DIGITS, Core, Style, style_in, style_of
from .figure import Figure, FigureReading
from .figure_reader import Read, piece, read
from .lexicon import Lexicon, lexicon_of
from .number_words import number_words
from .plain_text import Folded, fold
from .tokens import Piece, cores, fractions, in_words, tokens

_POINTED = re.compile(r"[0-9][0-9.,]*")
_MAX_VALUE = 120
"""Longer values are no figure."""
_MAX_KEPT = 4_000
"""Code points of a text of which many are kept; a longer one could hold a great many figures."""
_AROUND = "()[]{}.,;:!?\"'* "
_AGE = frozenset({"old", "-old", "of age", "per annum", "p.a", "p. a", "alt"})
"""What may be behind a figure without saying more than its unit does."""


def figures_in(text: str, language: str | None = None) -> tuple[Figure, ...]:
    """The figures of ``text`` from left to right, with what ``language`` (ISO 639-1) decides.

    Where the language is None, number words are read as English, and 1.234 has two readings
    unless other numbers of the text decide. Takes time linear in the text and raises nothing.
    """
    return _kept(text, language) if len(text) <= _MAX_KEPT else _long_kept(text, language)


@lru_cache(maxsize=1024)
def _kept(text: str, language: str | None) -> tuple[Figure, ...]:
    """A passage is asked for every value that was extracted from it."""
    return _figures(fold(text), language, style_of(language))


_long_kept = lru_cache(maxsize=2)(_kept.__wrapped__)


def _figures(folded: Folded, language: str | None, style: Style) -> tuple[Figure, ...]:
    found = tokens(folded)
    style = style_in((folded.text[one.start : one.end] for one in found), style)
    pieces: list[Core | Piece] = [*cores(folded, found, style, language), *fractions(folded)]
    pieces.extend(in_words(words) for words in number_words(folded.lowered, language or "en"))
    pieces.sort(key=lambda one: (one.start, -one.end))
    return tuple(linked(folded, list(_reads(folded, pieces, lexicon_of(language)))))


def _reads(folded: Folded, pieces: list[Core | Piece], lexicon: Lexicon) -> Iterator[Read]:
    floor = bound_floor = 0
    for one in _with_fractions(folded, pieces):
        if isinstance(one, Piece):
            yield piece(folded, one.start, one.end, one.amount)
            continue
        if one.start < floor:
            continue
        found = read(folded, one, floor, lexicon, bound_floor)
        if found is None:
            for amount in one.amounts[:1]:
                yield piece(folded, one.start, one.end, amount)
        else:
            floor = found.end
            if any(reading.sure for reading in found.figure.readings):
                bound_floor = floor
            yield found


def _with_fractions(folded: Folded, pieces: list[Core | Piece]) -> Iterator[Core | Piece]:
    """The pieces, with "2½" and "2 1/2" as one number."""
    last: Core | None = None
    for one in pieces:
        if last is not None and isinstance(one, Core) and (sum_ := _mixed(folded, last, one)):
            last = sum_
            continue
        if last is not None:
            yield last
        last = one if isinstance(one, Core) else None
        if last is None:
            yield one
    if last is not None:
        yield last


def _mixed(folded: Folded, whole: Core, rest: Core) -> Core | None:
    if rest.start - whole.end > 1:
        return None
    if len(whole.amounts) != 1 or len(rest.amounts) != 1 or rest.second is not None:
        return None
    amount, more = whole.amounts[0], rest.amounts[0]
    gap = folded.lowered[whole.end : rest.start]
    if gap.strip() or amount.value.denominator != 1 or not 0 < more.value < 1:
        return None
    if rest.in_words or whole.in_words or folded.text[rest.start : rest.end].startswith("."):
        return None
    total = amount._replace(value=amount.value + more.value, step=more.step)
    return Core(whole.start, rest.end, (total,))


def parse_figure(value: JsonValue, language: str | None = None) -> Figure | None:
    """``value`` as a figure; None where it is no number, or more than a figure.

    JSON numbers are read as they are. A text may hold one figure or range with its unit, its
    currency and its bound, nothing else: "5 mg" is a figure and "5 mg daily" is not. It is read
    in ``language`` and in English, since extractors write values in either.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _plain(value)
    if not isinstance(value, str) or len(value) > _MAX_VALUE:
        return None
    return _parse_text(value.strip(), language)


@lru_cache(maxsize=2048)
def _parse_text(value: str, language: str | None) -> Figure | None:
    style = style_of(language)
    figure = _only(value, language, style)
    if value.isascii() and value.isdigit():
        return figure  # the same in every language
    english = style_of("en")
    # Without a language words are read as English, and digits with points have none.
    worded = language not in (None, "en") and not _POINTED.fullmatch(value)
    others = (("en", style) if worded else None, ("en", english) if style != english else None)
    for tongue, other_style in filter(None, others):
        other = _only(value, tongue, other_style)
        if figure is None or other is None:
            figure = figure or other
            continue
        sure = other_style == style
        known = {(one.amount, one.unit, one.currencies) for one in figure.readings}
        more = tuple(
            one._replace(sure=sure and one.sure)
            for one in other.readings
            if (one.amount, one.unit, one.currencies) not in known
        )
        figure = figure._replace(readings=figure.readings + more)
    return figure


def _only(value: str, language: str | None, style: Style) -> Figure | None:
    folded = fold(value)
    whole = [one for one in _figures(folded, language, style) if one.part == "whole"]
    if len(whole) != 1 or not whole[0].readings:
        return None
    place = whole[0].place
    around = value[: place.start], value[place.end :]
    head, tail = (fold(side).lowered.strip(_AROUND) for side in around)
    if not head and (not tail or tail in _AGE):
        return whole[0]
    return whole[0] if whole[0].bound != "none" and _is_bound(head, tail) else None


def _is_bound(head: str, tail: str) -> bool:
    """Whether nothing but bounds are around a figure: "more than" 5, 5 "or more"."""
    leads = not head or bound_before(head + " ", len(head) + 1)[1] == 0
    return leads and (not tail or bound_after(tail, 0)[1] == len(tail) or tail in _AGE)


def _plain(number: float) -> Figure | None:
    """A JSON number: read as it is, in no language."""
    if isinstance(number, int) and abs(number) >= 10**MAX_DIGITS:
        return None  # Python itself refuses to write very long ones
    text = repr(number)
    try:
        amount = Fraction(text)
    except ValueError:  # NaN and the infinities
        return None
    place = Place(0, len(text))
    return Figure(place, place, "", (FigureReading(amount, _place_value(text)),))


def _place_value(text: str) -> Fraction:
    """Of the last digit that Python writes: 1/10 for 1.5, 10⁻⁶ for 1.5e-05; 1 for 5.0 and 1e+16,
    whose zeros and exponent are only Python's way to write a whole number."""
    digits, _, exponent = text.partition("e")
    _, _, decimals = digits.partition(".")
    places = len(decimals) if decimals.strip("0") else 0
    return Fraction(1, 10 ** max(0, places - int(exponent or 0)))
