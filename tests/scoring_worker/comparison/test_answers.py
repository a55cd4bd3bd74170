"""None, yes and no, and one of a closed set."""

from __future__ import annotations

from dataclasses import replace

import pytest

from safepassage.scoring_worker.comparison.answers.absence import absence_of, compare_none
from safepassage.scoring_worker.comparison.answers.category import compare_category
from safepassage.scoring_worker.comparison.answers.truth import compare_truth, truth_of
from safepassage.scoring_worker.comparison.contract import Passage, Question


def truth(entity_type, value, quote, **around):
    question = Question(entity_type, value, Passage(quote, **around))
    return compare_truth(question, truth_of(value))


def none(entity_type, value, quote, **around):
    question = Question(entity_type, value, Passage(quote, **around))
    return compare_none(question, absence_of(value))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, True),
        ("Yes", True),
        ("nein", False),
        ("sí", True),
        ("0", None),
        (1, None),
        ("S", None),
    ],
)
def test_yes_and_no_in_any_language(value, said):
    assert truth_of(value) is said


@pytest.mark.parametrize(
    ("entity_type", "value", "quote", "answer"),
    [
        ("Smoker", "no", "Smoker: no", "same"),
        ("Smoker", True, "Smoker: no\nDrinks: yes", "different"),
        ("Drinks", True, "Smoker: no\nDrinks: yes", "same"),
        ("Raucher", "ja", "Raucher | nein", "different"),
        ("Pets Allowed", "yes", "Pets are not allowed.", "different"),
        ("Pets Allowed", "no", "Pets are not allowed.", "same"),
        ("Pets Allowed", "yes", "Pets may be kept in the garden.", "not_comparable"),
        ("Assignable", "yes", "It may not be assigned without consent.", "not_comparable"),
        ("Non-Compete", "yes", "He shall not compete.", "not_comparable"),
        ("Consent", True, "Consent: ☑", "same"),
    ],
)
def test_yes_or_no(entity_type, value, quote, answer):
    assert truth(entity_type, value, quote).answer == answer


def test_the_heading_of_a_table_s_column_is_a_label():
    assert truth("Smoker", "yes", "no", heading="Smoker").answer == "different"


@pytest.mark.parametrize(
    ("value", "absence"),
    [
        (None, "either"), ([], "either"), ({}, "either"), ("", "either"), ([None, ""], "either"),
        ({"a": None, "b": []}, "either"), ("N/A", "either"), ("none", "none"), ("Keine", "none"),
        ("not stated", "unstated"), ("unbekannt", "unstated"), ("no", None), ("aspirin", None),
        ([0], None), (False, None), (0, None),
    ],
)  # fmt: skip
def test_kinds_of_none(value, absence):
    assert absence_of(value) == absence


@pytest.mark.parametrize(
    ("value", "quote", "answer"),
    [
        ([], "Allergies: none known.", "same"),
        ("none", "Allergies: none known.", "same"),
        ("none", "No known allergies.", "same"),
        (None, "Allergies: unknown", "same"),
        ("none", "Allergies: unknown", "different"),
        ("unknown", "Allergies: none", "different"),
        ([], "Allergies: latex", "different"),
        ([], "Temp 37.2", "not_comparable"),
        ("none", "Allergien: keine", "same"),
    ],
)
def test_three_kinds_of_none(value, quote, answer):
    entity_type = "Allergien" if "Allergien" in quote else "Allergies"
    assert none(entity_type, value, quote).answer == answer


def test_a_stated_value_is_a_rival_of_none():
    compared = none("Allergies", [], "Allergies: latex. Drugs: none.")
    assert [f.code for f in compared.findings] == ["value_is_stated"]
    (rival,) = compared.rivals
    assert "Allergies: latex. Drugs: none."[rival.start : rival.end] == "latex"


def test_one_of_the_allowed_values():
    allowed = ("full_time", "part_time", "temporary")
    quote = "This is a part-time position."

    def chosen(value):
        question = Question("Contract", value, Passage(quote), allowed=allowed)
        return compare_category(question, value)

    assert chosen("part_time").answer == "same"
    other = chosen("full_time")
    assert other.answer == "different"
    assert quote[other.rivals[0].start : other.rivals[0].end] == "part-time"
    assert chosen("weekly") is None
    silent = Question("Contract", "temporary", Passage("hi"), allowed=allowed)
    assert compare_category(silent, "temporary") is None
    assert chosen("Part Time").answer == "same"


def test_a_value_within_another_is_not_said():
    question = Question("Sex", "male", Passage("A male-to-female transition."))
    question = replace(question, allowed=("male", "female"))
    assert compare_category(question, "male").answer == "same"
    question = Question("Access", "public", Passage("It is not public but closed."))
    question = replace(question, allowed=("public", "closed"))
    assert compare_category(question, "public").answer == "different"
