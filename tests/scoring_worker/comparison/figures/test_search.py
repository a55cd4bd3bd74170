"""Numbers in every notation: signs, scales, words, fractions, ranges and bounds."""

from fractions import Fraction

import pytest

from safepassage.scoring_worker.comparison.contract import Passage
from safepassage.scoring_worker.comparison.figures.search import parse_figure

from .questions import compared

CASES = [
    ("1234.56", "1.234,56", "de", "same"),
    ("1234.56", "1 234,56", "fr", "same"),
    ("1234.56", "1\u202f234,56", None, "same"),
    ("1234.56", "1'234.56", None, "same"),
    ("1234.56", "1’234.56", None, "same"),
    ("123456", "1,23,456", None, "same"),
    (1234.56, "١٬٢٣٤٫٥٦", "ar", "same"),
    (1234.56, "१,२३४.५६", "hi", "same"),
    (1234.56, "１，２３４．５６", "ja", "same"),
    (1234, "1.234", None, "not_comparable"),
    (1.234, "1.234", None, "not_comparable"),
    (1234, "1.234", "de", "same"),
    (1.234, "1.234", "de", "same"),  # in Switzerland
    (1.234, "1.234 oder 12.345,60", "de", "different"),
    ("1.234 EUR", "1.234 EUR", "de", "same"),
    (1.234, "EUR 1.234", "de", "different"),
    (1.235, "1.234", "de", "different"),
    (1234, "1.234", "es", "same"),
    (1.234, "1.234", "es", "same"),  # in Mexico
    ("1234 ml", "1.234 l", "es", "not_comparable"),
    (1.234, "1.234 and 2.50", None, "same"),
    (1234, "1.234 und 2.500,00", None, "same"),
    ("1.234", "1.234", None, "same"),
    (-5, "Temp −5 °C", "en", "same"),
    (5, "Temp −5 °C", "en", "different"),
    ("-1250", "1,250.00-", "en", "same"),
    ("3.5-5.1", "Potassium 4.2 (3.5-5.1)", "en", "same"),
    ("3.5-5.1", "Potassium 4.2 (3.5 - 5.2 mmol/L)", "en", "different"),
    ("-3.5", "between 3.5-5.1", "en", "different"),
    (-1250, "(1,250.00)", "en", "same"),
    (1250, "(1,250.00)", "en", "not_comparable"),
    ("5%", "5 percent", "en", "same"),
    ("5%", "0.05", "en", "not_comparable"),
    (0.05, "5%", "en", "same"),
    ("0.5%", "50 bp", "en", "same"),
    ("5%", "50‰", "en", "same"),
    ("5%", "6 %", "en", "different"),
    ("5k", "5,000", "en", "same"),
    ("3.2bn", "3,200 million", "en", "same"),
    ("1.5 Mio.", "1500000", "de", "same"),
    ("5 lakh", "5,00,000", "en", "same"),
    ("2 crore", "20,000,000", "en", "same"),
    (50000, "5万", "ja", "same"),
    ("12", "twelve", "en", "same"),
    (342, "three hundred and forty-two", "en", "same"),
    (95, "quatre-vingt-quinze ans", "fr", "same"),
    (1432524, "चौदह लाख बत्तीस हज़ार पाँच सौ चौबीस", "hi", "same"),
    (5, "pięć lat", "pl", "same"),
    (6, "pięć lat", "pl", "different"),
    ("3rd", "the third floor", "en", "same"),
    ("3", "3rd floor", "en", "not_comparable"),
    (67, "67-year-old man", "en", "same"),
    (67, "67 Jahre alt", "de", "same"),
    (0.5, "½", "en", "same"),
    ("1/2", "½ cup", "en", "same"),
    (2.5, "2 1/2 cups", "en", "same"),
    (2.5, "2½ cups", "en", "same"),
    (2.5, "two and a half years", "en", "same"),
    ("0.5", "half a gram", "en", "same"),
    ("0.5", "half the people", "en", "not_comparable"),
    ("500,000", "half a million", "en", "same"),
    ("250000", "a quarter of a million", "en", "same"),
    ("250000", "half a million", "en", "different"),
    ("500000", "eine halbe Million", "de", "same"),
    ("10-15", "10–15 mg", "en", "same"),
    ("10 to 15", "between 10 and 15", "en", "same"),
    ("10-15", "10–16 mg", "en", "different"),
    ("10", "10–15 mg", "en", "not_comparable"),
    ("12", "10–15 mg", "en", "different"),
    (1500000.0, "1.5e6", "en", "same"),
    (1500000, "1.5×10^6", "en", "same"),
    (1500000, "1,5·10⁶", "de", "same"),
    ("1e999999", "5", "en", "not_comparable"),
    ("5", "more than 5", "en", "not_comparable"),
    ("exactly 5", "more than 5", "en", "different"),
    ("more than 5", "more than 5", "en", "same"),
    ("more than 5", "less than 5", "en", "different"),
    (">5", "over 5 days", "en", "same"),
    ("at least 5", "5 or more", "en", "same"),
    ("at most 5", "not more than 5", "en", "same"),
    ("≥ 5", "mindestens 5", "de", "same"),
    ("5", "more than 6", "en", "different"),
    ("up to 5", "jusqu'à 5", "fr", "same"),
    ("5mg", "15mg", "en", "different"),
    ("12", "2012", "en", "different"),
    ("3.5", "13.5", "en", "different"),
    ("2021", "INV-2021-001", "en", "not_comparable"),
    ("001", "INV-2021-0013", "en", "different"),
    ("100", "100.0", "en", "same"),
    (100.0, "100", "en", "same"),
    (3.14, "3.1416", "en", "different"),
    ("120/80", "BP 130/80", "en", "different"),
    ("120/80", "BP 120/80 mmHg", "en", "same"),
    ("120", "BP 120/80 mmHg", "en", "not_comparable"),
    ("5", "100 200 300", "en", "different"),
    ("200", "100 200 300", "en", "not_comparable"),
    ("5", "no figure here", "en", "different"),
    ("5", "brak liczby", None, "not_comparable"),
    (2012, "12.03.2012", "de", "not_comparable"),
    ("5", "Section 12.", "en", "different"),
    ("3 bedrooms", "3 bedrooms", "en", "same"),
]


@pytest.mark.parametrize(("value", "quote", "language", "answer"), CASES)
def test_the_quote_holds_this_value_or_another(value, quote, language, answer):
    assert compared(value, Passage(quote, language=language)).answer == answer


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (1.5, Fraction(1, 10)),
        (5.0, Fraction(1)),
        (7, Fraction(1)),
        (1.5e-05, Fraction(1, 10**6)),
        (1e-05, Fraction(1, 10**5)),
        (1.25e-07, Fraction(1, 10**9)),
        ("1.5e-05", Fraction(1, 10**6)),
        (1.5e16, Fraction(1)),
        (2.5e300, Fraction(1)),
    ],
)
def test_the_place_value_is_of_the_last_digit_and_the_exponent(value, step):
    figure = parse_figure(value)
    assert figure is not None
    assert {reading.step for reading in figure.readings} == {step}
