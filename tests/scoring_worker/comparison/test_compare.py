"""`compare`: the kind is decided by the value, and nothing raises."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.schemas import SchemaField
from safepassage.schemas.schema_field import MAX_ALLOWED
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.scoring_worker.comparison.nested.parts import MAX_FINDINGS
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.training.stacking import ADVERSE, SUPPORTIVE
from safepassage.scoring_worker.weighing.features import general_features
from safepassage.scoring_worker.weighing.questions import parts_of

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
        ("Claim", "It costs 5 euros.", "It costs 6 euros.", "claim", "different"),
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
    assert compare(replace(question, allowed=("female", "male"))).answer == "different"
    assert compare(question).answer != "same"


@pytest.mark.parametrize(
    ("value", "allowed", "held"),
    [
        ("Part Time", ("part_time", "full_time"), True),
        ("PART-TIME", ("part_time", "full_time"), True),
        ("weekly", ("part_time", "full_time"), False),
        ("yes", ("low", "high"), False),
        (True, ("true", "false"), True),
        (True, ("yes", "no"), True),
        (3, ("1", "2"), False),
        (2, ("1", "2.0"), True),
        (["part time"], ("part_time", "full_time"), True),
        (["part time", "weekly"], ("part_time", "full_time"), False),
        (None, ("low", "high"), True),
    ],
)
def test_what_the_schema_does_not_allow_is_different(value, allowed, held):
    quote = "A weekly or part-time position, yes: 3."
    compared = compare(Question("Contract", value, Passage(quote), allowed=allowed))
    refused = [finding for finding in compared.findings if finding.code == "not_allowed"]
    assert bool(refused) is not held
    assert held or compared.answer == "different"


@pytest.mark.parametrize(
    ("value", "unit", "quote", "answer"),
    [
        (350, "EUR", "The rent is £350.", "different"),
        ("350", "EUR", "The rent is £350.", "different"),
        ("£350", "EUR", "The rent is £350.", "different"),
        ([350], "EUR", "The rent is £350.", "different"),
        ({"amount": 350}, "EUR", "The rent is £350.", "different"),
        (350, "EUR", "The rent is €350.", "same"),
        (350, "€", "The rent is 350 euros.", "same"),
        (350, "EUR", "The rent is 350 a month.", "same"),
        (350, "USD", "The rent is $350.", "same"),
        (5, "EUR million", "Revenue was €5 million.", "same"),
        (5, "EUR million", "Revenue was $5 million.", "different"),
        (350, "kg", "It weighs 350 lb.", "different"),
        (350, "kg", "It weighs 350 kg.", "same"),
        (1, "kg", "It weighs 1000 g.", "same"),
        (2, "kg", "It weighs 1000 g.", "different"),
        ("1000 g", "kg", "It weighs 1000 g.", "same"),
        (5, "mg", "5 mg daily", "same"),
        (5, "%", "a share of 5%", "same"),
        (0.05, "%", "a share of 5%", "same"),
        (7, "widgets", "7 lb of widgets", "same"),
        ({"dose": 5, "days": 10}, "mg", "5 mg for 10 days", "same"),
    ],
)
def test_the_schema_s_unit_is_the_value_s(value, unit, quote, answer):
    pair = Pair(quote, "", "Amount", value, field=SchemaField(unit=unit), language="en")
    answers = {part.comparison.answer for part in parts_of(pair)}
    assert answers == {answer}


def test_a_list_of_options_that_may_be_cut_allows_any():
    options = tuple(f"option {n}" for n in range(MAX_ALLOWED))
    pair = Pair("weekly", "", "Contract", "weekly", field=SchemaField(allowed=options))
    assert parts_of(pair)[0].comparison.answer == "same"


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
    assert features.keys() <= SUPPORTIVE | ADVERSE
    assert all(0.0 < feature <= 1.0 for feature in features.values())
