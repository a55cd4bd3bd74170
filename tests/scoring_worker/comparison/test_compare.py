"""`compare`: the kind is decided by the value, and nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison import digest
from safepassage.scoring_worker.comparison.compare import MAX_FINDINGS, compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.scoring_worker.comparison.digest import comparison_digest
from safepassage.scoring_worker.weighing.features import general_features, names_of_features

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TYPES = ["Date", "Total", "Name", "X", "Claim", ""]
HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(), st.sampled_from("0123456789.,:;-/ \n()€$%'\"noNOandMay½٣〇\u200b\u202e")
    ),
    max_size=120,
)


def asked(entity_type, value, quote, **around):
    return compare(Question(entity_type, value, Passage(quote, **around)))


@pytest.mark.parametrize(
    ("entity_type", "value", "quote", "kind", "answer"),
    [
        ("Total", "1.234,50 €", "in all EUR 1,234.50", "money", "same"),
        ("Founded", 1987, "founded in 1987", "date", "same"),
        ("Pages", 1987, "all 1987 pages", "number", "same"),
        ("Signed", "2020-05-04", "on 4 May 2020", "date", "same"),
        ("Account Number", "20-30-41", "sort code 20-30-40", "identifier", "different"),
        ("Zip", "02110", "Boston 2110", "identifier", "different"),
        ("Tenant", "Ida Holm", "Tenant: Ida Holm", "name", "same"),
        ("Dose", "5 mg", "15 mg daily", "quantity", "different"),
        ("Allergies", [], "Allergies: none", "none", "same"),
        ("Smoker", False, "Smoker: no", "truth", "same"),
        ("Colours", ["red"], "red", "list", "same"),
        ("Claim", "It costs 5 euros.", "It costs 6 euros.", "claim", "not_comparable"),
    ],
)  # fmt: skip
def test_the_value_decides_the_kind(entity_type, value, quote, kind, answer):
    compared = asked(entity_type, value, quote)
    assert (compared.kind, compared.answer) == (kind, answer)


def test_places_are_of_the_quote_as_given():
    quote = "Ｔｏｔａｌ:\u00a0 1 234,50 €  (ein)"
    (place,) = asked("Total", "1234.50 EUR", quote).places
    assert "1 234,50" in quote[place.start : place.end]


def test_allowed_values_close_the_set():
    question = Question("Sex", "female", Passage("a 67-year-old male"))
    assert compare(question, allowed=("female", "male")).answer == "different"
    assert compare(question).answer != "same"


def test_a_denial_stops_what_a_comparator_found():
    assert asked("Symptom", "fever", "she had no fever").answer == "different"
    assert asked("Symptoms", ["cough", "fever"], "cough but no fever").answer == "different"


@settings(max_examples=150, deadline=None)
@given(HOSTILE, JSON, HOSTILE, HOSTILE, st.sampled_from(TYPES))
def test_nothing_raises_and_everything_is_bounded(quote, value, before, heading, entity_type):
    question = Question(entity_type, value, Passage(quote, before, "", heading))
    compared = compare(question)
    assert len(compared.findings) <= MAX_FINDINGS
    for place in compared.places + compared.rivals:
        assert 0 <= place.start <= place.end <= len(quote)
    features = general_features(question, compared)
    assert features.keys() <= names_of_features().keys()
    assert all(0.0 < feature <= 1.0 for feature in features.values())


def test_the_digest_changes_with_the_packs():
    assert comparison_digest() == comparison_digest(())
    assert len(comparison_digest()) == 8
    assert comparison_digest(("legal",)) != comparison_digest()
    assert comparison_digest(("legal", "contracts")) == comparison_digest(("contracts", "legal"))


@pytest.mark.parametrize("left_out", digest.BESIDE)
def test_the_digest_covers_what_moves_a_score_beside_the_comparison(monkeypatch, left_out):
    whole = digest._digest.__wrapped__(())
    monkeypatch.setattr(digest, "BESIDE", [each for each in digest.BESIDE if each != left_out])
    assert digest._digest.__wrapped__(()) != whole
