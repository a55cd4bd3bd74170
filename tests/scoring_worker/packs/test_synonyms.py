"""A pack knows other names of a value, and what a decision's quote has to have."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Question
from safepassage.scoring_worker.packs.registry import packs_named, with_packs


def judged(entity_type: str, value: object, quote: str, *packs: str) -> Comparison:
    passage = Passage(quote, language="en")
    question = Question(entity_type, value, passage, words="reader")  # type: ignore[arg-type]
    return with_packs(packs_named(packs), question, compare(question))[0]


@pytest.mark.parametrize(
    ("entity_type", "value", "quote", "place"),
    [
        ("GPE", "United States", "a citizen of the U.S. since then", "U.S"),
        ("Organization", "Refugee Protection Division", "sent to the RPD again", "RPD"),
        ("Organization", "Canada Border Services Agency", "an officer of CBSA said", "CBSA"),
    ],
)
def test_another_name_is_found_where_the_pack_knows_it(
    entity_type: str, value: str, quote: str, place: str
) -> None:
    compared = judged(entity_type, value, quote, "legal")
    assert compared.answer == "same"
    assert [quote[p.start : p.end] for p in compared.places] == [place]
    assert judged(entity_type, value, quote).answer == "not_comparable"


@pytest.mark.parametrize("quote", ["they told us so", "THE HEARING WAS HELD ON MONDAY"])
def test_a_word_is_no_place(quote: str) -> None:
    assert judged("GPE", "United States", quote, "legal").answer != "same"
    assert judged("Province", "Ontario", quote, "legal").answer != "same"


@pytest.mark.parametrize(
    ("entity_type", "value", "quote"),
    [
        ("GPE", "Bangui", "the situation was tense there"),
        ("Counsel", "N/A", "Counsel for the Minister N/A"),
        ("Date", {"yyyy": 2000, "mm": 1, "dd": 22}, "he left on XXXXX 22, 2000"),
        ("Date", {"yyyy": 1995, "mm": 1}, "in early 1995, she was hired"),
    ],
)
def test_a_decision_is_quoted_with_the_value_itself(
    entity_type: str, value: object, quote: str
) -> None:
    assert judged(entity_type, value, quote, "legal").answer == "different"
    assert judged(entity_type, value, quote).answer != "different"


def test_what_a_pack_knows_in_other_words_is_not_stopped_for_its_words() -> None:
    passage = Passage("The parties attended the hearing by videoconference.", language="en")
    question = Question("Hearing Type", "Virtual", passage)
    assert compare(question).answer == "different"
    judged_by_pack, _ = with_packs(packs_named(["legal"]), question, compare(question))
    assert judged_by_pack.answer != "different"
