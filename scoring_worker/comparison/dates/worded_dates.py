"""Dates whose month is in words: 17 January 2012, Jan. 17th, 2012, 17 de enero de 2012,
2012. január 17., 17JAN2012, the 17th day of January two thousand and twelve, January 17-19, 2012.

From each month's name the parts are looked for on both sides, over a few signs and the little
words that CLDR's own patterns put there. What is between is bounded, so the time is linear.
"""

from collections.abc import Iterator, Sequence

from .digits_beside_months import look_left, look_right, take_year, year_before_day
from .month_names import month_at, names
from .month_neighbours import MOST_SKIPPED, Around, Neighbours
from .number_words import LONGEST, first_words, spelled_days, spelled_years, without_fillers
from .partial_date import Certainty, PartialDate, Parts, doubted, of_readings
from .tokens import Token


def spelled_left(date: Around, near: Neighbours) -> None:
    """ "the fifteenth day of April"."""
    table = spelled_days(near.language)
    end = date.first
    while end > near.done and date.first - end < MOST_SKIPPED and near.passes(near.found[end - 1]):
        end -= 1
    for start in range(max(near.done, end - 4), end):
        words = _words(near.found, start, end)
        if words in table and near.found[start].kind == "word":
            date.days, date.first = [(table[words], start)], start
            return


def spelled_right(date: Around, near: Neighbours) -> None:
    """ "April fifteenth", and the year in words behind either."""
    if not date.days:
        _spelled(date, near, spelled_days(near.language), 4, is_day=True)
    if date.year is None:
        _spelled(date, near, spelled_years(near.language), LONGEST, is_day=False)
        at = near.on(date.last) if date.days else None
        if date.year is None and at is not None and near.found[at].width == 4:
            take_year(date, near, at)


def _spelled(
    date: Around, near: Neighbours, table: dict[tuple[str, ...], int], most: int, is_day: bool
) -> None:
    found, start = near.found, date.last
    while start < len(found) and start - date.last < MOST_SKIPPED and near.passes(found[start]):
        start += 1
    firsts = first_words(near.language)
    for begin in dict.fromkeys((date.last, start)):
        if begin >= len(found) or found[begin].text not in firsts:
            continue
        for end in range(min(len(found), begin + most + 4), begin, -1):
            words = _words(found, begin, end)
            if words in table and found[end - 1].kind == "word":
                if is_day:
                    date.days = [(table[words], begin)]
                else:
                    date.year = table[words]
                date.last = end
                return


def _words(found: Sequence[Token], start: int, end: int) -> tuple[str, ...]:
    """The words of the tokens, hyphens left out; empty where anything else is there."""
    taken = found[start:end]
    if any(
        token.kind == "number" or (token.kind == "sign" and token.text not in "-‐‑")
        for token in taken
    ):
        return ()
    return without_fillers(token.text for token in taken if token.kind == "word")


def worded_dates(found: Sequence[Token], language: str | None) -> Iterator[PartialDate]:
    """Every date with a month in words, the days of lists and ranges each where it is."""
    near = Neighbours(found, names(language), language)
    index = 0
    by_word, stems = near.read.by_word, near.read.stems
    while index < len(found):
        token = found[index]
        may_be = token.text in by_word or (
            token.kind == "word" and (stems or not token.text.isascii())
        )
        at = month_at(found, index, near.read) if may_be else None
        if at is None:
            index += 1
            continue
        name, end = at
        date = _around(Around(index, end, name), near)
        if not _foreign(date, language):
            yield from _written(found, date)
            near.done = date.last
        index = max(end, date.last)


def _foreign(date: Around, language: str | None) -> bool:
    """A short name of another language is a month only in a full date: "out", "set", "sun"."""
    known = date.name.own if language else date.name.english
    full = date.year is not None and bool(date.days)
    return not known and not full and sum(map(len, date.name.words)) <= 3


def _around(date: Around, near: Neighbours) -> Around:
    end = date.last
    look_left(date, near)
    look_right(date, near)
    if not date.days:
        spelled_left(date, near)
    spelled_right(date, near)
    if date.year is None and date.days and date.last == end:
        year_before_day(date, near)
    return date


def _written(found: Sequence[Token], date: Around) -> Iterator[PartialDate]:
    start, end = found[date.first].start, found[date.last - 1].end
    certainty: Certainty = "unread" if date.misread else "stated"
    if not date.days or date.misread:
        yield _one(date, None, start, end, certainty)
        return
    for index, (day, at) in enumerate(date.days):
        first = start if index == 0 else found[at].start
        last = end if index == len(date.days) - 1 else found[at].end
        yield _one(date, day, first, last, certainty)


def _one(date: Around, day: int | None, start: int, end: int, certainty: Certainty) -> PartialDate:
    readings = [Parts(date.year, month, day) for month in date.name.months]
    if date.maybe_year and day is not None:
        readings += [Parts(day, month, None) for month in date.name.months]
    return doubted(of_readings(readings, start, end), certainty)
