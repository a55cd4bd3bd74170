"""Findings: a contradiction decides, a doubt is weighed."""

from __future__ import annotations

from typing import get_args

import pytest

from safepassage.schemas import (
    CONTRADICTIONS,
    AlignedExtraction,
    Alignment,
    Assessment,
    Document,
    Extraction,
    Finding,
    Span,
    judge,
)
from safepassage.schemas.finding import Contradiction, Doubt

TEXT = "The deposit is held."
ALIGNED = AlignedExtraction(
    extraction=Extraction(
        id="e", doc_id="d", entity_type="Deposit", value="held", context=TEXT, field=None
    ),
    document=Document(id="d", text=TEXT).ref(),
    alignment=Alignment(
        score=1.0,
        matches=len(TEXT),
        length=len(TEXT),
        unaligned=0,
        threshold=0.6,
        spans=(Span(start=0, end=len(TEXT), text=TEXT),),
        occurrences=1,
        route="verbatim",
    ),
)


def assessed(*codes: str) -> Assessment:
    """An assessment that is sure of support, with findings of ``codes``."""
    findings = tuple(Finding.model_validate({"code": code}) for code in codes)
    return Assessment(scorer="s", revision="r", score=0.97, threshold=0.4, findings=findings)


def test_no_code_is_both_a_contradiction_and_a_doubt() -> None:
    assert set(get_args(Contradiction)) == CONTRADICTIONS
    assert CONTRADICTIONS.isdisjoint(get_args(Doubt))


@pytest.mark.parametrize("code", sorted(CONTRADICTIONS))
def test_no_verdict_with_a_contradiction_is_accepted_whatever_the_score(code: str) -> None:
    verdict = judge(ALIGNED, assessed("words_scattered", code))
    assert verdict.decision == "quarantined"
    assert verdict.reasons == ("unsupported",)


@pytest.mark.parametrize("code", get_args(Doubt))
def test_a_doubt_alone_stops_nothing(code: str) -> None:
    assert judge(ALIGNED, assessed(code)).decision == "accepted"


def test_a_code_of_another_version_is_read_and_decides_nothing() -> None:
    found = Finding.model_validate_json('{"code": "seen_by_a_later_version"}')
    assert not found.contradicts
