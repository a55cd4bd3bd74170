"""Numbers in digits: which of their signs group, which one is the decimal sign; and `Core`."""

import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ..locales import locale_of, number_symbol
from .plain_text import NO_BREAK

DIGITS = re.compile(
    r"(?<![\w.,])[.,][0-9]+(?![.,]?[0-9])"
    rf"|[0-9]+(?:[.,'٫٬_][0-9]+|·(?!10(?![0-9.,]))[0-9]+|[ {NO_BREAK}][0-9]{{3}}(?![0-9]))*"
)
"""Digits with the signs that may be between those of one number. Every step takes a character
that no other step could take, so every text is read once."""
MAX_DIGITS = 64
"""Nobody extracts a number with more, and arithmetic on a million digits takes minutes."""
_SIGN = re.compile(rf"[.,'٫٬·_ {NO_BREAK}]")
_GROUPING_ONLY = frozenset(f"'٬_ {NO_BREAK}")
_SPLIT_LANGUAGES = frozenset({"de", "es"})
"""Written with a decimal comma in Spain, Argentina and Germany, with a decimal point in Mexico,
Central America and Switzerland: the language alone does not decide what 1.234 is, and both are
readings of it unless another number beside it decides."""


_ONE = Fraction(1)


class Style(NamedTuple):
    """How a text writes numbers. ``decimal`` is "." or "," or None where nothing tells;
    ``sure``, whether the other reading is excluded, or in use as well."""

    decimal: str | None = None
    sure: bool = True


class Amount(NamedTuple):
    """A number that digits may represent, and the place value of its last digit. ``elsewhere``:
    as the language is written in some of its countries and not in most."""

    value: Fraction
    step: Fraction
    sure: bool
    elsewhere: bool = False


@lru_cache(maxsize=512)
def style_of(language: str | None) -> Style:
    """How numbers are written in ``language`` (ISO 639-1, a territory may follow), by CLDR."""
    locale, decimal = locale_of(language), number_symbol(language, "decimal")
    if locale is None or decimal not in {".", ","}:
        return Style()
    return Style(decimal, sure=locale.territory is not None or language not in _SPLIT_LANGUAGES)


def style_in(written: Iterable[str], fallback: Style) -> Style:
    """How a text writes numbers, by those of them that can be read in one way only.

    A number with two kinds of sign or with two groups decides against the language; "12.5" only
    where the language is unknown, since a date or a time of day looks the same.
    """
    strong: Counter[str] = Counter()
    weak: Counter[str] = Counter()
    for number in written:
        if number.isdigit():
            continue
        signs = _SIGN.findall(number) if len(number) <= MAX_DIGITS else ()
        if not signs or not all(sign in ".," or sign in _GROUPING_ONLY for sign in signs):
            continue
        if len(signs) == 1 and signs[0] != "'":
            if signs[0] in ".," and not _could_group(number, signs[0]):
                weak[signs[0]] += 1
        elif amounts(number, Style()) or "'" in signs:
            last = signs[-1]
            if "'" in signs:
                strong["."] += 1  # grouped as in Switzerland
            elif signs.count(last) == 1 and last in ".,":
                strong[last] += 1
            elif last in ".,":
                strong["," if last == "." else "."] += 1
    votes = strong or ({} if fallback.decimal else weak)
    return Style(next(iter(votes))) if len(votes) == 1 else fallback


@lru_cache(maxsize=4096)
def amounts(written: str, style: Style) -> tuple[Amount, ...]:
    """The numbers that ``written`` may be; none where it is no number but, say, a date."""
    if written.isdigit():
        return (Amount(Fraction(int(written)), _ONE, sure=True),)
    signs = _SIGN.findall(written)
    if len(signs) == 1:
        return _with_one_sign(written, signs[0], style)
    last, before = signs[-1], set(signs[:-1])
    if len(before) > 1:
        return ()
    if {last} == before:
        groups = written.split(last)
        return (_amount("".join(groups), ""),) if _are_groups(groups, last) else ()
    whole, _, fraction = written.rpartition(last)
    groups = whole.split(before.pop())
    if last in _GROUPING_ONLY or not _are_groups(groups, last):
        return ()
    return (_amount("".join(groups), fraction),)


def _with_one_sign(written: str, sign: str, style: Style) -> tuple[Amount, ...]:
    left, _, right = written.partition(sign)
    if sign in _GROUPING_ONLY:
        return (_amount(left + right, ""),) if _are_groups([left, right], "") else ()
    as_decimal = _amount(left, right)
    if sign not in ".," or not _could_group(written, sign):
        return (as_decimal,)
    grouped = _amount(left + right, "")
    if style.decimal is None:
        return (grouped._replace(sure=False), as_decimal._replace(sure=False))
    chosen, other = (as_decimal, grouped) if sign == style.decimal else (grouped, as_decimal)
    return (chosen,) if style.sure else (chosen, other._replace(elsewhere=True))


def _could_group(written: str, sign: str) -> bool:
    left, _, right = written.partition(sign)
    return len(right) == 3 and 1 <= len(left) <= 3 and not left.startswith("0")


def _are_groups(groups: list[str], sign: str) -> bool:
    """Groups of three; in India all but the last may have two, in East Asia all may have four."""
    first, *rest = groups
    if not rest:
        return True
    if first.startswith("0") or not first or len(first) > 4 or sign == "·":
        return False
    sizes = {len(group) for group in rest[:-1]}
    if len(rest[-1]) == 4:
        return len(rest) > 1 and sizes == {4}
    if len(rest[-1]) != 3:
        return False
    return (sizes <= {3} and len(first) <= 3) or (sizes == {2} and len(first) <= 2)


def _amount(whole: str, fraction: str) -> Amount:
    step = Fraction(1, 10 ** len(fraction))
    return Amount(int(whole + fraction or "0") * step, step, sure=True)


class Core(NamedTuple):
    """Digits or words at ``start`` to ``end`` of the folded text and the numbers they may be."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    in_words: bool = False
    ordinal: bool = False
    almost: bool = False  # a word that may say a number
    second: Fraction | None = None  # of a pair such as 120/80
