"""The large reader on quotes of another field, through alignment, scorer and decision rule."""

from __future__ import annotations

import pytest

from safepassage.pipeline import align_all, judge_in_batches, new_aligner
from safepassage.schemas import Verdict
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.scorers.installed_models import is_installed
from safepassage.settings import JudgingSettings

from . import Case, cases, misjudged

KNOWN = misjudged()


def marked(case: Case) -> object:
    """``case`` as a parameter, expected to fail where the scorer gets it wrong today."""
    if case.name not in KNOWN:
        return pytest.param(case, id=case.name)
    why = f"scored {KNOWN[case.name]:.2f} today"
    return pytest.param(case, id=case.name, marks=pytest.mark.xfail(reason=why, strict=True))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    """A verdict for every case, by its name."""
    if not is_installed("large"):
        pytest.skip("the weights of the large reader are not installed")
    every = cases()
    aligner, scorer = new_aligner(JudgingSettings()), load_scorer("large")
    try:
        documents = {case.name: case.document for case in every}
        aligned = align_all([case.extraction for case in every], documents, aligner)
        return {v.extraction_id: v for v in judge_in_batches(aligned, scorer.assess)}
    finally:
        aligner.close()
        scorer.close()


@pytest.mark.parametrize("case", map(marked, cases()))
def test_only_the_field_that_is_asked_for_is_accepted(
    case: Case, verdicts: dict[str, Verdict]
) -> None:
    verdict = verdicts[case.name]
    assert (verdict.decision == "accepted") is bool(case.right), verdict.score


def test_each_wrong_case_has_a_right_twin() -> None:
    by_id: dict[str, set[int]] = {}
    for case in cases():
        by_id.setdefault(case.id, set()).add(case.right)
    assert set(map(frozenset, by_id.values())) == {frozenset({0, 1})}
    assert set(KNOWN) <= {case.name for case in cases()}
