"""How well values are recognised that a locale library has formatted, and how fast.

    python benchmarks/comparison.py [--each 200] [--seed 1] [--kinds numbers ...] [--misses]

A section a kind. Each formats random values in every locale with a library of others and asks the
comparator twice: for the value that was formatted (*same* is right) and for one with a digit, a
unit or a currency changed (*different* is right). *Open* counts the answers "not comparable". The
comparator is told the language (ISO 639-1) and never the territory.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import comparison_dates
from babel import Locale
from babel.numbers import format_currency, format_decimal, format_percent, format_scientific
from babel.units import format_unit
from pydantic import JsonValue

from safepassage.scoring_worker.comparison.contract import Answer, Passage, Question
from safepassage.scoring_worker.comparison.values import compare_value

LOCALES = (
    "en_US", "en_IN", "de_DE", "de_CH", "fr_FR", "fr_CH", "es_ES", "es_MX", "pt_BR", "pt_PT",
    "it_IT", "nl_NL", "sv_SE", "nb_NO", "da_DK", "fi_FI", "pl_PL", "cs_CZ", "hu_HU", "ro_RO",
    "el_GR", "tr_TR", "ru_RU", "uk_UA", "bg_BG", "he_IL", "ar_EG", "fa_IR", "hi_IN", "bn_BD",
    "ja_JP", "ko_KR", "zh_CN", "zh_TW", "vi_VN", "id_ID", "th_TH", "sw_TZ",
)  # fmt: skip
CURRENCIES = ("USD", "EUR", "GBP", "JPY", "CHF", "INR", "BRL", "PLN", "SEK", "TRY")
"""No two share a sign."""
UNITS = {
    "mass-kilogram": ("kg", "g"), "mass-milligram": ("mg", "mL"), "length-meter": ("m", "cm"),
    "length-kilometer": ("km", "mi"), "volume-liter": ("L", "mL"), "volume-milliliter":
    ("mL", "mg"), "duration-hour": ("h", "min"), "duration-minute": ("min", "s"), "duration-day":
    ("days", "weeks"), "duration-year": ("years", "months"), "temperature-celsius": ("°C", "°F"),
    "speed-kilometer-per-hour": ("km/h", "mph"), "area-square-meter": ("m²", "m³"),
    "power-kilowatt": ("kW", "MW"), "digital-megabyte": ("MB", "GB"),
}  # fmt: skip


@dataclass(slots=True)
class Row:
    """Answers in one locale, by whether the value was the one formatted."""

    locale: str
    right: list[Answer] = field(default_factory=list)
    altered: list[Answer] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def ask(self, text: str, value: JsonValue, other: JsonValue) -> None:
        """Compare both values with ``text`` and keep what was answered."""
        passage = Passage(text, language=Locale.parse(self.locale).language)
        for asked, answers, wanted in (
            (value, self.right, "same"),
            (other, self.altered, "different"),
        ):
            answer = compare_value(Question("", asked, passage)).answer
            answers.append(answer)
            if answer != wanted:
                self.misses.append(f"{answer:15}{asked!r:28}{text!r}")


def numbers(each: int, rng: random.Random) -> Iterator[Row]:
    """Numbers: whole and with one to three decimals, negative ones, in the locale's own digits."""
    for locale in LOCALES:
        row = Row(locale)
        for _ in range(each):
            number = _number(rng)
            system = rng.choice(("latn", "default"))
            text = format_decimal(
                number, locale=locale, decimal_quantization=False, numbering_system=system
            )
            row.ask(text, float(number), float(_changed(number, rng)))
        yield row


def percents(each: int, rng: random.Random) -> Iterator[Row]:
    """Percentages with up to two decimals."""
    for locale in LOCALES:
        row = Row(locale)
        for at in range(each):
            number = abs(_number(rng)).quantize(Decimal("0.01")) % 1000
            text = format_percent(number / 100, locale=locale, decimal_quantization=False)
            other = f"{_changed(number, rng)}%" if at % 2 else f"{number}‰"
            row.ask(text, f"{number}%", other if number else "7%")
        yield row


def scientific(each: int, rng: random.Random) -> Iterator[Row]:
    """Numbers with an exponent, as 1.234E5."""
    for locale in LOCALES:
        row = Row(locale)
        for _ in range(each):
            number = abs(_number(rng)) or Decimal(5)
            text = format_scientific(number, locale=locale, decimal_quantization=False)
            row.ask(text, float(number), float(_changed(number, rng)))
        yield row


def money(each: int, rng: random.Random) -> Iterator[Row]:
    """Amounts with the locale's sign or code of the currency on its side."""
    yield from _money(each, rng, "standard")


def money_in_names(each: int, rng: random.Random) -> Iterator[Row]:
    """Amounts with the currency's name in the locale's language."""
    yield from _money(each, rng, "name")


