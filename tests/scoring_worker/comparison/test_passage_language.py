"""The language of a passage beside that of its document."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.scoring_worker.comparison.passage_language import with_language


@pytest.mark.parametrize(
    ("quote", "told", "spoken"),
    [
        ("1. Mai 2000 - 2. Mai 2000", "de", "de"),  # a month, and no Italian "never"
        ("mai mult de 5 kg, mai bine", "ro", "ro"),  # one word, twice
        ("9 275 kilometra na godzinę", "pl", "pl"),
        ("Die Miete beträgt 500 Euro und wird monatlich bezahlt.", "en", "de"),
        ("non è mai stato pagato il 5 maggio", None, "it"),
    ],
)
def test_the_language_of_a_document_stands_unless_the_passage_is_clearly_in_another(
    quote: str, told: str | None, spoken: str
) -> None:
    assert with_language(Passage(quote, language=told)).language == spoken


@pytest.mark.parametrize("language", ["de", "fr", "ro", None])
@pytest.mark.parametrize("quote", ["1 mai 2000 - 2 mai 2000", "1. Mai - 2. Mai 2000"])
def test_the_month_of_a_date_denies_nothing(quote: str, language: str | None) -> None:
    found = compare(Question("Valid Until", "2000-05-02", Passage(quote, language=language)))
    assert found.answer == "same"
    assert not found.findings


def test_the_same_word_denies_elsewhere() -> None:
    passage = Passage("L'acconto non è stato versato, mai 500 euro", language="it")
    assert compare(Question("Acconto", "500 euro", passage)).answer == "different"


def test_conversions_are_read_where_a_word_of_the_unit_is_of_another_language() -> None:
    passage = Passage("425.325,4 kilometer i timen", language="da")
    assert compare(Question("Fart", "425325.4 km/h", passage)).answer == "same"
