"""Dates as documents write them, and as extractors give them back."""

import calendar
import random

from babel.dates import get_month_names
from pydantic import JsonValue

from recipes.corruption.invented_values import PlainDate

MONTHS_FR = get_month_names("wide", locale="fr")
REDACTIONS = ("XXXX", "[XXX]", "XXXXX", "[redacted]", "XXXX XXXX")


def draw_date(rng: random.Random, precision: str = "day") -> PlainDate:
    """A date between 1960 and 2025 known to the "day", the "month" or the "year"."""
    year = rng.choice((rng.randint(1995, 2025), rng.randint(1995, 2025), rng.randint(1960, 2025)))
    if precision == "year":
        return PlainDate(year)
    month = rng.randint(1, 12)
    if precision == "month":
        return PlainDate(year, month)
    return PlainDate(year, month, rng.randint(1, calendar.monthrange(year, month)[1]))


def write_english(date: PlainDate, rng: random.Random) -> str:
    """One of the ways an English document writes ``date``."""
    if date.month is None:
        return str(date.year)
    name = calendar.month_name[date.month]
    short = rng.choice((calendar.month_abbr[date.month], calendar.month_abbr[date.month] + "."))
    if date.day is None:
        return rng.choice((f"{name} {date.year}", f"{name}, {date.year}", f"{short} {date.year}"))
    return rng.choice(
        (f"{name} {date.day}, {date.year}",) * 6
        + (
            f"{name} {_ordinal(date.day)}, {date.year}",
            f"{date.day} {name} {date.year}",
            f"{_ordinal(date.day)} {name} {date.year}",
            f"the {_ordinal(date.day)} day of {name}, {date.year}",
            f"{short} {date.day}, {date.year}",
            f"{date.day}-{calendar.month_abbr[date.month]}-{date.year}",
            f"{date.year}-{date.month:02}-{date.day:02}",
            f"{date.day:02}/{date.month:02}/{date.year}",
            f"{date.day:02}.{date.month:02}.{date.year}",
            f"{name.upper()} {date.day}, {date.year}",
        )
    )


def write_french(date: PlainDate, rng: random.Random) -> str:
    """One of the ways a French document writes ``date``."""
    if date.month is None:
        return str(date.year)
    name = MONTHS_FR[date.month]
    if date.day is None:
        return f"{name} {date.year}"
    day = "1er" if date.day == 1 else str(date.day)
    return rng.choice((f"{day} {name} {date.year}", f"{day} {name.capitalize()} {date.year}"))


def write_partial(date: PlainDate, rng: random.Random) -> str:
    """A date of which a court hid what is unknown, or that is simply coarse."""
    if date.month is None and rng.random() < 0.5:
        hidden = rng.choice(REDACTIONS)
        return rng.choice((f"{hidden} {date.year}", f"{hidden}, {date.year}"))
    if date.month is None:
        return rng.choice(
            (str(date.year), str(date.year), f"early {date.year}", f"late {date.year}")
        )
    return write_english(date, rng)


def give_back(date: PlainDate, rng: random.Random) -> JsonValue:
    """The value an extractor returns for ``date``: mostly structured, at times text."""
    if rng.random() < 0.75:
        return date.parts
    if date.month is None:
        return str(date.year)
    if date.day is None:
        return f"{calendar.month_name[date.month]} {date.year}"
    iso = f"{date.year}-{date.month:02}-{date.day:02}"
    return rng.choice((iso, f"{calendar.month_name[date.month]} {date.day}, {date.year}"))


def _ordinal(day: int) -> str:
    if 10 <= day % 100 <= 20:
        return f"{day}th"
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') }"
