"""Dates for `benchmarks/comparison.py`: as CLDR's locales write them."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

from babel.dates import format_date

from safepassage.scoring_worker.comparison.contract import Answer, Passage
from safepassage.scoring_worker.comparison.dates import compare_date, date_of_value

LOCALES = (
    "en_US", "en_GB", "de_DE", "de_AT", "fr_FR", "fr_CA", "es_ES", "es_MX", "pt_BR", "pt_PT",
    "it_IT", "nl_NL", "pl_PL", "ru_RU", "uk_UA", "el_GR", "tr_TR", "sv_SE", "da_DK", "nb_NO",
    "fi_FI", "cs_CZ", "sk_SK", "hu_HU", "ro_RO", "bg_BG", "hr_HR", "lt_LT", "lv_LV", "et_EE",
    "vi_VN", "zh_CN", "zh_TW", "ja_JP", "ko_KR", "ar_EG", "ar_SY", "he_IL", "fa_IR", "hi_IN",
    "bn_BD", "th_TH", "id_ID", "ca_ES", "eu_ES", "ka_GE", "kk_KZ", "mn_MN", "sw_KE", "af_ZA",
)  # fmt: skip
FIRST, LAST = datetime.date(1905, 1, 1), datetime.date(2095, 12, 31)
STYLES = ("short", "medium", "long", "full")
Answers = tuple[str, list[Answer], list[Answer], list[str]]
"""Locale; what was answered for the date that was formatted and for another; the misses."""


def answers(each: int, rng: random.Random, told_language: bool) -> Iterator[Answers]:
    """A row a locale: ``each`` dates from 1905 to 2095, every one in four styles."""
    for locale in LOCALES:
        right: list[Answer] = []
        altered: list[Answer] = []
        misses: list[str] = []
        for _ in range(each):
            date = datetime.date.fromordinal(rng.randint(FIRST.toordinal(), LAST.toordinal()))
            other = changed_date(date, rng)
            for style in STYLES:
                text = format_date(date, style, locale=locale)
                passage = Passage(text, language=locale.split("_")[0] if told_language else None)
                right.append(_answer(date, passage))
                altered.append(_answer(other, passage))
                if right[-1] != "same" or altered[-1] != "different":
                    misses.append(f"{right[-1]:15}{altered[-1]:15}{date} {other} {text!r}")
        yield locale, right, altered, misses


def _answer(date: datetime.date, passage: Passage) -> Answer:
    value = date_of_value(date.isoformat())
    assert value is not None
    return compare_date(value, passage).answer


def changed_date(date: datetime.date, chooser: random.Random) -> datetime.date:
    """Another date of which one part differs; the year within its century, as two digits tell."""
    while True:
        part = chooser.choice(("year", "month", "day"))
        number = {
            "year": date.year // 100 * 100 + chooser.randrange(100),
            "month": chooser.randint(1, 12),
            "day": chooser.randint(1, 28),
        }[part]
        other = date.replace(day=min(date.day, 28)).replace(**{part: number})
        if other != date and (part == "day" or other.day == date.day):
            return other
