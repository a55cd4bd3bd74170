"""Dates of other calendars: Islamic, Persian, Hebrew, Indian, Buddhist, Japanese and French ones.

They are seen and not converted: what they say is never *different*, only not comparable.
"""

import re
from collections.abc import Iterator, Sequence

from .partial_date import PartialDate
from .tokens import Token, pattern_of, words_in

_MONTHS = words_in("months_of_other_calendars")
"""First words of months, one of these beside a day and a year: several are everyday words."""
_ERAS = words_in("eras")
_ERA_LETTERS = frozenset({"AH", "BE", "AP", "SH"})
_OTHER_SCRIPTS = re.compile(pattern_of("other_calendars_in_other_scripts"))


def other_calendar_dates(text: str, found: Sequence[Token]) -> Iterator[PartialDate]:
    """Where ``text`` dates by another calendar; nothing is read but the place."""
    for at, token in enumerate(found):
        if token.kind != "word":
            continue
        dated = token.text in _MONTHS and _has_day_and_year(found, at)
        if dated or _is_era(text, found, at):
            yield _at(token.start, token.end)
    if not text.isascii():
        for match in _OTHER_SCRIPTS.finditer(text):
            yield _at(*match.span())


def _at(start: int, end: int) -> PartialDate:
    return PartialDate(start=start, end=end, certainty="other_calendar")


def _has_day_and_year(found: Sequence[Token], at: int) -> bool:
    widths = {token.width for token in found[max(0, at - 2) : at + 6] if token.kind == "number"}
    return bool(widths & {1, 2}) and bool(widths & {3, 4})


def _is_era(text: str, found: Sequence[Token], at: int) -> bool:
    token = found[at]
    if token.text not in _ERAS and text[token.start : token.end] not in _ERA_LETTERS:
        return False
    before = found[at - 1].kind == "number" and found[at - 1].width >= 3 if at else False
    after = at + 1 < len(found) and found[at + 1].kind == "number"
    return before or after
