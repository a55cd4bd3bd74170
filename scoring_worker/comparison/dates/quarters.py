"""Quarters of a year: Q3 2021, 3Q21, 3. Quartal 2021, T3 2021, the third quarter of 2021."""

from collections.abc import Iterator, Sequence

from .number_words import spelled_days
from .partial_date import PartialDate
from .tokens import Token, words_in
from .vague_words import Lexicon

_LETTERS = words_in("quarter_letters")
"""Quarter, trimestre, kwartał: a letter and a number written together, with a year."""
_BETWEEN = words_in("between_quarter_and_year")
_MOST_BETWEEN = 3


def quarters(found: Sequence[Token], words: Lexicon, language: str | None) -> Iterator[PartialDate]:
    """Every quarter. The letter T or K alone is one only beside a year."""
    for at, token in enumerate(found):
        if token.kind != "word":
            continue
        if token.text in _LETTERS:
            yield from _lettered(found, at)
        elif words.begins_at(found, at, "quarter") and len(token.text) > 1:
            yield from _named(found, at, language)


def _lettered(found: Sequence[Token], at: int) -> Iterator[PartialDate]:
    token = found[at]
    before = found[at - 1] if at else None
    after = found[at + 1] if at + 1 < len(found) else None
    if after is not None and after.start == token.end and _is_quarter(after):
        year, last = _year(found, at + 2)
        if year is not None or token.text == "q":
            yield _quarter(found, at, last if year is not None else at + 1, year, after.number)
    elif before is not None and before.end == token.start and _is_quarter(before):
        year, last = _year(found, at + 1)
        if year is not None:
            yield _quarter(found, at - 1, last, year, before.number)


def _named(found: Sequence[Token], at: int, language: str | None) -> Iterator[PartialDate]:
    year, last = _year(found, at + 1)
    last = at if year is None else last
    first = at - 1
    while first > max(-1, at - 4) and found[first].kind != "number":
        ordinal = spelled_days(language).get((found[first].text,))
        if ordinal is not None and ordinal <= 4:
            yield _quarter(found, first, last, year, ordinal)
            return
        if found[first].width > 4:
            return
        first -= 1
    if first >= 0 and _is_quarter(found[first]):
        yield _quarter(found, first, last, year, found[first].number)


def _quarter(
    found: Sequence[Token], first: int, last: int, year: int | None, quarter: int | None
) -> PartialDate:
    return PartialDate(year, None, None, found[first].start, found[last].end, quarter=quarter)


def _is_quarter(token: Token) -> bool:
    return token.width == 1 and token.number is not None and 1 <= token.number <= 4


def _year(found: Sequence[Token], at: int) -> tuple[int | None, int]:
    """The year at or behind token ``at``, over a few little words, and its token."""
    for index in range(at, min(len(found), at + _MOST_BETWEEN)):
        token = found[index]
        if token.number is not None:
            if token.width == 4 and 1000 <= token.number < 3000:
                return token.number, index
            near = index > 0 and found[index - 1].end == token.start
            return (token.number, index) if token.width == 2 and near else (None, at)
        if token.text not in _BETWEEN:
            break
    return None, at
