"""Evidence on alignments and verdicts: bounded, and records from before it stay readable."""

import json

import pytest
from pydantic import ValidationError

from safepassage.schemas import Alignment, Assessment, Claim, Response, Verdict, judge
from safepassage.schemas.evidence import ConsultedPassage, Evidence, JudgedTriple, UnsupportedSpan
from tests.streams.judged import aligned


def _said(evidence: Evidence | None = None) -> Assessment:
    return Assessment(scorer="s", revision="1", score=0.9, threshold=0.5, evidence=evidence)


def _retrieved():
    event = aligned(1)
    consulted = (ConsultedPassage(passage=2, start=4, end=9, score=0.5),)
    alignment = event.alignment.model_copy(update={"consulted": consulted})
    return event.model_copy(update={"alignment": alignment})


def test_the_verdict_names_the_passages_that_were_consulted_and_what_nothing_bears_out():
    evidence = Evidence(unsupported=(UnsupportedSpan(start=0, end=3),))
    verdict = judge(_retrieved(), _said(evidence))
    assert verdict.evidence
    [passage] = verdict.evidence.passages
    assert (passage.passage, passage.start, passage.end, passage.supports) == (2, 4, 9, True)
    assert verdict.evidence.unsupported == evidence.unsupported
    assert Verdict.model_validate_json(verdict.to_json()) == verdict


def test_a_passage_supports_only_what_was_accepted():
    low = _said().model_copy(update={"score": 0.1})
    verdict = judge(_retrieved(), low)
    assert verdict.evidence
    assert [passage.supports for passage in verdict.evidence.passages] == [False]


def test_records_from_before_there_was_evidence_stay_as_they_were():
    event = aligned(1)
    verdict = judge(event, _said())
    for record, fields in ((event.alignment, {"consulted"}), (verdict, {"evidence"})):
        written = json.loads(record.model_dump_json())
        assert not fields & written.keys()
        assert type(record).model_validate(written) == record
    ref = Response(id="r", context=["a", "b"], response="a").ref()
    claim = Claim(id="c", response_id="r", ordinal=0, start=0, end=1, text="a", document=ref)
    assert "passages" not in json.loads(claim.to_json())
    assert Alignment.model_validate_json(event.alignment.model_dump_json()) == event.alignment


def test_passages_of_a_response_begin_where_its_text_says():
    response = Response(id="r", context=["one", "", "three"], response="x")
    starts = response.passage_starts
    assert starts[0] == 0
    assert [response.text[a:] for a in starts] == ["one\n\n\n\nthree", "\n\nthree", "three"]
    assert Response(id="r", context="one", response="x").passage_starts == ()
    assert Response(id="r", context=["one"], response="x").passage_starts == ()


@pytest.mark.parametrize("starts", [(1, 5), (0, 1), (0, 9, 3)])
def test_passages_out_of_order_are_refused(starts):
    ref = Response(id="r", context=["a", "b"], response="a").ref()
    with pytest.raises(ValidationError, match="one after the other"):
        Claim(
            id="c", response_id="r", ordinal=0, start=0, end=1, text="a", document=ref,
            passages=starts,
        )  # fmt: skip


def test_a_stretch_goes_forward_and_evidence_is_bounded():
    with pytest.raises(ValidationError, match="before it begins"):
        UnsupportedSpan(start=3, end=2)
    with pytest.raises(ValidationError):
        Evidence(unsupported=tuple(UnsupportedSpan(start=n, end=n) for n in range(201)))
    assert not Evidence()
    assert Evidence(
        triples=(JudgedTriple(subject="a", relation="", object="", status="supported"),)
    )
