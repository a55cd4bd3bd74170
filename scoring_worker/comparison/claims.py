"""Sentences of an answer: what can be said of them without reading them as a whole."""

from __future__ import annotations

from safepassage.schemas import Finding

from .contract import Comparison, Passage
from .denials.places import scoped
from .figures.comparator import compare_figures

MAX_CLAIM = 5_000


def compare_claim(claim: str, passage: Passage) -> Comparison:
    """Never *different*: a claim may count, convert and conclude. The findings say whether a
    figure of the claim is missing, and whether only one of the two denies something."""
    findings = []
    figures = compare_figures(claim[:MAX_CLAIM], passage)
    if figures.answer == "different":
        findings += [Finding(code="figure_unseen", detail=f.detail) for f in figures.findings]
    if _denies(Passage(claim[:MAX_CLAIM], language=passage.language)) != _denies(passage):
        detail = "one of claim and passage denies, the other does not"
        findings.append(Finding(code="denial_unsure", detail=detail))
    return Comparison(
        "not_comparable", "claim", figures.places, figures.rivals, tuple(findings[:3])
    )


def _denies(passage: Passage) -> bool:
    return any(scope.sense == "denied" for scope in scoped(passage)[1])
