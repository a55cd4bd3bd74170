"""Amounts of money: the currency belongs to its number."""

import pytest

from safepassage.scoring_worker.comparison.contract import Passage

from .questions import compared

CASES = [
    ("2 Mrd. Euro", "2.000.000.000 €", "de", "same"),
    ("3億円", "3億円", "ja", "same"),
    (250, "zweihundertfünfzig Euro", "de", "same"),
    (2500, "zweitausendfünfhundert Euro", "de", "same"),
    ("€ 5", "5 EUR", "en", "same"),
    ("€ 5", "5 euros", "en", "same"),
    ("5 EUR", "5 USD", "en", "different"),
    ("R$ 5", "5 BRL", "en", "same"),
    ("5 CHF", "Fr. 5", "de", "same"),
    ("5 CHF", "CHF 5.-", "de", "same"),
    ("5 PLN", "5 zł", "pl", "same"),
    ("5 SEK", "5 kr", "sv", "same"),
    ("5 INR", "₹5", "en", "same"),
    ("5 INR", "Rs. 5", "en", "same"),
    ("$5", "5 CAD", "en", "same"),
    ("5 USD", "C$5", "en", "different"),
    ("5", "$5", "en", "same"),
    ("$5", "5", "en", "not_comparable"),
    ("5 dollars", "US$ 5", "en", "same"),
    ("5 EUR", "5 USD and 6 EUR", "en", "different"),
    ("5 EUR", "EUR 5 USD 6", "en", "same"),
    ("5 USD", "EUR 5 USD 6", "en", "different"),
    ("-$5", "-5 dollars", "en", "same"),
    ("$2.5M", "$2,500,000", "en", "same"),
    ("5 pounds", "£5", "en", "same"),
    ("3 million euros", "3 millions d'euros", "fr", "same"),
]


@pytest.mark.parametrize(("value", "quote", "language", "answer"), CASES)
def test_the_quote_holds_this_value_or_another(value, quote, language, answer):
    assert compared(value, Passage(quote, language=language)).answer == answer
