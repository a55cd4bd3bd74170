"""Identifiers in a quote: whole, or another one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from safepassage.scoring_worker.comparison.contract import Passage
from safepassage.scoring_worker.comparison.identifiers.comparator import (
    asks_for_identifier,
    compare_identifiers,
    identifier_of,
)


@pytest.mark.parametrize(
    ("value", "entity_type", "form"),
    [
        ("DE89370400440532013000", "IBAN", "iban"),
        ("DE89 3704 0044 0532 0130 00", "Account", "iban"),
        ("INV-2021-001", "Invoice Number", "code"),
        ("INV-2021-001", "Document", "code"),
        ("0042", "Case Number", "code"),
        ("0042", "caseNumber", "code"),
        ("42", "Number of Pages", None),
        ("42", "Amount", None),
        ("15mg", "Dose", None),
        ("10.53g", "Weight", None),
        ("18,252.01 EUR", "VAT Amount", None),
        ("October, 2008", "Release date of ISBN 1-933305-92-4", None),
        ("2021-05-04", "Date", None),
        ("bob@example.com", "Contact", "email"),
        ("https://example.com/a", "Source", "url"),
        ("example.com", "Website", "url"),
        ("192.168.0.1", "Host", "ip"),
        ("+49 30 1234567", "Contact", "phone"),
        ("030 1234567", "Telefon", "phone"),
        ("978-3-16-148410-0", "Book", "isbn"),
        ("John Smith", "Person", None),
        ("", "Invoice Number", None),
    ],
)
def test_what_is_an_identifier(value: str, entity_type: str, form: str | None) -> None:
    found = identifier_of(value, entity_type)
    assert (found.form if found else None) == form


@pytest.mark.parametrize(
    ("value", "quote", "entity_type", "answer"),
    [
        ("DE89370400440532013000", "IBAN DE89 3704 0044 0532 0130 00", "IBAN", "same"),
        ("INV-2021-001", "Your invoice INV-2021-0013 of 4 May", "Invoice Number", "different"),
        ("INV-2021-001", "Your invoice INV 2021/001.", "Invoice Number", "same"),
        ("INV-2021-0O1", "Your invoice INV-2021-001.", "Invoice Number", "different"),
        ("77120", "Member ID: A-77120", "Member ID", "different"),
        ("77120", "Member No.77120", "Member ID", "same"),
        ("77120", "member-77120", "Member ID", "same"),
        ("001", "number 01", "Case Number", "different"),
        ("DE8937040044", "IBAN DE89 3704 0044 0532 0130 00", "IBAN", "not_comparable"),
        ("AB 12 CDE", "Reg. AB12CDE", "Plate", "same"),
        ("4711", "請求書番号４７１１です", "番号", "same"),
        ("bob@example.com", "Write to Bob@Example.com.", "Email", "same"),
        ("bob@example.com", "Write to jbob@example.com.", "Email", "different"),
        ("bob@example.com", "Write to bob@example.com.au.", "Email", "different"),
        ("example.com", "see https://www.example.com/", "Website", "same"),
        ("https://example.com/a", "see https://example.com/ab", "Website", "different"),
        ("192.168.0.1", "host 192.168.0.11", "Host", "different"),
        ("192.168.0.1", "host 192.168.0.1, port 80", "Host", "same"),
        ("+49 30 1234567", "Tel. 030/1234567", "Phone", "same"),
        ("+49 30 1234567", "Tel. +49 (0)30 123 45 67", "Phone", "same"),
        ("+49 30 1234567", "Tel. +49 30 1234568", "Phone", "different"),
        ("+49 30 1234567", "Tel. +43 30 1234567", "Phone", "different"),
        ("1234567", "Tel. +49 30 1234567", "Phone", "not_comparable"),
        ("0-306-40615-2", "ISBN 978-0-306-40615-7", "ISBN", "same"),
        ("4111 1111 1111 1111", "card **** 1111", "Card Number", "not_comparable"),
        ("INV-1", "nothing here", "Invoice Number", "different"),
    ],
)
def test_only_the_whole_identifier_is_the_same(
    value: str, quote: str, entity_type: str, answer: str
) -> None:
    assert compare_identifiers(value, Passage(quote), entity_type).answer == answer


def test_a_wrong_check_digit_is_seen_and_not_refused() -> None:
    found = compare_identifiers(
        "DE88370400440532013000", Passage("IBAN DE88 3704 0044 0532 0130 00"), "IBAN"
    )
    assert found.answer == "same"
    assert [finding.code for finding in found.findings] == ["check_digit"]


def test_the_place_holds_the_separators_of_the_quote() -> None:
    quote = "IBAN DE89 3704 0044 0532 0130 00, BIC X"
    found = compare_identifiers("DE89370400440532013000", Passage(quote), "IBAN")
    place = found.places[0]
    assert quote[place.start : place.end] == "DE89 3704 0044 0532 0130 00"


def test_an_identifier_beside_the_quote_is_not_quoted() -> None:
    passage = Passage("of 4 May", before="Your invoice INV-2021-001 ")
    found = compare_identifiers("INV-2021-001", passage, "Invoice Number")
    assert found.answer != "same"
    assert "outside_quote" in [finding.code for finding in found.findings]


@pytest.mark.parametrize("asked", ["Invoice No", "invoice_number", "Aktenzeichen", "番号", "SKU"])
def test_types_that_ask_for_identifiers(asked: str) -> None:
    assert asks_for_identifier(asked)


@pytest.mark.parametrize("asked", ["Number of Pages", "Amount", "Person", ""])
def test_types_that_do_not(asked: str) -> None:
    assert not asks_for_identifier(asked)


WRITTEN = st.from_regex(r"[A-W]{1,4}-[0-9]{2,4}-[0-9]{2,6}|[A-W]{2}[0-9]{5,12}", fullmatch=True)
AROUND = st.sampled_from(
    [("", ""), ("No. ", "."), ("(", ")"), ("Invoice: ", ", due 4 May"), ("号", "号")]
)


@settings(deadline=None)
@given(WRITTEN, AROUND)
def test_an_identifier_is_found_with_other_separators(
    identifier: str, around: tuple[str, str]
) -> None:
    before, after = around
    for written in (identifier, identifier.replace("-", " "), identifier.replace("-", "/")):
        quote = f"{before}{written}{after}"
        found = compare_identifiers(identifier, Passage(quote), "Invoice Number")
        assert found.answer == "same"
        assert quote[found.places[0].start : found.places[0].end] == written


@settings(deadline=None)
@given(WRITTEN, AROUND, st.data())
def test_an_identifier_with_a_character_cut_or_changed_is_different(
    identifier: str, around: tuple[str, str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(identifier) - 1))
    put = data.draw(st.sampled_from(["", *"0123456789ABXO"]))
    assume(identifier[at] not in {"-", put})
    cut = f"{identifier[:at]}{put}{identifier[at + 1 :]}"
    quote = f"{around[0]}{identifier}{around[1]}"
    found = compare_identifiers(cut, Passage(quote), "Invoice Number")
    assert found.answer == "different"
    assert found.rivals


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=300), st.text(max_size=40))
def test_any_text_is_compared_without_an_error(value: str, quote: str, asked: str) -> None:
    identifier_of(value, asked)
    found = compare_identifiers(value, Passage(quote, before=quote, heading=asked), asked)
    for place in (*found.places, *found.rivals):
        assert 0 <= place.start < place.end <= len(quote)
