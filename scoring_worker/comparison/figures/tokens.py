"""Digits of a text cut into numbers, pairs and pieces of other tokens."""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from ..contract import Place
from ..locales import number_symbol
from .affixes import EXPONENT
from .digits import DIGITS, MAX_DIGITS, Amount, Core, Style, amounts
from .number_words import Words
from .plain_text import NO_BREAK, Folded

_TIGHT = frozenset("-–/:.\\")
_RUN = re.compile(r"[0-9]+")
_MAX_PIECES = 8
_VULGAR = re.compile("[¼-¾⅓-⅞]")
_COMMON_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100})


class Piece(NamedTuple):
    """Digits that are no number of their own; no amount where there are too many to be read."""

    start: int
    end: int
    amount: Amount | None


def tokens(folded: Folded) -> list[Place]:
    """Digits with the signs between them, which may be numbers, from left to right. Blanks that
    cannot group digits part them."""
    found: list[Place] = []
    for match in DIGITS.finditer(folded.text):
        written = match[0]
        if not (" " in written or NO_BREAK in written) or (
            len(written) <= MAX_DIGITS and amounts(written, Style())
        ):
            found.append(Place(match.start(), match.end()))
            continue
        at = match.start()
        for part in written.replace(NO_BREAK, " ").split(" "):
            found.append(Place(at, at + len(part)))
            at += len(part) + 1
    return found


def cores(
    folded: Folded, found: list[Place], style: Style, language: str | None
) -> Iterator[Core | Piece]:
    """The numbers, and after each that may be several what its pieces would be."""
    at = 0
    while at < len(found):
        run = _run(folded.text, found, at)
        at += len(run)
        if len(run) == 1:
            yield from _one(folded, run[0], style, language)
        elif len(run) == 2:
            yield from _two(folded, run, style, language)
        else:
            yield from _pieces(folded, run)


def in_words(words: Words) -> Core:
    """A number in words."""
    value = Fraction(words.value, words.denominator)
    amount = Amount(value, Fraction(1), sure=not words.almost)
    return Core(
        words.start, words.end, (amount,), in_words=True, ordinal=words.ordinal, almost=words.almost
    )


def fractions(folded: Folded) -> Iterator[Core]:
    """Characters such as ½, with the whole number that is before them."""
    for match in _VULGAR.finditer(folded.text) if not folded.text.isascii() else ():
        value = Fraction(unicodedata.numeric(match[0])).limit_denominator(8)
        yield Core(match.start(), match.end(), (Amount(value, value, sure=True),))


def _run(text: str, found: list[Place], at: int) -> list[Place]:
    """Tokens with nothing but a hyphen, slash or colon between them."""
    run = [found[at]]
    while at + 1 < len(found) and text[found[at].end : found[at + 1].start] in _TIGHT:
        at += 1
        run.append(found[at])
    return run


def _one(
    folded: Folded, token: Place, style: Style, language: str | None
) -> Iterator[Core | Piece]:
    read = _amounts(folded, token, style)
    if not read:
        yield from _pieces(folded, [token])
        return
    written = folded.text[token.start : token.end]
    if " " in written or NO_BREAK in written:
        sure = NO_BREAK in written or number_symbol(language, "group").isspace() or "," in written
        yield Core(token.start, token.end, tuple(one._replace(sure=sure) for one in read))
        if " " in written:  # the row of a table, perhaps
            yield from _pieces(folded, [token])
        return
    yield Core(token.start, token.end, read)


def _two(
    folded: Folded, run: list[Place], style: Style, language: str | None
) -> Iterator[Core | Piece]:
    first, second = (_amounts(folded, token, style) for token in run)
    sign = folded.text[run[0].end]
    whole = len(first) == len(second) == 1 and first[0].sure and second[0].sure
    if sign == "/" and whole:
        yield _pair(folded, run, first[0], second[0])
        yield from _pieces(folded, run)
    elif sign in "-–" and whole and _is_range(folded.text, run, first[0], second[0]):
        for token in run:
            yield from _one(folded, token, style, language)
    else:
        yield from _pieces(folded, run)


def _pair(folded: Folded, run: list[Place], first: Amount, second: Amount) -> Core:
    """A fraction such as 1/2, or two numbers such as 120/80."""
    start, end = run[0].start, run[1].end
    top, bottom = first.value, second.value
    if top < bottom and bottom in _COMMON_DENOMINATORS and top.denominator == 1:
        return Core(start, end, (Amount(top / bottom, Fraction(1), sure=True),))
    return Core(start, end, (first,), second=second.value)


def _is_range(text: str, run: list[Place], first: Amount, second: Amount) -> bool:
    """10-15 is a range; 2021-001 is a number of a file, since no number starts with a zero."""
    starts_with_zero = text[run[1].start] == "0" and second.value >= 1
    return first.value < second.value and not starts_with_zero


def _pieces(folded: Folded, run: list[Place]) -> Iterator[Piece]:
    left = _MAX_PIECES
    for token in run:
        if token.end - token.start > MAX_DIGITS or left <= 0:
            yield Piece(token.start, token.end, None)
            return
        for match in _RUN.finditer(folded.text, token.start, token.end):
            left -= 1
            whole = Amount(Fraction(int(match[0])), Fraction(1), sure=False)
            yield Piece(match.start(), match.end(), whole)


def _amounts(folded: Folded, token: Place, style: Style) -> tuple[Amount, ...]:
    if token.end - token.start > MAX_DIGITS:
        return ()
    written = folded.text[token.start : token.end]
    if not written.isdigit() and EXPONENT.match(folded.text, token.end):
        style = Style("." if "." in written else ",")  # no thousands in 1.234E5
    return amounts(written, style)
