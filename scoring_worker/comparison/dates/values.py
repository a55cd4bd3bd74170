"""The date that an extracted value states, in any form."""

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from safepassage.schemas.hypothesis import entity_type_name

from .month_names import month_at, names
from .partial_date import PartialDate, Parts, Time, exists
from .search import dates_in
from .times import offset_of, times_in
from .tokens import pattern_of, tokens, words_in

_KEYS = {
    key: part
    for part in ("year", "month", "day", "hour", "minute", "second")
    for key in words_in(f"key {part}")
}
_ISO = re.compile(
    r"\s*(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"
    r"(?:[Tt ]\s?(?P<h>\d\d):(?P<min>\d\d)(?::(?P<s>\d\d)(?:[.,]\d+)?)?"
    r"\s?(?P<z>[Zz]|[+-]\d\d:?\d\d)?)?\s*"
)
_AMOUNT = re.compile(r"[($€£+-]?(?:[0-9]{1,3}|[0-9]{5,7})(?:,[0-9]{3})*(?:\.[0-9]{1,2})?\s?[%)]?")
"""Digits that are no date: neither a year nor the eight of a date are among them."""
_LONGEST = 120  # code points of a value that is nothing but a date
_DATED = re.compile(rf"\b(?:{pattern_of('asks_for_a_date')})\b|[年月日년월일]", re.IGNORECASE)
"""A type that asks for a date: only there is a bare number (2012) one. Elsewhere it is an amount,
and "1500" against "1,500" is the business of numbers. English "data" is not Italian "data"."""
_MONTHLY = re.compile(rf"\b(?:{pattern_of('asks_for_a_month')})\b", re.IGNORECASE)
"""Here the name of a month alone is one, and no first name ("May")."""
_BESIDE = words_in("beside_a_value")
_OF_TIMES = frozenset({"am", "pm", "m", "p", "z", "est", "cet"})


def date_of_value(
    value: JsonValue,
    language: str | None = None,
    entity_type: str = "",
    day_first: bool | None = None,
) -> PartialDate | None:
    """The date that ``value`` is: text that says nothing else, an ISO date or datetime, or an
    object of its parts. None where it is no date, several (a range), vague, or cannot exist.

    ``day_first`` reads 03/04/2021; None leaves it open unless the language decides.
    A bare number (2012, 20120117) and a month's name alone ("May") are dates only for an
    ``entity_type`` that speaks of dates. A time of day alone ("14:30") is a date without year,
    month and day. Never raises.
    """
    if isinstance(value, Mapping):
        return _structured(value, language)
    if isinstance(value, bool) or value is None or isinstance(value, list):
        return None
    if isinstance(value, int | float):
        whole = 1000 <= value < 3000 and value == int(value)
        return PartialDate(int(value)) if whole and asks_for_date(entity_type) else None
    if len(value) > _LONGEST:
        return None
    return _of_text(value, language, entity_type, day_first)


def asks_for_date(entity_type: str) -> bool:
    """Whether the type's name says that its values are dates or years."""
    return bool(entity_type) and _DATED.search(entity_type_name(entity_type[:200])) is not None


def _of_text(
    text: str, language: str | None, entity_type: str, day_first: bool | None
) -> PartialDate | None:
    if _AMOUNT.fullmatch(text):
        return None
    iso = _ISO.fullmatch(text)
    if iso is not None:
        return _of_iso(iso)
    found = dates_in(text, language, day_first)
    if len(found) != 1:
        return _time_alone(text, language) if not found else None
    date = found[0]
    rest = text[: date.start] + " " + text[date.end :]
    times = times_in(rest)
    if not _is_meant(text, date, entity_type) or not _says_only(rest, language, timed=bool(times)):
        return None
    return replace(date, start=0, end=0, time=times[0] if len(times) == 1 else None)


def _is_meant(text: str, date: PartialDate, entity_type: str) -> bool:
    """Whether the one date of ``text`` is sure to be one: digits alone may be an amount, and a
    month alone a first name."""
    dated = asks_for_date(entity_type)
    if date.certainty != "stated":
        return date.certainty == "weak" and date.is_full and dated
    month_alone = date.year is None and date.day is None and date.quarter is None
    if month_alone:
        return dated or _MONTHLY.search(entity_type_name(entity_type[:200])) is not None
    return dated or not text.strip().isdecimal()


def _says_only(rest: str, language: str | None, *, timed: bool) -> bool:
    """Whether nothing but a weekday, an article and a time are beside the date."""
    read = names(language)
    known = {*_BESIDE, *read.weekdays, *read.connectors}
    if timed:
        known |= _OF_TIMES
    return all(
        token.kind == "sign" or (timed if token.kind == "number" else token.text in known)
        for token in tokens(rest)
    )


def _of_iso(match: re.Match[str]) -> PartialDate | None:
    parts = Parts(int(match["y"]), int(match["m"]), int(match["d"]))
    if not exists(parts):
        return None
    if match["h"] is None:
        return PartialDate(*parts)
    hour, minute = int(match["h"]), int(match["min"])
    second = int(match["s"]) if match["s"] else None
    if hour > 23 or minute > 59 or (second or 0) > 59:
        return None
    if (hour, minute, second or 0) == (0, 0, 0):
        return PartialDate(*parts)  # midnight is what serialisers write where there is no time
    return PartialDate(*parts, time=Time(hour, minute, second, offset_of(match["z"])))


def _time_alone(text: str, language: str | None) -> PartialDate | None:
    times = times_in(text)
    words = [token for token in tokens(text) if token.kind == "word"]
    spoken = all(token.text in _BESIDE or token.text in _HALVES for token in words)
    numbers = sum(token.kind == "number" for token in tokens(text))
    if len(times) != 1 or not spoken or numbers > 4 or month_named(text, language):
        return None
    return PartialDate(time=times[0])


_HALVES = words_in("beside_a_time")


def month_named(text: str, language: str | None) -> bool:
    """Whether a month's name is in ``text``."""
    found, read = tokens(text), names(language)
    return any(month_at(found, at, read) for at, token in enumerate(found) if token.kind == "word")


def _structured(value: Mapping[str, JsonValue], language: str | None) -> PartialDate | None:
    present = {str(key).casefold(): part for key, part in value.items() if part not in (None, "")}
    if not present or not present.keys() <= _KEYS.keys():
        return None
    numbers: dict[str, int] = {}
    for key, part in present.items():
        number = _number(part, language, month=_KEYS[key] == "month")
        if number is None or _KEYS[key] in numbers:
            return None
        numbers[_KEYS[key]] = number
    parts = Parts(numbers.get("year"), numbers.get("month"), numbers.get("day"))
    dated = parts != Parts()
    if not exists(parts) or (not dated and "hour" not in numbers) or (parts.year or 1) > 9999:
        return None
    time = None
    if "hour" in numbers:
        time = Time(numbers["hour"] % 24, numbers.get("minute"), numbers.get("second"))
    return PartialDate(*parts, time=time)


def _number(part: JsonValue, language: str | None, month: bool) -> int | None:
    if isinstance(part, bool | list | Mapping) or part is None:
        return None
    if isinstance(part, int | float):
        return int(part) if 0 <= part <= 9999 and part == int(part) else None
    text = part.strip()
    if text.isdecimal() and len(text) <= 4:
        return int(text)
    found = tokens(text) if month and len(text) <= _LONGEST else []
    at = month_at(found, 0, names(language)) if found and found[0].kind == "word" else None
    return at[0].months[0] if at is not None and len(at[0].months) == 1 else None
