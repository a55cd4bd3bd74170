"""Dates of other calendars: Islamic, Persian, Hebrew, Indian, Buddhist, Japanese and French ones.

They are seen and not converted: what they say is never *different*, only not comparable.
"""

import re
from collections.abc import Iterator, Sequence

from .partial_date import PartialDate
from .tokens import Token, word_set

_MONTHS = word_set(
    """muharram safar rabi jumada rajab shaban sha ramadan ramadhan ramzan shawwal dhu dhul zulhijja
    zulhijjah zulkaida zulkada farvardin ordibehesht khordad tir mordad shahrivar mehr aban azar dey
    bahman esfand tishrei tishri cheshvan heshvan marheshvan kislev tevet shevat adar nissan nisan
    iyyar iyar sivan tammuz elul chaitra vaisakha bhadra kartik poush baishakh meskerem tikimt
    vendemiaire brumaire frimaire nivose pluviose ventose germinal floreal prairial messidor
    thermidor fructidor muharrem ramazan sevval zilhicce"""
)
"""First words of months, one of these beside a day and a year: several are everyday words."""
_ERAS = word_set("heisei reiwa showa taisho meiji vikram saka hijri hijriyah")
_ERA_LETTERS = frozenset({"AH", "BE", "AP", "SH"})
_OTHER_SCRIPTS = re.compile(
    r"هجري|هـ|محرم|صفر|ربيع|جمادى|رجب|شعبان|رمضان|شوال|ذو\s|ذي\s"
    r"|فروردین|اردیبهشت|خرداد|مرداد|شهریور|آبان|بهمن|اسفند|شمسی|قمری"
    r"|תשרי|חשוון|כסלו|טבת|ניסן|סיוון|אלול|תש[\"״'׳][א-ת]|תש[א-ת][\"״'׳]"
    r"|พ\.?\s?ศ\.?|พุทธศักราช|令和|平成|昭和|大正|明治|民國|民国|農曆|农历|旧暦|陰曆|음력|단기"
)


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
