"""Which findings a text is answered with, and which requests go wrong."""

from __future__ import annotations

from typing import Any

import pytest

from safepassage.schemas import Document, Extraction
from safepassage.streams.demo.recorded_llm import Recording
from tests.recorded_llm.faults import Fault, Faults


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

    def test_a_part_is_answered_with_what_is_in_it(self):
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
