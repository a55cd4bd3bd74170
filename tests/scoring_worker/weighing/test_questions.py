"""What comparator and reader are asked of a pair."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepassage.schemas import CLAIM_TYPE, SchemaField, hypothesis
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.weighing.questions import MAX_PARTS, parts_of, text_of


def pair(premise: str, kind: str, value: object, **more: object) -> Pair:
    return Pair(premise, hypothesis(kind, value), kind, value, **more)  # type: ignore[arg-type]


def test_a_plain_value_is_one_part_asked_by_its_type() -> None:
    (part,) = parts_of(pair("Tenant: Maria Lopez", "Tenant", "Maria Lopez"))
    assert part.question is not None
    assert part.question.asked == "Tenant"
    assert part.claim.asked == "Tenant: Maria Lopez"
    (place,) = part.comparison.places
    assert "Tenant: Maria Lopez"[place.start : place.end] == "Maria Lopez"


def test_the_schema_is_part_of_the_question() -> None:
    field = SchemaField(description="maximum daily dose for hypertension", unit="mg")
    (part,) = parts_of(pair("up to 10 mg", "Dose", "10 mg", field=field))
    assert part.question is not None
    assert part.question.asked == "Dose: maximum daily dose for hypertension (mg)"


def test_the_quote_is_found_again_between_its_surroundings() -> None:
    asked = pair("a citizen", "Status", "citizen", before="is not ", after=" of Iran.", heading="A")
    text, shift = text_of(asked)
    assert text == "A\nis not a citizen of Iran."
    assert text[shift : shift + len("a citizen")] == "a citizen"


@pytest.mark.parametrize(
    ("premise", "clause"),
    [
        ("Rent 900; deposit £2,500; notice 2 months", " deposit £2,500"),
        ("Paid 1.5 of 2.0. The deposit is £2,500. It is held.", " The deposit is £2,500"),
        ("Rent | £900 | £2,500 | 4\nTotal | £3,400", " £2,500 "),
        ("家賃は九万円。敷金は£2,500。以上。", "敷金は£2,500"),
        ("£2,500", " £2,500"),
    ],
)
def test_the_clause_is_what_the_value_itself_stands_in(premise: str, clause: str) -> None:
    (part,) = parts_of(pair(premise, "Deposit", "£2,500", before="Before. ", heading="H"))
    assert part.clause is not None
    assert part.clause.asked == "Deposit"
    assert part.clause.passage == clause
    assert part.question is not None
    assert part.question.passage[part.clause_start :].startswith(clause)


def test_a_value_that_stands_nowhere_has_no_clause() -> None:
    (part,) = parts_of(pair("The agent holds it.", "Deposit", "£2,500"))
    assert part.clause is None


def test_every_element_of_a_list_is_asked_for() -> None:
    parts = parts_of(pair("Skills: Rust, Go and Python", "Skill", ["Rust", "Python"]))
    assert [part.asked.value for part in parts] == ["Rust", "Python"]
    assert {part.question.asked for part in parts if part.question} == {"Skill"}


def test_names_of_fields_are_roles_and_never_words_of_the_value() -> None:
    value = {"drug": "ramipril", "daily_dose": "5 mg"}
    parts = parts_of(pair("ramipril 5 mg once daily", "Medication", value))
    assert [part.question.asked for part in parts if part.question] == [
        "Medication Drug",
        "Medication Daily Dose",
    ]
    assert [part.asked.value for part in parts] == ["ramipril", "5 mg"]


def test_a_date_and_a_name_in_fields_are_one_value() -> None:
    for kind, value in (
        ("Hearing Date", {"yyyy": 2012, "mm": 1, "dd": 17}),
        ("Judge", {"first": "Ann", "last": "Lee"}),
    ):
        assert len(parts_of(pair("Ann Lee, 17 January 2012", kind, value))) == 1


def test_a_claim_has_no_question() -> None:
    (part,) = parts_of(pair("The rent is due.", CLAIM_TYPE, "The rent is due."))
    assert part.question is None
    assert part.claim.asked == "The rent is due."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None)  # the first comparison loads tables
@given(JSON, st.text(max_size=60))
def test_any_value_has_parts_and_not_too_many(value: object, premise: str) -> None:
    assert 1 <= len(parts_of(pair(premise, "Type", value))) <= MAX_PARTS


def test_a_value_of_too_many_parts_stays_whole() -> None:
    assert len(parts_of(pair("a", "Type", [str(at) for at in range(MAX_PARTS + 1)]))) == 1


def test_fields_of_two_records_differ_though_each_stands_in_the_quote() -> None:
    quote = "Engineer at Acme; Manager at Globex"
    (part,) = parts_of(pair(quote, "Job", {"employer": "Globex", "title": "Engineer"}))
    assert part.comparison.answer == "different"
    parts = parts_of(pair(quote, "Job", {"employer": "Globex", "title": "Manager"}))
    assert [one.comparison.answer for one in parts] == ["same", "same"]


def test_what_an_elided_quote_leaves_out_reaches_the_comparators() -> None:
    asked = pair("He is … a citizen of Iran", "Citizenship", "Iran", between=("not",))
    (part,) = parts_of(asked)
    assert part.comparison.answer == "different"


def test_that_there_is_none_is_asked_in_the_words_of_the_quote() -> None:
    for value in ("None", None, []):
        (part,) = parts_of(pair("Pets: none known", "Pets", value))
        assert part.claim.asked == "Pets: none known"
        assert "short_value" not in part.known
    (denied,) = parts_of(pair("She has no pets.", "Pets", "None"))
    assert denied.claim.asked == "Pets: None"


def test_a_no_that_the_quote_denies_is_asked_as_a_statement() -> None:
    (denied,) = parts_of(pair("Pets are not allowed.", "Pets Allowed", "no"))
    assert denied.comparison.answer == "same"
    assert not denied.comparison.places
    assert "placed" not in denied.known
    (answered,) = parts_of(pair("Remote work: no", "Remote work", "no"))
    assert answered.comparison.places
    (given,) = parts_of(pair("Pets are allowed.", "Pets Allowed", "no"))
    assert given.comparison.answer == "not_comparable"
    assert given.comparison.places


APART = "Petra Lang signs for the Supplier, Halden GmbH. The Customer is represented by Ola Berg."


@pytest.mark.parametrize(
    ("quote", "value", "statements"),
    [
        (APART, {"name": "Petra Lang", "side": "Customer"}, 1),
        (APART, {"name": "Petra Lang", "side": "Supplier"}, 0),  # one sentence
        (
            "Name: Petra Lang\nSide: Customer",
            {"name": "Petra Lang", "side": "Customer"},
            0,
        ),  # a form
        ("Petra Lang | Leeds | Customer", {"name": "Petra Lang", "side": "Customer"}, 0),  # a row
        (APART, {"name": "Petra Lang", "side": "witness"}, 0),  # not in the quote
        (APART, {"name": ["Petra Lang", "Ola Berg"], "firm": "Halden GmbH"}, 0),  # several persons
    ],
)
def test_an_object_whose_parts_are_said_apart_is_asked_as_one_statement(quote, value, statements):
    parts = parts_of(pair(quote, "Signatory", value))
    whole = [part for part in parts if part.asked.value == value]
    assert len(whole) == statements
    for part in whole:
        assert not part.comparison.places, "so the statement is read"
        assert part.claim.asked == hypothesis("Signatory", value)
