"""Recorded findings in the form that a request asks for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from safepassage.agents.extraction.answers import Finding, GenericSchema, UserSchema
from safepassage.agents.extraction.schema_loading import user_schema
from safepassage.schemas import Document, Entity, Extraction
from safepassage.streams.demo.recorded_llm.answers import Unanswerable, answer
from safepassage.streams.demo.recorded_llm.recording import Recording
from tests.recorded_llm.faults import Fault, Faults

JUDGE = Finding("Presiding Judge", "J. Roe", "J. Roe presided")
DATE = Finding("Decision Date", {"yyyy": 2012, "mm": 1, "dd": None}, "January 2012")


class Day(BaseModel):
    yyyy: int
    mm: int | None
    dd: int | None


class DecisionDate(Entity):
    date: Day


class PresidingJudge(Entity):
    name: str


class Sum(Entity):
    entity_type = "Amount Owed"
    amount: float
    currency: str


class Hearing(BaseModel):
    judge: PresidingJudge | None
    rooms: list[str] = []


class Case(BaseModel):
    dates: list[DecisionDate]
    hearing: Hearing
    sums: list[Sum | PresidingJudge] = []
    note: str | None = None


class Strict(BaseModel):
    judge: PresidingJudge


class Needy(BaseModel):
    judges: list[PresidingJudge]
    language: str


class Tree(BaseModel):
    judge: PresidingJudge | None
    left: Tree | None


def _roundtrip(schema: UserSchema, *findings: Finding) -> list[Finding]:
    return [*schema.read(answer(findings, schema.json_schema)).findings]


def test_entities_find_their_place_by_their_type_at_any_depth():
    owed = Finding("Amount Owed", {"amount": 12.5, "currency": "CAD"}, "12.50 CAD")
    assert _roundtrip(user_schema(Case), owed, JUDGE, DATE) == [DATE, JUDGE, owed]


def test_types_that_were_not_asked_for_are_left_out():
    assert _roundtrip(user_schema(Case), Finding("Counsel", "x", "y")) == []


def test_a_value_is_written_as_the_schema_wants_it():
    digits = Finding("Decision Date", {"yyyy": "2012", "mm": "1"}, "c")
    assert _roundtrip(user_schema(Case), digits)[0].value == {"yyyy": 2012, "mm": 1, "dd": None}
    number = Finding("Presiding Judge", 12, "c")
    assert _roundtrip(user_schema(Case), number)[0].value == "12"


@pytest.mark.parametrize(
    ("model", "findings", "message"),
    [
        (Strict, [], "may not be null"),
        (Strict, [JUDGE, JUDGE], "room for one"),
        (Strict, [Finding("Presiding Judge", {"a": 1, "b": 2}, "c")], "no string"),
        (Needy, [JUDGE], "nothing of the field 'language'"),
        (Case, [Finding("Decision Date", "2012", "c")], "no object"),
        (Case, [Finding("Decision Date", {"year": 1}, "c")], "no field 'year'"),
        (Case, [Finding("Amount Owed", 5, "c")], "no object"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_so(model, findings, message):
    with pytest.raises(Unanswerable, match=message):
        answer(findings, user_schema(model).json_schema)


def test_a_schema_without_entities_or_without_end_cannot_be_answered():
    with pytest.raises(Unanswerable, match="no object with a context"):
        answer([JUDGE], {"type": "object", "properties": {}})
    with pytest.raises(Unanswerable, match="contains itself"):
        answer([JUDGE], user_schema(Tree).json_schema)


json_values = st.recursive(
    st.booleans() | st.integers() | st.text(min_size=1, max_size=5).filter(str.strip),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


@given(json_values)
def test_the_generic_list_carries_any_value_there_and_back(value):
    schema = GenericSchema()
    finding = Finding("T", value, "c")
    expected = () if value == {"fields": []} else (finding,)
    assert schema.read(answer([finding], schema.json_schema)).findings == expected
    assert schema.read(answer([finding], None)).findings == expected


def test_the_generic_list_leaves_out_types_that_were_not_asked_for():
    schema = GenericSchema(["Decision Date"])
    assert schema.read(answer([JUDGE, DATE], schema.json_schema)).findings == (DATE,)


class TestRecording:
    """Which findings a text is answered with."""

    TEXT = "Date: May 2019.\nThe rent is\n 900 a month. " + "Filler. " * 20 + "Deposit: 1800."

    def _recording(self, *contexts: str) -> Recording:
        rows = [
            Extraction(id=context, doc_id="d", entity_type="T", value=context, context=context)
            for context in contexts
        ]
        return Recording([Document(id="d", text=self.TEXT)], rows)

    def _found(self, recording: Recording, text: str) -> list[Any]:
        return [finding.value for finding in recording.find(text) or []]

    def test_a_part_is_answered_with_what_starts_in_it(self):
        recording = self._recording("May 2019", "rent is 900", "Deposit: 1800", "invented")
        assert self._found(recording, self.TEXT) == [
            "May 2019",
            "rent is 900",
            "Deposit: 1800",
            "invented",
        ]
        assert self._found(recording, self.TEXT[:40]) == ["May 2019", "rent is 900", "invented"]
        assert self._found(recording, self.TEXT[10:40]) == ["rent is 900"]
        assert self._found(recording, self.TEXT[40:]) == ["Deposit: 1800"]

    @pytest.mark.parametrize("text", ["", "another text", TEXT + " and more"])
    def test_another_text_is_not_recorded(self, text):
        assert self._recording().find(text) is None

    def test_documents_with_the_same_text_share_their_answers(self):
        documents = [Document(id=name, text="same") for name in "ab"]
        rows = [
            Extraction(id=name, doc_id=name, entity_type="T", value=value, context="same")
            for name, value in (("a", 1), ("b", 1), ("b", 2))
        ]
        assert self._found(Recording(documents, rows), "same") == [1, 2]

    def test_a_version_is_answered_with_what_it_holds_and_with_what_no_version_holds(self):
        documents = [Document(id="d", text=text) for text in ("rent is 900", "rent is 950")]
        rows = [
            Extraction(id=context, doc_id="d", entity_type="T", value=context, context=context)
            for context in ("rent is 900", "is 950", "rent", "invented")
        ]
        recording = Recording(documents, rows)
        assert self._found(recording, "rent is 900") == ["rent is 900", "rent", "invented"]
        assert self._found(recording, "rent is 950") == ["is 950", "rent", "invented"]

    def test_an_extraction_without_its_document_is_counted_and_left_out(self):
        row = Extraction(id="e", doc_id="gone", entity_type="T", value=1, context="c")
        recording = Recording([Document(id="here", text="here")], [row])
        assert recording.unmatched == 1
        assert self._found(recording, "here") == []


class TestFaults:
    """Which requests go wrong."""

    def test_the_plan_comes_first_and_the_rest_is_drawn_by_seed(self):
        faults = Faults(plan=(Fault.HANG, None), rate=0.5, kinds=(Fault.DRIP,), seed=7)
        drawn = [faults.of(number) for number in range(200)]
        assert drawn[:2] == [Fault.HANG, None]
        assert 60 < drawn.count(Fault.DRIP) < 140
        assert drawn == [faults.of(number) for number in range(200)]
        assert drawn != [Faults(rate=0.5, kinds=(Fault.DRIP,), seed=8).of(n) for n in range(200)]

    def test_nothing_goes_wrong_unless_asked_for(self):
        assert not any(Faults().of(number) for number in range(100))

    def test_a_spec_names_what_it_wants(self):
        spec = "plan=rate_limit+none,rate=0.25,kinds=hang+drip,seed=3,retry_after=0.5"
        assert Faults.parse(spec) == Faults(
            plan=(Fault.RATE_LIMIT, None),
            rate=0.25,
            kinds=(Fault.HANG, Fault.DRIP),
            seed=3,
            retry_after=0.5,
        )
        assert Faults.parse("") == Faults()

    @pytest.mark.parametrize("spec", ["speed=1", "rate=often", "kinds=flood", "plan=x"])
    def test_a_spec_that_means_nothing_is_refused(self, spec):
        with pytest.raises(ValueError, match=r"not one of|could not convert|is not a valid Fault"):
            Faults.parse(spec)
