"""Numbers with units: the unit belongs to its number, true conversions are the same."""

import pytest

from safepassage.scoring_worker.comparison.contract import Passage

from .questions import compared

CASES = [
    ("67 years", "aged 67", "en", "not_comparable"),
    ("67 years old", "67-year-old", "en", "same"),
    ("5 mg", "5mg", "en", "same"),
    ("850 mg", "0.85 g", "en", "same"),
    ("5 mg", "5 ml", "en", "different"),
    ("90 min", "1.5 h", "en", "same"),
    ("38.5 °C", "101.3 °F", "en", "same"),
    ("70 kg", "154 lb", "en", "same"),
    ("70 kg", "155 lb", "en", "different"),
    ("120 mmHg", "120 mm Hg", "en", "same"),
    ("5 mg/kg", "5 mg per kg", "en", "same"),
    ("5 mg/kg", "5 mg", "en", "different"),
    ("50 km/h", "50 mph", "en", "different"),
    ("100 mg/dl", "1 g/L", "en", "same"),
    ("5 µg/mL", "5 μg/ml", "en", "same"),
    ("5 mcg", "5 µg", "en", "same"),
    ("5 MG", "5 mg", "en", "same"),
    ("24 months", "two years", "en", "same"),
    ("24 weeks", "two years", "en", "different"),
    ("730 days", "two years", "en", "not_comparable"),
    ("0.4 m²", "0,4 metros²", "pt", "same"),
    ("0.4 m²", "0.4 meters", "en", "different"),
    ("9 ft³", "9 feet³", "en", "same"),
    ("9 ft²", "9 feet³", "en", "different"),
    ("500 mg", "take half a gram twice daily", "en", "same"),
    ("500 mg", "half a tablet of 5 mg", "en", "different"),
    ("half an hour", "it took 30 minutes", "en", "same"),
    ("30 min", "eine halbe Stunde", "de", "same"),
    ("30 min", "une demi-heure", "fr", "same"),
    ("45 min", "media hora", "es", "different"),
    ("5 km", "5 Kilometer", "de", "same"),
    ("5 kg", "5 кг", "ru", "same"),
    ("180 cm", "5 ft 11 in", "en", "same"),
    ("71 in", "5 ft 11 in", "en", "same"),
    ("5 m²", "5 square meters", "en", "same"),
    ("5 pounds", "5 lb", "en", "same"),
    ("67 years", "67", "en", "not_comparable"),
]


@pytest.mark.parametrize(("value", "quote", "language", "answer"), CASES)
def test_the_quote_holds_this_value_or_another(value, quote, language, answer):
    assert compared(value, Passage(quote, language=language)).answer == answer
