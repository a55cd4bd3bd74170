"""What CLDR knows of dates, language by language: names of months and weekdays, the words between
the parts of a date, and the order of a date in digits.

The data are babel's. dateparser and dateutil were weighed: both answer with *a* date for nearly
any text (dateparser's own README warns of it), where a comparator has to know that it does not
know.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from babel import Locale, localedata

from .tokens import Token, words_in

WIDELY_READ = words_in("languages_widely_read")
"""Read where no language is given: those that CLDR covers to its level *modern*. The other 200
have abbreviations that are words elsewhere ("sun", "see", "man" are months of somebody)."""
PATH = Path(__file__).with_suffix(".json")
"""Written by ``tools/cldr_dates.py``: babel takes a second and 130 MB to merge 539 locales."""
Order = Literal["dmy", "mdy", "ymd"]
_Raw = dict[tuple[str, ...], set[int]]


@dataclass(slots=True)
class Written:
    """What any territory of one language writes. ``wide`` are the months' full names."""

    names: _Raw
    wide: dict[int, set[str]]
    connectors: set[str]
    weekdays: set[str]


@lru_cache(maxsize=512)
def base(language: str | None) -> str | None:
    """The language that CLDR knows by this code, without territory; None where it knows none."""
    if not language:
        return None
    code = re.split("[-_]", language.casefold(), maxsplit=1)[0]
    code = {"iw": "he", "in": "id", "tl": "fil", "nb": "no"}.get(code, code)
    return code if code in known_languages() else None


@lru_cache(maxsize=256)
def order_of(language: str | None) -> Order | None:
    """How the language writes dates in digits; None where its territories disagree (English)."""
    territorial = language.replace("-", "_") if language else ""
    if territorial in localedata.locale_identifiers() and "_" in territorial:
        return _order(territorial)
    own = base(language)
    return None if own in (None, "en") else _order(str(own))


def _order(identifier: str) -> Order:
    pattern = str(Locale.parse(identifier).date_formats["short"].pattern)
    letters = re.sub(r"'[^']*'|[^dMy]", "", pattern)
    shape = "".join(dict.fromkeys(letters)).casefold()
    return "ymd" if shape.startswith("y") else "mdy" if shape.startswith("m") else "dmy"


@cache
def known_languages() -> frozenset[str]:
    """Codes of every language that CLDR has a locale for."""
    return frozenset(_table())


@cache
def _table() -> dict[str, Any]:
    return dict(json.loads(PATH.read_text("utf-8")))


@cache
def written_in(code: str) -> Written:
    """Everything that any territory of the language writes."""
    own = _table()[code]
    return Written(
        {tuple(words.split()): set(months) for words, months in own["months"].items()},
        {int(number): set(names.split()) for number, names in own["wide"].items()},
        set(own["connectors"].split()),
        set(own["weekdays"].split()),
    )


def month_words(code: str) -> frozenset[str]:
    """The full names of months in the language itself, without its territories, that are one
    word; of the languages that are `WIDELY_READ`."""
    return frozenset(_table()[code]["own"].split())


def is_part(token: Token) -> bool:
    """Whether the token is one of those that names consist of."""
    return token.kind != "sign"


def part(token: Token) -> str:
    """The word or, without leading zeros, the number."""
    return token.text if token.number is None else str(token.number)
