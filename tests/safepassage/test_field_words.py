"""Which words of the document name a value's field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage import Extraction, Verifier
from safepassage.field_words import field_words
from safepassage.schemas import CLAIM_TYPE, Verdict

LEASE = "LEASE OF FLAT 2\n\nThe monthly rents are £900. The deposit is £2,500 and is held.\n"
TABLE = "Item        Sum\nDeposit     2,500\nRent        900\n"


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier("words")


def judged(verifier: Verifier, text: str, entity_type: str, value: str, quote: str) -> Verdict:
    return verifier.verify(text, [Extraction(type=entity_type, value=value, quote=quote)]).verdicts[
        0
    ]


def words(verdict: Verdict) -> list[str]:
    return [span.text for span in field_words(verdict)]


def test_words_of_the_type_in_any_form(verifier: Verifier):
    verdict = judged(verifier, LEASE, "Monthly Rent", "£900", "The monthly rents are £900.")
    assert words(verdict) == ["monthly rents"]
    assert LEASE[field_words(verdict)[0].start :].startswith("monthly rents")


def test_a_quote_of_the_value_alone_is_named_by_its_sentence(verifier: Verifier):
    assert words(judged(verifier, LEASE, "Deposit", "£2,500", "£2,500 and is held")) == ["deposit"]


def test_the_label_of_a_row_names_a_field_of_another_name(verifier: Verifier):
    found = words(judged(verifier, TABLE, "Security", "2,500", "2,500"))
    assert "Deposit" in found


def test_nothing_names_what_only_the_sense_tells(verifier: Verifier):
    text = "She was born in Leeds and lives in York with him."
    assert words(judged(verifier, text, "Domicile", "York", "lives in York with him")) == []


def test_neither_a_claim_nor_a_lost_quote_has_a_field(verifier: Verifier):
    claim = verifier.claims([LEASE], "The monthly rent is £900.").verdicts[0]
    assert claim.entity_type == CLAIM_TYPE
    assert words(claim) == []
    assert words(judged(verifier, LEASE, "Rent", "£1", "Rent of one pound to be paid weekly")) == []


@given(st.text(alphabet="rent of£9 \n|:", min_size=1, max_size=60))
def test_every_span_is_a_slice_of_the_document(text: str):
    verdict = judged(Verifier("words"), text, "Rent of", "9", text)
    spans = field_words(verdict)
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
