"""Rivals: bounded, the same from both sides, and the decision that rests on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from safepassage.schemas import (
    AlignedExtraction,
    AlignedRival,
    Alignment,
    Assessment,
    Conflict,
    Document,
    Extraction,
    Rival,
    SchemaField,
    Span,
    judge,
    verdict_id,
)
from safepassage.schemas.extraction import MAX_RIVAL_CONTEXT, MAX_RIVALS
from safepassage.schemas.memory import MemoryTrail
from safepassage.schemas.rivals import reads_alike, with_rivals

SINGLE = SchemaField(name="tenant", single=True)
REF = Document(id="d", text="Ann or Bob").ref()
ALIGNMENT = Alignment(
    score=1.0,
    matches=3,
    length=3,
    unaligned=0,
    threshold=0.6,
    spans=(Span(start=0, end=3, text="Ann"),),
    occurrences=1,
    route="verbatim",
)


def extraction(identity, value, field=SINGLE, **more):
    given = {"id": identity, "doc_id": "d", "entity_type": "Tenant", "context": str(value)}
    return Extraction(value=value, field=field, **{**given, **more})


def aligned(one, *rivals):
    return AlignedExtraction(
        extraction=one,
        document=REF,
        alignment=ALIGNMENT,
        rivals=tuple(AlignedRival(id=rival, alignment=ALIGNMENT) for rival in rivals),
    )


def said(score=0.9, failure=None):
    measured = {"failure": failure} if failure else {"score": score, "threshold": 0.5}
    return Assessment(scorer="s", revision="r", **measured)


def test_another_value_of_a_single_field_is_a_rival_on_both_sides():
    one, other = with_rivals([extraction("a", "Ann"), extraction("b", "Bob")])
    assert one.rivals == (Rival(id="b", value="Bob", context="Bob"),)
    assert other.rivals == (Rival(id="a", value="Ann", context="Ann"),)


@pytest.mark.parametrize(
    "other",
    [
        extraction("b", " ANN "),
        extraction("b", "Bob", SchemaField(name="tenant", single=False)),
        extraction("b", "Bob", None),
        extraction("b", "Bob", SchemaField(name="landlord", single=True)),
        extraction("b", "Bob", entity_type="Landlord"),
        extraction("b", "Bob", doc_id="e"),
    ],
)
def test_the_same_value_and_another_field_document_or_list_are_no_rivals(other):
    found = with_rivals([extraction("a", "Ann"), other])
    assert found == [extraction("a", "Ann"), other]


def test_a_quote_that_is_too_long_to_copy_contests_nothing():
    long = extraction("b", "Bob", context="x" * (MAX_RIVAL_CONTEXT + 1))
    one, other = with_rivals([extraction("a", "Ann"), long])
    assert one.rivals == ()
    assert len(other.rivals) == 1


@given(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=40))
def test_rivals_are_few_distinct_first_and_found_from_every_side(values):
    given_ = [extraction(str(at), value) for at, value in enumerate(values)]
    found = with_rivals(given_)
    assert [e.model_copy(update={"rivals": ()}) for e in found] == given_
    for one in found:
        others = {value for value in values if not reads_alike(value, one.value)}
        assert len(one.rivals) <= MAX_RIVALS
        rivals = [rival.value for rival in one.rivals]
        assert one.value not in rivals
        assert len(set(rivals)) == min(len(others), MAX_RIVALS)
        assert Extraction.model_validate_json(one.to_json()) == one


class TestDecision:
    """What rivals make of an extraction that would be accepted."""

    ONE, OTHER = with_rivals([extraction("a", "Ann"), extraction("b", "Bob")])
    EVENT = aligned(ONE, "b")

    def judged(self, own, *rivals):
        return judge(self.EVENT, own, list(zip(self.EVENT.contenders, rivals, strict=False)))

    def test_two_that_would_be_accepted_are_conflicting_and_name_each_other(self):
        verdict = self.judged(said(), said())
        assert (verdict.decision, verdict.reasons) == ("quarantined", ("conflicting",))
        assert verdict.conflicts == (Conflict(extraction_id="b", value="Bob"),)
        assert [(f.code, f.detail) for f in verdict.findings] == [("conflicts_with", "b: Bob")]
        assert verdict.score == 0.9

    def test_a_rival_that_is_not_supported_is_none(self):
        assert self.judged(said(), said(0.1)).decision == "accepted"

    def test_what_is_unsafe_anyway_keeps_its_own_reason(self):
        assert self.judged(said(0.1), said()).reasons == ("unsupported",)

    def test_a_rival_that_could_not_be_judged_lets_nothing_pass(self):
        verdict = self.judged(said(), said(failure="scorer_timeout"))
        assert (verdict.decision, verdict.reasons) == ("undetermined", ("scorer_timeout",))
        assert verdict.findings[0].code == "rival_not_judged"

    def test_rivals_are_part_of_the_verdicts_id_and_travel_on_the_event(self):
        plain = extraction("a", "Ann")
        assert verdict_id(plain, REF, "r") != verdict_id(self.ONE, REF, "r")
        again = AlignedExtraction.model_validate_json(self.EVENT.to_json())
        assert again.contenders == self.EVENT.contenders
        assert again.contenders[0].extraction.value == "Bob"
        assert b'"rivals"' not in aligned(plain).to_json()

    def test_an_aligned_rival_is_one_of_the_extractions(self):
        with pytest.raises(ValidationError):
            aligned(self.ONE, "c")


def test_a_memory_that_rivals_were_judged_by_is_named_and_part_of_the_id():
    one, other = aligned(extraction("a", "Ann")), aligned(extraction("b", "Bob"))
    trail = MemoryTrail(snapshot="0123456789abcdef", shift=1.5)
    remembered = said(0.1).model_copy(update={"memory": trail})
    plain = judge(one, said(), [(other, said(0.1))])
    made = judge(one, said(), [(other, remembered)])
    assert plain.memory is None
    assert made.memory == MemoryTrail(snapshot=trail.snapshot, shift=0.0)
    assert made.id != plain.id
    assert judge(one, remembered).memory == trail
