"""Figures against Babel's formatting, around the quote, with entity types, and hostile text."""

from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import format_currency, format_decimal, format_percent
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.contract import Passage, Place
from safepassage.scoring_worker.comparison.figures.plain_text import fold
from safepassage.scoring_worker.comparison.figures.search import figures_in, parse_figure

from .questions import compared

LOCALES = (
    "en_US", "de_DE", "fr_FR", "es_ES", "pt_BR", "it_IT", "nl_NL", "sv_SE", "nb_NO", "da_DK",
    "fi_FI", "cs_CZ", "hu_HU", "ro_RO", "el_GR", "tr_TR", "uk_UA", "bg_BG", "he_IL", "ar_EG",
    "fa_IR", "hi_IN", "ja_JP", "ko_KR", "zh_CN", "vi_VN", "id_ID", "th_TH",
)  # fmt: skip
CURRENCIES = ("USD", "EUR", "GBP", "JPY", "CHF", "INR", "BRL", "PLN", "SEK", "TRY")
locales = st.sampled_from(LOCALES)
amounts = st.decimals(0, 10**9, places=2).map(lambda number: number + 0)


@st.composite
def altered(draw):
    """A number, and the same with one digit another one."""
    number = draw(amounts)
    sign, digits, exponent = number.as_tuple()
    at = draw(st.integers(0, len(digits) - 1))
    other = draw(st.integers(1, 9).filter(lambda digit: digit != digits[at]))
    return number, Decimal((sign, (*digits[:at], other, *digits[at + 1 :]), exponent))


def answer(value, quote, language, entity_type=""):
    return compared(value, Passage(quote, language=language), entity_type).answer


@settings(deadline=None)
@given(altered(), locales, st.sampled_from(["latn", "default"]))
def test_a_number_formatted_in_any_locale_is_itself_and_no_other(pair, locale, system):
    number, other = pair
    text = format_decimal(
        number, locale=locale, decimal_quantization=False, numbering_system=system
    )
    language = Locale.parse(locale).language
    assert answer(float(number), text, language) == "same"
    assert answer(str(other), text, language) == "different"


@settings(deadline=None)
@given(altered(), locales)
def test_a_percentage_formatted_in_any_locale_is_itself_and_no_other(pair, locale):
    number, other = pair
    text = format_percent(number / 100, locale=locale, decimal_quantization=False)
    language = Locale.parse(locale).language
    assert answer(f"{number}%", text, language) == "same"
    assert answer(f"{other}%", text, language) == "different"


@settings(deadline=None)
@given(altered(), locales, st.permutations(CURRENCIES), st.sampled_from(["standard", "name"]))
def test_an_amount_formatted_in_any_locale_is_itself_and_no_other(pair, locale, codes, style):
    number, other = pair
    text = format_currency(
        number, codes[0], locale=locale, format_type=style, currency_digits=False
    )
    language = Locale.parse(locale).language
    if format_currency(number, codes[0], locale=locale, format_type=style) != text:
        return  # rounded: yen have no cents
    assert answer(f"{number} {codes[0]}", text, language) == "same"
    assert answer(f"{other} {codes[0]}", text, language) == "different"
    assert answer(f"{number} {codes[1]}", text, language) == "different"


