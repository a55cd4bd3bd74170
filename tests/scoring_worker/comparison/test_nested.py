"""Lists and objects: every part counts, and the parts belong together."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Question
from safepassage.scoring_worker.comparison.nested.objects import as_one_value
from safepassage.scoring_worker.comparison.nested.parts import (
    MAX_DEPTH,
    MAX_FINDINGS,
    MAX_PARTS,
    MAX_PLACES,
)


def asked(value, quote, entity_type="Record"):
    return compare(Question(entity_type, value, Passage(quote)))


def codes(comparison):
    return [finding.code for finding in comparison.findings]


@pytest.mark.parametrize(
    ("value", "quote", "answer"),
    [
        (["red", "blue"], "Colours: red, green and blue", "same"),
        (["red", "pink"], "Colours: red and blue", "different"),
        ([3, 5], "rooms 3 and 5", "same"),
        ([3, 6], "rooms 3 and 5", "different"),
        ({"street": "Elm St 4", "city": "Leeds"}, "Elm St 4\nLeeds", "same"),
        ({"amount": 40, "currency": "EUR"}, "EUR 40.00 in all", "same"),
        ({"amount": 40, "currency": "USD"}, "EUR 40.00 in all", "different"),
        ({"first_name": "Ada", "last_name": "Moss"}, "signed by Ada Moss", "same"),
        ({"jahr": 2020, "monat": 5, "tag": 4}, "am 4. Mai 2020 unterzeichnet", "same"),
        ({"dose": {"value": 5, "unit": "mg"}, "drug": "rumol"}, "rumol 5 mg daily", "same"),
        ([{"name": "nut", "size": 4}, {"name": "bolt", "size": 6}], "nut 4\nbolt 6", "same"),
    ],
)
def test_part_by_part(value, quote, answer):
    assert asked(value, quote).answer == answer


def test_the_part_that_differs_is_named():
    compared = asked({"colour": "red", "size": 44}, "a red shirt, size 42")
    assert codes(compared)[0] == "part_differs"
    assert compared.findings[0].detail == "size"
    listed = asked(["red", {"size": 44}], "red, size 42")
    assert listed.findings[0].detail.startswith("element 2")


def test_what_the_quote_lists_instead_is_a_rival():
    quote = "Colours: red and blue"
    compared = asked(["red", "pink"], quote)
    assert [quote[p.start : p.end] for p in compared.rivals] == ["blue"]
    assert "listed_instead" in codes(compared)


def test_field_names_need_not_stand_in_the_quote():
    assert asked({"supplier_reference": "X-1234", "n": 3}, "3 pieces of X-1234").answer == "same"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ({"item": "lamp", "price": "9.00"}, "chair 4.00, lamp 2.00, desk 9.00"),
        ({"employer": "Zeta", "title": "Clerk"}, "Clerk at Acme; Driver at Zeta"),
        ({"role": "buyer", "name": "Tom Fry"}, "Buyer: Ann Roe. Seller: Tom Fry."),
        ({"item": "size 4 nut", "count": 4}, "2 x size 4 nut"),
    ],
)
def test_fields_of_different_records_are_no_object(value, quote):
    assert asked(value, quote).answer == "different"


def test_nulls_count_for_nothing():
    assert asked({"name": "lamp", "price": None, "notes": []}, "a lamp").answer == "same"
    assert asked(["lamp", None, ""], "a lamp").answer == "same"


@pytest.mark.parametrize(
    ("fields", "whole"),
    [
        ({"last": "Moss", "first": "Ada"}, "Ada Moss"),
        ({"Vorname": "Ada", "Nachname": "Moss", "Anrede": "Dr."}, "Dr. Ada Moss"),
        ({"value": 5, "unit": "kg"}, "5 kg"),
        ({"mes": 5, "año": 2020}, {"year": 2020, "month": 5}),
        ({"first": "Ada"}, None),
        ({"value": {"n": 5}, "unit": "kg"}, None),
        ({"value": 5, "amount": 6}, None),
    ],
)
def test_objects_that_are_one_value(fields, whole):
    assert as_one_value(fields) == whole


def test_depth_and_number_of_parts_are_bounded():
    deep: object = "lamp"
    for _ in range(500):
        deep = [deep]
    assert asked(deep, "a lamp").answer == "not_comparable"
    wide = asked([f"lamp {n}" for n in range(5_000)], "a lamp")
    assert "too_many_parts" in codes(wide)
    assert len(wide.findings) <= MAX_FINDINGS
    assert len(wide.places) <= MAX_PLACES
    branching: object = "lamp"
    for _ in range(MAX_DEPTH):
        branching = {f"f{n}": branching for n in range(6)}
    assert asked(branching, "a lamp").answer == "not_comparable"
    assert MAX_PARTS < 1_000


ROE, LEE = {"name": "Ann Roe", "side": "Seller"}, {"name": "Bo Lee", "side": "Buyer"}
PAIRED = [
    "Ann Roe, Seller; Bo Lee, Buyer",
    "Present: Ann Roe (Seller), Bo Lee (Buyer)",
    "Name  Side\nAnn Roe  Seller\nBo Lee  Buyer",
    "Seller\nAnn Roe\nMax Orr\n\nBuyer\nBo Lee",
]
PAIRED_IN_PROSE = [
    "Ann Roe signed for the Seller and Bo Lee for the Buyer.",
    "Ann Roe, who signs for the Seller, met Bo Lee, who signs for the Buyer.",
    "Seller\nAnn Roe\nBuyer\nBo Lee",
]


@pytest.mark.parametrize("quote", [*PAIRED, *PAIRED_IN_PROSE])
def test_persons_with_their_sides_exchanged_are_other_records(quote):
    exchanged = [{**ROE, "side": "Buyer"}, {**LEE, "side": "Seller"}]
    compared = compare(Question("Signatory", exchanged, Passage(quote)))
    assert compared.answer == "different"
    assert "other_record" in {finding.code for finding in compared.findings}
    assert compare(Question("Signatory", [ROE, LEE], Passage(quote))).answer != "different"


@pytest.mark.parametrize("quote", PAIRED)
def test_one_person_with_the_side_of_another_row_is_another_record(quote):
    asked = Question("Signatory", {**ROE, "side": "Buyer"}, Passage(quote))
    assert compare(asked).answer == "different"
    assert compare(Question("Signatory", ROE, Passage(quote))).answer != "different"


@pytest.mark.parametrize(
    ("value", "quote"),
    [
        ([ROE, LEE], "Ann Roe and Bo Lee, for Seller and Buyer respectively"),
        ([ROE, LEE], "For the Seller signs Ann Roe, and Bo Lee for the Buyer."),
        ({"street": "12 Mill Road", "country": "Wales"}, "12 Mill Road, Ashby\nPowys, Wales"),
        ({"name": "Ann Roe", "side": "Seller"}, "Name   Ann Roe\nSide   Seller"),
    ],
)
def test_fields_that_no_row_parts_are_one_record(value, quote):
    assert compare(Question("Signatory", value, Passage(quote))).answer != "different"