def _money(each: int, rng: random.Random, style: str) -> Iterator[Row]:
    for locale in LOCALES:
        row = Row(locale)
        for at in range(each):
            currency, another = rng.sample(CURRENCIES, 2)
            number = abs(_number(rng)).quantize(Decimal("0.01"))
            if currency == "JPY":
                number = number.quantize(Decimal(1))
            text = format_currency(number, currency, locale=locale, format_type=style)
            changed = f"{_changed(number, rng)} {currency}"
            row.ask(text, f"{number} {currency}", changed if at % 2 else f"{number} {another}")
        yield row


def quantities(each: int, rng: random.Random) -> Iterator[Row]:
    """Amounts with a unit's name or symbol in the locale's language."""
    for locale in LOCALES:
        row = Row(locale)
        for at in range(each):
            unit, (symbol, another) = rng.choice(list(UNITS.items()))
            number = abs(_number(rng)).quantize(Decimal("0.1")) or Decimal(5)
            text = format_unit(
                number, unit, length=rng.choice(("long", "short")), locale=locale, format="#,##0.#"
            )
            if unit in text:
                continue  # Babel lacks the plural and writes its own name of the unit
            changed = f"{_changed(number, rng)} {symbol}"
            row.ask(text, f"{number} {symbol}", changed if at % 2 else f"{number} {another}")
        yield row


def dates(each: int, rng: random.Random) -> Iterator[Row]:
    """Dates from short to full; English digits that only a territory tells apart are *open*."""
    yield from (Row(*row) for row in comparison_dates.answers(each, rng, told_language=True))


def dates_without_language(each: int, rng: random.Random) -> Iterator[Row]:
    """The same where nobody says what language it is."""
    yield from (Row(*row) for row in comparison_dates.answers(each, rng, told_language=False))


def _number(rng: random.Random) -> Decimal:
    digits = rng.randint(1, 9)
    decimals = rng.choice((0, 0, 1, 2, 2, 3))
    number = Decimal(rng.randint(10 ** (digits - 1), 10**digits - 1)).scaleb(-min(decimals, digits))
    return -number if rng.random() < 0.1 else number


def _changed(number: Decimal, rng: random.Random) -> Decimal:
    """``number`` with one digit another one; the first stays above zero."""
    sign, digits, exponent = number.as_tuple()
    at = rng.randrange(len(digits))
    others = [digit for digit in range(0 if at else 1, 10) if digit != digits[at]]
    changed = [*digits[:at], rng.choice(others), *digits[at + 1 :]]
    return Decimal((sign, changed, exponent))


KINDS: dict[str, Callable[[int, random.Random], Iterator[Row]]] = {
    "numbers": numbers,
    "percents": percents,
    "scientific": scientific,
    "money": money,
    "money_in_names": money_in_names,
    "quantities": quantities,
    "dates": dates,
    "dates_without_language": dates_without_language,
}


def speed() -> str:
    """Comparisons a second of processor time: passages of 200 characters with five figures, each
    read for the first time."""
    sentence = (
        "On {} May the buyer paid EUR {:,}.50 for the delivery of {} boxes, up to {} kg each, that "
        "the seller had promised in the letter of last spring and which reached the store within "
        "30 days of it, unopened."
    )
    passages = [sentence.format(at % 28 + 1, at * 37, at, at % 97)[:200] for at in range(1, 4001)]
    compare_value(Question("", "1 EUR", Passage(passages[0], language="en")))
    start = time.process_time()
    for at, passage in enumerate(passages):
        compare_value(Question("", f"{at * 37 + 0.5} EUR", Passage(passage, language="en")))
    return f"{len(passages) / (time.process_time() - start):,.0f} comparisons a second"


def main() -> None:
    """Print a table a kind: a line a locale, then all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=200, help="values a locale and kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--misses", action="store_true", help="print some of the wrong answers")
    options = parser.parse_args()
    for kind in options.kinds:
        rows = list(KINDS[kind](options.each, random.Random(options.seed)))
        total = Row("all")
        print(f"\n{kind:18}{'right value':>26}{'':8}{'altered value':>24}")
        print(
            f"{'':18}{'same':>10}{'open':>10}{'different':>12}{'different':>14}{'open':>10}{'same':>8}"
        )
        for row in rows:
            _print(row)
            total.right += row.right
            total.altered += row.altered
            for miss in row.misses[:4] if options.misses else ():
                print(f"    {miss}")
        _print(total)
    print(f"\n{speed()}")


def _print(row: Row) -> None:
    right, altered = _shares(row.right), _shares(row.altered)
    print(
        f"{row.locale:18}{right['same']:>10.1%}{right['not_comparable']:>10.1%}"
        f"{right['different']:>12.1%}{altered['different']:>14.1%}"
        f"{altered['not_comparable']:>10.1%}{altered['same']:>8.1%}"
    )


def _shares(answers: list[Answer]) -> dict[str, float]:
    return {
        answer: answers.count(answer) / max(len(answers), 1)
        for answer in ("same", "not_comparable", "different")
    }


if __name__ == "__main__":
    main()