HOSTILE = [
    "9" * 100_000,
    "1e999999",
    "1e-999999",
    "1," * 5_000,
    "1 000" * 4_000,
    "(" * 5_000 + "5" + ")" * 5_000,
    "-" * 5_000 + "5",
    "$" * 5_000 + "5",
    "one hundred and " * 3_000,
    "zwei" * 4_000,
    "5 mg/" * 4_000,
    "more than " * 3_000 + "5",
    "10-" * 4_000,
    "½" * 5_000,
    "\u200f5" * 5_000,
    "İ5" * 3_000,
    "10^" * 4_000,
    "²³¹" * 1000,
    "\x00\ud800 5",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("language", ["en", "de", None])
def test_hostile_text_is_read_to_its_end(text, language):
    for value in ("5", "5 mg", 7):
        assert compared(value, Passage(text, language=language)).answer
    parse_figure(text, language)


@settings(deadline=None)
@given(st.text(), st.sampled_from(["en", "de", "ar", "zh", "xx", "", None]))
def test_any_text_is_read_and_every_place_is_in_it(text, language):
    for figure in figures_in(text, language):
        assert 0 <= figure.place.start <= figure.number.start
        assert figure.number.end <= figure.place.end <= len(text)


@given(st.text())
def test_folding_keeps_the_place_of_every_character(text):
    folded = fold(text)
    assert len(folded.text) == len(folded.lowered)
    for at in range(len(folded.text)):
        place = folded.place(at, at + 1)
        assert fold(text[place.start : place.end]).text == folded.text[at]


NO_FIGURES = [10**5000, float("nan"), float("inf"), True, None, [5], "", "x"]


@pytest.mark.parametrize("value", NO_FIGURES, ids=range(len(NO_FIGURES)))
def test_what_is_no_figure_is_none(value):
    assert parse_figure(value) is None


def test_the_places_are_those_of_the_quote_as_given():
    quote = "\u200fPaid: \u200f1.234,56\u00a0€ and 7 €"
    found = compared("1234.56 EUR", Passage(quote, language="de"))
    assert [quote[at.start : at.end] for at in found.places] == ["1.234,56\u00a0€"]
    assert [quote[at.start : at.end] for at in found.rivals] == ["7 €"]


def test_a_figure_outside_the_quote_is_not_quoted():
    passage = Passage("of 7 boxes", before="5 kg ", after=" at 9 EUR", language="en")
    found = compared("5 kg", passage)
    assert (found.answer, found.rivals) == ("different", (Place(3, 4),))


def test_what_stands_beside_the_quote_belongs_to_its_figure():
    assert compared("5 kg", Passage("5", after=" g", language="en")).answer == "different"
    bounded = compared("exactly 5", Passage("5", before="more than ", language="en"))
    assert bounded.findings[0].code == "comparator_differs"


def test_a_number_that_the_quote_cuts_is_not_comparable():
    assert compared("5", Passage("5 mg", before="1", language="en")).findings[0].code == (
        "number_cut"
    )


@pytest.mark.parametrize(
    ("value", "quote", "entity_type", "expected"),
    [
        (65000, "65k to 80k EUR", "Minimum Salary", "same"),
        (80000, "65k to 80k EUR", "Minimum Salary", "different"),
        (80000, "65k to 80k EUR", "Maximum Salary", "same"),
        (5, "at least 5 years", "Minimum Experience", "same"),
        (5, "up to 5 years", "Minimum Experience", "not_comparable"),
        (70, "70 g", "Weight (kg)", "different"),
        (70, "70 kg", "Weight (kg)", "same"),
        (70, "70", "Weight (kg)", "same"),
        (70, "70 USD", "Price in EUR", "different"),
    ],
)
def test_the_entity_type_says_which_end_or_unit(value, quote, entity_type, expected):
    assert answer(value, quote, "en", entity_type) == expected


def test_the_head_of_a_column_names_the_unit():
    passage = Passage("70", heading="Weight (kg)", language="en")
    assert compared("70 kg", passage).answer == "same"
    assert compared("70 lb", passage).answer == "not_comparable"


@pytest.mark.parametrize(
    ("heading", "value", "expected"),
    [
        ("in millions of euros", "EUR 12.5 million", "same"),
        ("EUR m", "12,500,000", "same"),
        ("€m", "EUR 12.5 million", "same"),
        ("TEUR", "EUR 12,500", "same"),
        ("£'000", "GBP 12,500", "same"),
        ("(000s)", "12,500", "same"),
        ("EUR million", "USD 12.5 million", "not_comparable"),
        ("in thousand EUR", "EUR 12.5 million", "different"),
        ("Length in m", "12,500,000", "different"),
        ("in 2000", "12,500", "different"),
    ],
)
def test_the_head_of_a_column_names_the_scale(heading, value, expected):
    passage = Passage("Net debt 12.5 | 11.1", heading=heading, language="en")
    assert compared(value, passage).answer == expected


@pytest.mark.parametrize(
    ("value", "quote", "code"),
    [
        ("5 mg", "6 mg", "number_differs"),
        ("5 mg", "5 ml", "unit_differs"),
        ("5 EUR", "5 USD", "currency_differs"),
        ("less than 5", "more than 5", "comparator_differs"),
        ("5 mg", "no dose", "number_missing"),
        ("5 mg", "5", "unit_missing"),
        ("5 EUR", "5", "currency_missing"),
        (5, "5 to 9", "part_of_range"),
        (12, "12.03.2019", "number_ambiguous"),
    ],
)
def test_the_finding_says_what_differs(value, quote, code):
    found = compared(value, Passage(quote, language="en"))
    assert [finding.code for finding in found.findings] == [code]


def test_the_figure_of_a_value_with_words_must_be_there():
    quote = "amlodipine 5 mg twice daily for 10 days"
    assert answer("daily for 10 days", quote, "en") == "same"
    assert answer("daily for 14 days", quote, "en") == "different"
    assert answer("daily", quote, "en") == "same"


LONG = "In the course of the year that came to its end in March, the company had paid "


@pytest.mark.parametrize(
    ("value", "quote", "language", "expected"),
    [
        ("over $70", f"{LONG}over $70 a day", "en", "same"),
        ("5", f"{LONG}not more than 5", "en", "not_comparable"),
        ("at most 5", f"{LONG}not more than 5", "en", "same"),
        ("$54", f"{LONG}a $54 fee", "en", "same"),
        ("$7", "from December 31, 2019 to $7", "en", "same"),
        ("3 ft 6 in", "Gauge: 3 ft 6 in\nWorks", "en", "same"),
        ("8,646 sq mi", "8,646 sq mi per year", "en", "not_comparable"),
        ("1435 mm", "de 1435 mm.", "es", "same"),
        ("233", "tặng 233 bức tranh", "vi", "same"),
        ("100 W", "100 W/42 kHz", "en", "same"),
        ("42 kHz", "100 W/42 kHz", "en", "same"),
    ],
)
def test_figures_in_running_text(value, quote, language, expected):
    assert answer(value, quote, language) == expected


def test_a_scale_that_the_type_names_is_left_out_of_the_value():
    assert answer(180.6, "was $180.6 million", "en", "Revenue (in millions)") == "same"
    assert answer(180.6, "was $180.6 million", "en", "Revenue") == "different"


@pytest.mark.parametrize(
    ("value", "entity_type", "companions", "rivals"),
    [
        (65000, "Minimum Salary", ["65k to 80k EUR"], ["5"]),
        (80000, "Maximum Salary", ["65k to 80k EUR"], ["5"]),
        (65000, "Salary", [], ["80k EUR", "5"]),
        (5, "Minimum Years", [], ["65k to 80k EUR", "65k", "80k EUR"]),
    ],
)
def test_the_other_end_is_no_rival_of_the_one_that_is_asked_for(
    value, entity_type, companions, rivals
):
    quote = "65k to 80k EUR, 5 years"
    found = compared(value, Passage(quote, language="en"), entity_type)
    assert [quote[at.start : at.end] for at in found.companions] == companions
    assert [quote[at.start : at.end].removesuffix(" years") for at in found.rivals] == rivals
