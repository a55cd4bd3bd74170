"""CLDR's data of a language: how it spells and writes numbers."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison.cldr_spellout import (
    CARDINAL,
    COUNT,
    ORDINAL,
    YEAR,
    spellings,
)
from safepassage.scoring_worker.comparison.dates import dates_in
from safepassage.scoring_worker.comparison.figures.search import figures_in
from safepassage.scoring_worker.comparison.locales import locale_of, number_symbol


def test_a_number_is_spelt_in_every_gender():
    assert {"ein", "eine", "einen"} <= set(spellings("de", 1, CARDINAL))
    assert spellings("en", 1999, YEAR) == ["nineteen ninety-nine"]
    assert "two thousand and twelve" not in spellings("en", 2012, COUNT)


@pytest.mark.parametrize(
    ("language", "number", "kind"), [("ta", 21, ORDINAL), ("su", 10**12, CARDINAL)]
)
def test_a_number_without_a_rule_has_no_spelling(language, number, kind):
    assert spellings(language, number, kind) == []


@pytest.mark.parametrize("language", ["ta", "su"])
def test_a_language_that_lacks_rules_for_some_numbers_is_read(language):
    assert len(figures_in("12 kg, 5 May 2012", language)) >= 2
    assert dates_in("5 May 2012", language)[0].parts == (2012, 5, 5)


@pytest.mark.parametrize("unknown", [None, "", "xx", "..", "english", "en-XX-YY-ZZ", "e" * 50])
def test_an_unknown_code_has_no_locale(unknown):
    assert locale_of(unknown) is None
    assert number_symbol(unknown, "decimal") == ""


def test_a_territory_may_follow_the_language():
    assert number_symbol("de", "decimal") == ","
    assert number_symbol("de-CH", "decimal") == "."
