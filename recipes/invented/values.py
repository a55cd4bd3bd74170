"""What is in a document and what an extractor makes of it."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from recipes.corruption.invented_values import (
    CATEGORIES,
    city_name,
    company_name,
    person_name,
    pick,
)
from research.known_documents import Kind

from . import dates


@dataclass(frozen=True, slots=True)
class Drawn:
    """``surface`` goes into the document, ``value`` is the right extraction of it."""

    surface: str
    value: JsonValue
    kind: Kind


Source = Callable[[random.Random], Drawn]


def draw(source: str, rng: random.Random) -> Drawn:
    """Draw from the named source. Raises KeyError for a name no template may use."""
    return SOURCES[source](rng)


def _date(precision: str) -> Source:
    def source(rng: random.Random) -> Drawn:
        date = dates.draw_date(rng, precision)
        return Drawn(dates.write_english(date, rng), dates.give_back(date, rng), "date")

    return source


def _french_date(rng: random.Random) -> Drawn:
    date = dates.draw_date(rng)
    return Drawn(dates.write_french(date, rng), dates.give_back(date, rng), "date")


def _header_date(rng: random.Random) -> Drawn:
    return _french_date(rng) if rng.random() < 0.05 else _date("day")(rng)


def _partial_date(rng: random.Random) -> Drawn:
    date = dates.draw_date(rng, rng.choice(("day", "month", "month", "year", "year")))
    return Drawn(dates.write_partial(date, rng), dates.give_back(date, rng), "date")


def _person(rng: random.Random) -> Drawn:
    name = person_name(rng)
    surface = rng.choice((name,) * 5 + (f"{pick('title', rng)} {name}", name.upper()))
    return Drawn(surface, surface if rng.random() < 0.15 else name, "person")


def _with_suffix(rng: random.Random) -> Drawn:
    drawn = _person(rng)
    if rng.random() < 0.5:
        return drawn
    separator = rng.choice((", ", " ", "\n"))
    return Drawn(drawn.surface + separator + pick("lawyer_suffix", rng), drawn.value, "person")


def _judge(rng: random.Random) -> Drawn:
    name = rng.choice((person_name(rng), pick("last", rng)))
    style = rng.choice((f"{pick('judge_title', rng)} {name}",) * 3 + (f"{name}, J.", f"{name} J"))
    return Drawn(style, name, "person")


def _doctor(rng: random.Random) -> Drawn:
    name = person_name(rng)
    return Drawn(rng.choice((f"Dr. {name}", f"{name}, MD", name)), name, "person")


def _city(rng: random.Random) -> Drawn:
    shown, value = city_name(rng)
    return Drawn(shown, value, "place")


def _org(rng: random.Random) -> Drawn:
    full = pick("org", rng)
    name, _, acronym = full.rstrip(")").partition(" (")
    if not acronym:
        return Drawn(name, name, "organisation")
    shown = rng.choice((full, name, name, acronym))
    return Drawn(shown, name if shown == full and rng.random() < 0.6 else shown, "organisation")


def _company(rng: random.Random) -> Drawn:
    name = company_name(rng)
    short = name.rsplit(" ", 1)[0]
    return Drawn(name, short if rng.random() < 0.2 else name, "organisation")


def _money(rng: random.Random) -> Drawn:
    amount = rng.choice(
        (rng.randint(50, 999), rng.randint(1, 99) * 100, rng.randint(1000, 999_999))
    )
    cents = rng.choice((0, 0, rng.randint(1, 99)))
    plain = f"{amount}.{cents:02}" if cents else str(amount)
    grouped = f"{amount:,}.{cents:02}" if cents or rng.random() < 0.5 else f"{amount:,}"
    symbol = rng.choice(("$", "$", "€", "£", "US$", "CAD $", "Rs. "))
    value: JsonValue = float(plain) if cents else amount
    if rng.random() < 0.6:
        value = rng.choice((f"{symbol}{grouped}", f"{symbol.strip()}{plain}"))
    return Drawn(f"{symbol}{grouped}", value, "money")


def _percent(rng: random.Random) -> Drawn:
    number = rng.choice((str(rng.randint(1, 60)), f"{rng.randint(0, 20)}.{rng.randint(1, 9)}"))
    return Drawn(rng.choice((f"{number}%", f"{number} per cent")), f"{number}%", "number")


def _number(rng: random.Random) -> Drawn:
    number = rng.choice((rng.randint(2, 99), rng.randint(100, 9_999)))
    return Drawn(
        rng.choice((str(number), f"{number:,}")), rng.choice((number, str(number))), "number"
    )


def _period(unit: str, numbers: tuple[int, ...]) -> Source:
    words = {1: "one", 2: "two", 3: "three", 5: "five", 7: "seven", 10: "ten", 12: "twelve"}
    words |= {14: "fourteen", 15: "fifteen", 20: "twenty", 30: "thirty", 60: "sixty", 90: "ninety"}

    def source(rng: random.Random) -> Drawn:
        number = rng.choice(numbers)
        in_words = words.get(number, str(number))
        shown = rng.choice((f"{number}", in_words, f"{in_words} ({number})"))
        return Drawn(f"{shown} {unit}", rng.choice((f"{number} {unit}", number)), "number")

    return source


def _file_number(rng: random.Random) -> Drawn:
    letters = "".join(rng.choices("ABCDEFGHKLMNPRTVW", k=2))
    number = rng.choice(
        (
            f"{letters}{rng.randint(0, 9)}-{rng.randint(0, 99_999):05}",
            f"{letters}-{rng.randint(1990, 2025)}-{rng.randint(1, 9999):04}",
            f"{rng.randint(10_000, 9_999_999)}",
            f"{rng.randint(1, 999)}/{rng.randint(1990, 2025)}",
        )
    )
    return Drawn(number, number, "text")


def _address(rng: random.Random) -> Drawn:
    city = pick("city", rng)
    line = f"{rng.randint(1, 999)} {pick('street', rng)}, {city}"
    return Drawn(line, rng.choice((line, line.rsplit(",", 1)[0])), "text")


def _dose(rng: random.Random) -> Drawn:
    dose = f"{rng.choice((5, 10, 20, 25, 50, 100, 250, 500))} mg"
    return Drawn(dose, dose, "number")


def _category(name: str) -> Source:
    def source(rng: random.Random) -> Drawn:
        value = rng.choice(tuple(CATEGORIES[name]))
        return Drawn(rng.choice(CATEGORIES[name][value]), value, "category")

    return source


def _listed(name: str, kind: Kind) -> Source:
    def source(rng: random.Random) -> Drawn:
        entry = pick(name, rng)
        return Drawn(entry, entry, kind)

    return source


SOURCES: dict[str, Source] = {
    "date": _header_date,
    "date_fr": _french_date,
    "partial": _partial_date,
    "year": _date("year"),
    "person": _person,
    "lawyer": _with_suffix,
    "judge": _judge,
    "doctor": _doctor,
    "city": _city,
    "region": _listed("region", "place"),
    "country": _listed("country", "place"),
    "court": _listed("court", "organisation"),
    "org": _org,
    "company": _company,
    "body": _listed("acronymless_body", "text"),
    "money": _money,
    "percent": _percent,
    "number": _number,
    "days": _period("days", (5, 7, 10, 14, 15, 20, 30, 60, 90)),
    "months": _period("months", (1, 2, 3, 7, 12, 20, 60)),
    "filenumber": _file_number,
    "address": _address,
    "dose": _dose,
    "privacy": _category("privacy"),
    "mode": _category("mode"),
    "occupation": _listed("occupation", "text"),
    "language": _listed("language", "text"),
    "condition": _listed("condition", "text"),
    "drug": _listed("drug", "text"),
    "product": _listed("product", "text"),
    "statute": _listed("statute", "text"),
    "family": _listed("family", "text"),
}
