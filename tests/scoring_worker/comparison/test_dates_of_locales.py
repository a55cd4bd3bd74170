"""Dates that babel formats for its locales; and texts and values that nobody would write."""

from __future__ import annotations

import datetime
import itertools
import random

import pytest
from babel.dates import format_date
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison import Passage
from safepassage.scoring_worker.comparison.dates import (
    PartialDate,
    compare_date,
    date_of_value,
    dates_in,
)
from safepassage.scoring_worker.comparison.dates.cldr import month_words, written_in

LOCALES = (
    "en_US", "en_GB", "de_DE", "de_AT", "fr_FR", "fr_CA", "es_ES", "pt_BR", "it_IT", "nl_NL",
    "pl_PL", "ru_RU", "uk_UA", "el_GR", "tr_TR", "sv_SE", "da_DK", "nb_NO", "fi_FI", "cs_CZ",
    "hu_HU", "ro_RO", "bg_BG", "hr_HR", "lt_LT", "lv_LV", "et_EE", "vi_VN", "zh_CN", "zh_TW",
    "ja_JP", "ko_KR", "ar_EG", "ar_SY", "he_IL", "fa_IR", "hi_IN", "bn_BD", "th_TH", "id_ID",
    "ca_ES", "eu_ES", "ka_GE", "kk_KZ",
)  # fmt: skip
DATES = st.dates(datetime.date(1905, 1, 1), datetime.date(2095, 12, 31))
STYLES = ("short", "medium", "long", "full")
YEAR_OF_TWO_DIGITS_FIRST = {"eu_ES"}
"""Basque's 31/8/16 is 2031: nothing but the language tells it from 31 August 2016."""


def answer(date: datetime.date, text: str, language: str | None) -> str:
    value = date_of_value(date.isoformat())
    assert value is not None
    return compare_date(value, Passage(text, language=language)).answer


def is_open(date: datetime.date, text: str) -> bool:
    """English digits: the territory decides, and a language alone does not tell it."""
    return "/" in text and date.day <= 12 and date.day != date.month


@pytest.mark.parametrize("locale", LOCALES)
def test_a_date_of_a_locale_is_the_same_and_any_other_is_different(locale: str) -> None:
    chooser = random.Random(locale)
    for date, style in itertools.product(some_dates(chooser, 6), STYLES):
        text = format_date(date, style, locale=locale)
        other = changed(date, chooser)
        if locale.startswith("en") and is_open(date, text):
            assert answer(date, text, locale[:2]) == "not_comparable", text
        else:
            assert answer(date, text, locale[:2]) == "same", text
            assert answer(other, text, locale[:2]) == "different", (other, text)
        if locale not in YEAR_OF_TWO_DIGITS_FIRST:
            assert answer(date, text, None) != "different", text


@settings(max_examples=150, deadline=None)
@given(date=DATES, locale=st.sampled_from(LOCALES), style=st.sampled_from(STYLES))
def test_no_right_date_is_ever_stopped(date: datetime.date, locale: str, style: str) -> None:
    assert answer(date, format_date(date, style, locale=locale), locale[:2]) != "different"


def some_dates(chooser: random.Random, count: int) -> list[datetime.date]:
    first = datetime.date(1905, 1, 1).toordinal()
    last = datetime.date(2095, 12, 31).toordinal()
    return [datetime.date.fromordinal(chooser.randint(first, last)) for _ in range(count)]


def changed(date: datetime.date, chooser: random.Random) -> datetime.date:
    """One part of the date another; the year within its century, as two digits tell."""
    date = date.replace(day=min(date.day, 28))
    year, month, day = date.year, date.month, date.day
    part = chooser.choice("ymd")
    if part == "y":
        year = year // 100 * 100 + (year % 100 + chooser.randint(1, 99)) % 100
    elif part == "m":
        month = (month + chooser.randint(0, 10)) % 12 + 1
    else:
        day = (day + chooser.randint(0, 26)) % 28 + 1
    return datetime.date(year, month, day)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["yyyy", "mm", "dd", "month", "hour", "x"]), inner)
    ),
    max_leaves=5,
)
WRITTEN = """January Juli 17 1 2012 12 ٣ 年 月 日 1월 Q - / . , ' of the and T : pm l O مايو circa
XII ² 一 十 平成 twenty first two thousand"""
PIECES = st.sampled_from([*WRITTEN.split(), " ", "\n", "\u200f", "\u00ad", "\x00", "end of"])
TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=25).map("".join)
LANGUAGES = st.sampled_from([None, "en", "fi", "he", "zh", "th", "xx", "", "en-GB", "\x00"])


@settings(max_examples=150, deadline=None)
@given(
    value=JSON | TEXTS,
    quote=TEXTS,
    before=TEXTS,
    language=LANGUAGES,
    order=st.none() | st.booleans(),
)
def test_no_text_and_no_value_makes_it_fail(
    value: object, quote: str, before: str, language: str | None, order: bool | None
) -> None:
    date = date_of_value(value, language, "Date")  # type: ignore[arg-type]
    for each in dates_in(quote, language, order):
        assert 0 <= each.start < each.end <= len(quote)
    passage = Passage(quote, before=before, language=language, day_first=order)
    found = compare_date(date or PartialDate(2012, 1, 17), passage)
    assert all(0 <= p.start < p.end <= len(quote) for p in found.places + found.rivals)
    if found.answer == "different":
        assert found.findings


@pytest.mark.parametrize(
    "piece",
    ["1", "1/", "1 ", "12. ", "January ", "1, 2, ", "twenty ", "and ", "2012-", "12:", "1年", "月1",
     "lO/", "rabi '", "January two thousand ", "end of ", "q1 ", "1-a-"],
)  # fmt: skip
def test_long_texts_are_read_in_linear_work(piece: str) -> None:
    """Ten times the text makes at most some ten times the dates, and comes back at all."""
    text = piece * (60_000 // len(piece))
    assert len(dates_in(text, "en")) <= len(text)


@pytest.mark.parametrize("code", ["de", "fr", "he", "it", "ro", "zh"])
def test_a_languages_own_months_are_among_those_of_its_territories(code: str):
    """Which words of other languages are months is told without reading every territory."""
    every = {name for names in written_in(code).wide.values() for name in names}
    assert month_words(code) <= every
    assert ("mai" in month_words(code)) == ("mai" in every)
