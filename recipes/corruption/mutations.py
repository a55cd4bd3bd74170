"""Wrong values that look right: one digit, one month, one letter, more than was said."""

import calendar
import random
import re
from collections.abc import Callable

from pydantic import JsonValue

from research.known_documents import Kind

from .invented_values import (
    CATEGORIES,
    LEXICON,
    PlainDate,
    city_name,
    company_name,
    person_name,
    pick,
)

_DIGIT = re.compile(r"\d")
_INITIAL = re.compile(r"\b([A-Z])\.\s?")


def alter(value: JsonValue, kind: Kind, rng: random.Random) -> JsonValue:
    """A value of the same form that differs from ``value``; None where none can be made."""
    if isinstance(value, dict):
        return _alter_date(value, rng)
    text = str(value)
    if kind == "clause":
        return "No"
    if kind == "category":
        return _other_option(text, rng)
    if _DIGIT.search(text):
        return _alter_digit(value, rng)
    named = _ALTERATIONS.get(kind)
    return named(text, rng) if named else _other_entry(text, rng)


def sharpen(value: JsonValue, surface: str, kind: Kind, rng: random.Random) -> JsonValue:
    """``value`` with more precision than ``surface`` shows; None where none can be added."""
    if isinstance(value, dict):
        return _sharpen_date(value, rng)
    text = str(value)
    if kind == "person":
        return _expand_name(text, surface, rng)
    if kind == "place":
        return _sharpen_place(text, rng)
    if kind == "organisation":
        return _sharpen_organisation(text, rng)
    return None


def _alter_date(value: dict[str, JsonValue], rng: random.Random) -> JsonValue:
    date = _plain(value)
    choices = [PlainDate(date.year + rng.choice((-2, -1, 1, 1, 10, -10)), date.month, date.day)]
    if date.month is not None:
        choices.append(_with_month(date, rng.choice([m for m in range(1, 13) if m != date.month])))
    if date.month is not None and date.day is not None:
        days = calendar.monthrange(date.year, date.month)[1]
        other = [day for day in range(1, days + 1) if day != date.day]
        choices.append(PlainDate(date.year, date.month, rng.choice(other)))
        near = [d for d in (date.day + 10, date.day - 10, date.day + 1, date.day - 1) if d in other]
        choices.append(PlainDate(date.year, date.month, rng.choice(near or other)))
        if date.day <= 12 and date.day != date.month:
            choices.append(PlainDate(date.year, date.day, date.month))
    return rng.choice(choices).parts


def _with_month(date: PlainDate, month: int) -> PlainDate:
    if date.day is None:
        return PlainDate(date.year, month)
    return PlainDate(date.year, month, min(date.day, calendar.monthrange(date.year, month)[1]))


def _sharpen_date(value: dict[str, JsonValue], rng: random.Random) -> JsonValue:
    date = _plain(value)
    if date.month is None:
        month = rng.choice((1, 6, 12, rng.randint(1, 12)))
        whole = PlainDate(
            date.year, month, rng.choice((1, calendar.monthrange(date.year, month)[1]))
        )
        return rng.choice((PlainDate(date.year, month), whole)).parts
    if date.day is None:
        last = calendar.monthrange(date.year, date.month)[1]
        return PlainDate(
            date.year, date.month, rng.choice((1, 15, last, rng.randint(1, last)))
        ).parts
    return None


def _plain(value: dict[str, JsonValue]) -> PlainDate:
    year, month, day = (value.get(key) for key in ("yyyy", "mm", "dd"))
    return PlainDate(
        int(str(year)), int(str(month)) if month else None, int(str(day)) if day else None
    )


def _alter_digit(value: JsonValue, rng: random.Random) -> JsonValue:
    text = str(value)
    where = rng.choice([match.start() for match in _DIGIT.finditer(text)])
    digit = rng.choice([d for d in "123456789" if d != text[where]])
    altered = text[:where] + digit + text[where + 1 :]
    if isinstance(value, int):
        return int(altered)
    return float(altered) if isinstance(value, float) else altered


def _alter_person(name: str, rng: random.Random) -> str:
    first, _, last = name.rpartition(" ")
    options = [person_name(rng), f"{first} {rng.choice(LEXICON['last'])}".strip()]
    if len(first) > 2:
        options.append(f"{rng.choice(LEXICON['first'])} {last}")
    if len(last) > 4:
        where = rng.randrange(1, len(last) - 2)
        options.append(
            f"{first} {last[:where]}{rng.choice('aeiourlm')}{rng.choice('nstk')}{last[where + 2 :]}"
        )
    return rng.choice([option.strip() for option in options if option.strip() != name])


def _expand_name(name: str, surface: str, rng: random.Random) -> JsonValue:
    initial = _INITIAL.search(name)
    if initial:
        names = [n for n in LEXICON["first"] if n.startswith(initial[1])]
        return _INITIAL.sub(f"{rng.choice(names)} ", name, count=1) if names else None
    if " " not in name:
        return f"{rng.choice(LEXICON['first'])} {name}"
    if len(name.split()) == 2:
        first, last = name.split()
        return f"{first} {rng.choice(LEXICON['first'])} {last}"
    return None


def _sharpen_place(place: str, rng: random.Random) -> JsonValue:
    cities = [city for city in LEXICON["city"] if place in city.split(", ")]
    if "," in place or not cities:
        return f"{rng.choice(LEXICON['street'])}, {place}"
    return rng.choice(cities)


def _sharpen_organisation(name: str, rng: random.Random) -> JsonValue:
    return rng.choice(
        (
            f"{name} of {pick('region', rng)}",
            f"{pick('region', rng)} {name}",
            f"{name} {rng.choice(('International', 'Professional Corporation', 'Central Office'))}",
            f"{city_name(rng)[1]} {name}".replace(", ", " "),
        )
    )


def _other_entry(text: str, rng: random.Random) -> JsonValue:
    for entries in LEXICON.values():
        if text in entries:
            return rng.choice([entry for entry in entries if entry != text])
    return None


def _other_option(text: str, rng: random.Random) -> JsonValue:
    for options in CATEGORIES.values():
        if text in options:
            return rng.choice([other for other in options if other != text])
    return None


def _alter_organisation(_name: str, rng: random.Random) -> str:
    return rng.choice((company_name(rng), rng.choice(LEXICON["org"]).split(" (")[0]))


def _alter_place(_name: str, rng: random.Random) -> str:
    return city_name(rng)[1]


_ALTERATIONS: dict[Kind, Callable[[str, random.Random], JsonValue]] = {
    "person": _alter_person,
    "organisation": _alter_organisation,
    "place": _alter_place,
}
