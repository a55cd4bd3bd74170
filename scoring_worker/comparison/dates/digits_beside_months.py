"""Day and year on the two sides of a month's name, in digits."""

from collections.abc import Sequence
from typing import TypeGuard

from .month_names import month_at
from .month_neighbours import (
    LISTING,
    Around,
    Neighbours,
    is_decimal,
    is_decimal_after,
    is_glued,
    is_time,
    is_year,
    touch,
)
from .tokens import Token

_MOST_DAYS = 12


def look_left(date: Around, near: Neighbours) -> None:
    """The day, the days or the year before the month."""
    at = near.back(date.first)
    if at is None:
        return
    token = near.found[at]
    if token.width == 4 and is_year(token.number):
        date.year, date.first = token.number, at
    elif token.width <= 2 and token.number is not None and 1 <= token.number <= 31:
        if is_decimal(near.found, at):
            return
        date.days, date.first = [(token.number, at)], at
        date.misread = is_glued(near.found, at)
        _more_days_left(date, near)


def _more_days_left(date: Around, near: Neighbours) -> None:
    """The other days of "17, 18 and 19 January"."""
    found = near.found
    while len(date.days) < _MOST_DAYS:
        at, listed = date.first - 1, False
        while at >= near.done and date.first - at <= 4 and found[at].kind != "number":
            token = found[at]
            listed = listed or token.text in LISTING
            if token.text not in LISTING and not near.passes(token) and not near.is_ending(at):
                return
            at -= 1
        if at < near.done or not listed or found[at].kind != "number" or found[at].width > 2:
            return
        number = found[at].number or 0
        if _is_in_digits(found, at):
            return
        only_dot = date.first - at == 2 and found[at + 1].text == "."
        if not 1 <= number <= 31 or only_dot or is_decimal(found, at) or is_glued(found, at):
            return
        date.days.insert(0, (number, at))
        date.first = at


def _is_in_digits(found: Sequence[Token], at: int) -> bool:
    """Whether the number is the end of a date in digits: 2009-03-26 to 17 August 2023."""
    signed = at > 1 and found[at - 1].text in "-/." and found[at - 2].kind == "number"
    return signed and touch(found, at - 2, at)


def look_right(date: Around, near: Neighbours) -> None:
    """The year behind the month, or its days and then the year."""
    at = near.on(date.last)
    if at is None:
        return
    token = near.found[at]
    number = token.number if token.number is not None else -1
    if token.width == 4 and is_year(number):
        if date.year is None:
            take_year(date, near, at)
    elif token.width <= 2 and not is_time(near.found, at):
        if date.days and _is_month_first(near, at):
            date.days, date.first = [], date.last - len(date.name.words)
        if date.days:
            _short_year(date, near, at)
        elif 1 <= number <= 31:
            _days_right(date, near, at)
        elif token.width == 2:
            _short_year(date, near, at)


def _is_month_first(near: Neighbours, at: int) -> bool:
    """ "No. 5 January 17, 2012": a day behind the month that a full year follows."""
    after = near.on(at + 1)
    return _is_full_year(after, near) and 1 <= (near.found[at].number or 0) <= 31


def _is_full_year(at: int | None, near: Neighbours) -> TypeGuard[int]:
    return at is not None and near.found[at].width == 4 and is_year(near.found[at].number)


def _days_right(date: Around, near: Neighbours, at: int) -> None:
    found = near.found
    joined = at > date.last and found[at - 1].text in ("'", "’")
    if joined and date.year is None:
        _short_year(date, near, at)
        return
    date.misread = is_glued(found, at, after=True)
    date.days, date.last = [(found[at].number or 0, at)], at + 1
    while date.last < len(found) and near.is_ending(date.last):
        date.last += 1
    _more_days_right(date, near)
    year = near.on(date.last)
    if year is not None and date.year is None:
        token = found[year]
        if token.width == 4 and is_year(token.number):
            take_year(date, near, year)
        elif token.width == 2 and found[year - 1].text in ("'", "’", "-", "/"):
            _short_year(date, near, year)
    hyphened = at > 0 and found[at - 1].text in "-/" and found[at].width == 2
    date.maybe_year = date.year is None and len(date.days) == 1 and hyphened


def _more_days_right(date: Around, near: Neighbours) -> None:
    """The other days of "January 17, 18 and 19, 2012"."""
    found = near.found
    while len(date.days) < _MOST_DAYS:
        at = date.last
        while at < len(found) and at - date.last < 3 and found[at].kind != "number":
            if found[at].text not in LISTING or found[at].text == ".":
                return
            at += 1
        if at >= len(found) or at == date.last or found[at].kind != "number":
            return
        number = found[at].number or 0
        if found[at].width > 2 or not 1 <= number <= 31 or is_time(found, at):
            return
        if _starts_a_date(found, at, near):
            return
        date.days.append((number, at))
        date.last = at + 1
        while date.last < len(found) and near.is_ending(date.last):
            date.last += 1


def _starts_a_date(found: Sequence[Token], at: int, near: Neighbours) -> bool:
    """Whether the number belongs to a date of its own: "January 17 - 3 February"."""
    for index in range(at + 1, min(len(found), at + 4)):
        if found[index].kind == "word" and not near.is_ending(index):
            return month_at(found, index, near.read) is not None
    return False


def take_year(date: Around, near: Neighbours, at: int) -> None:
    """The year at token ``at``, unless a scanner's letters are in it."""
    date.year, date.last = near.found[at].number, at + 1
    if is_glued(near.found, at, after=True):
        date.misread, date.year = True, None


def _short_year(date: Around, near: Neighbours, at: int) -> None:
    """A year of two digits: written onto the month, or at the end of what is there."""
    found, token = near.found, near.found[at]
    if token.width != 2 or date.year is not None or token.number is None:
        if token.width == 1 and at + 1 < len(found) and found[at + 1].start == token.end:
            date.misread = found[at + 1].kind == "word" and date.name.own  # "2O12"
        return
    if is_glued(found, at, after=True):
        date.misread = True
        return
    marked = found[at - 1].kind == "sign" and found[at - 1].text in "-'’/."
    following = found[at + 1] if at + 1 < len(found) else None
    ends = following is None or following.kind != "word" or following.text in near.read.connectors
    if (marked or touch(found, at - 1, at) or ends) and not is_decimal_after(found, at):
        date.year, date.last = token.number, at + 1


def year_before_day(date: Around, near: Neighbours) -> None:
    """Latvian and Kazakh: 2012. gada 17. janvāris."""
    at = near.back(date.first)
    if _is_full_year(at, near):
        date.year, date.first = near.found[at].number, at
