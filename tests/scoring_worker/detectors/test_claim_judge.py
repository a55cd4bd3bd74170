"""Any detector can be the judge of claims: its score, threshold, evidence and revision count."""

from __future__ import annotations

import pytest

from safepassage.schemas import CLAIM_TYPE, Response
from safepassage.schemas.evidence import Evidence, UnsupportedSpan
from safepassage.scoring_worker.detectors.contract import (
    Declaration,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.detectors.registry import (
    Declarations,
    UnknownDetector,
)
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.specified_scorer import SpecifiedScorer, claim_judge
from safepassage.streams.offline.check import CheckInput, check
from safepassage.verifier import Verifier
from tests.streams.judged import FakeScorer

PASSAGE = "The Acme Corporation sued John Smith on 1 May 2019."
ANSWER = "Acme Corporation sued John Smith. Peter Brown sued Acme Corporation. So it was then."


def pair(value: str, entity_type: str = CLAIM_TYPE) -> Pair:
    return Pair(PASSAGE, value, entity_type, value)


class Says:
    """A detector that says what its table has."""

    name = "says"

    def __init__(self, table: dict[str, Grounding], revision: str = "1") -> None:
        self.table, self.revision, self.closed, self.asked = table, revision, False, []

    def ground(self, answers):
        self.asked += answers
        return [self.table[answer.response] for answer in answers]

    def close(self):
        self.closed = True


def judge(detector, *, threshold=0.5, scorer=None, named="says"):
    declared = Declaration(
        "says", "", "", frozenset(), frozenset({"claim"}), "", "", lambda _: detector, threshold
    )
    known = Declarations({"says": declared})
    spec = ScorerSpec.parse(f"fake+claims:{named}")
    by = claim_judge(spec, DetectorSettings(), among=known)
    return SpecifiedScorer(spec, scorer or FakeScorer(), judge=by)


def test_claims_are_the_detectors_and_values_the_scorers():
    alone = FakeScorer()
    detector = Says({"It is so.": Grounding(0.7)})
    scorer = judge(detector, scorer=alone)
    assert isinstance(scorer, Scorer)
    value, claim = scorer.assess([pair("May 2019", "Date"), pair("It is so.")])
    assert value.score == alone.assess([pair("May 2019", "Date")])[0].score
    assert (claim.score, claim.threshold) == (0.7, 0.5)
    assert {value.scorer, claim.scorer} == {"fake+claims:says"}
    assert [trail.scorer for trail in claim.trail] == ["says"]
    assert [(one.context, one.response) for one in detector.asked] == [((PASSAGE,), "It is so.")]
    scorer.close()
    assert detector.closed


def test_its_threshold_is_the_declarations_or_its_own():
    detector = Says({"It is so.": Grounding(0.7)})
    [claim] = judge(detector, threshold=0.8).assess([pair("It is so.")])
    assert claim.threshold == 0.8
    detector.threshold = 0.6
    [claim] = judge(detector, threshold=0.8).assess([pair("It is so.")])
    assert claim.threshold == 0.6


def test_a_claim_that_it_cannot_judge_is_undetermined_and_says_why():
    [claim] = judge(Says({"So.": Grounding.undetermined("no_entities")})).assess([pair("So.")])
    assert (claim.score, claim.threshold, claim.failure) == (None, None, "scorer_failed")
    assert claim.failure_detail == "no_entities"


def test_its_evidence_is_of_the_claim():
    evidence = Evidence(unsupported=(UnsupportedSpan(start=0, end=2),), measures={"EG": 0.5})
    [claim] = judge(Says({"It is so.": Grounding(0.1, evidence=evidence)})).assess(
        [pair("It is so.")]
    )
    assert claim.evidence == evidence


def test_the_revision_changes_with_scorer_detector_and_threshold():
    revisions = {
        judge(Says({}, one), threshold=threshold, scorer=FakeScorer(revision=other)).revision
        for one in "ab"
        for other in "cd"
        for threshold in (0.4, 0.5)
    }
    assert len(revisions) == 8


def test_weights_of_ones_own_make_unknown_what_was_learnt():
    assert judge(Says({})).learnt_from == LearntFrom()
    assert judge(Says({}), named="says=folder").learnt_from is None


def test_a_claim_scorer_that_is_unknown_is_an_error():
    with pytest.raises(UnknownDetector, match="no detector 'nobody'"):
        load_scorer("words+claims:nobody")


def test_a_call_and_a_file_get_the_detectors_verdicts(monkeypatch):
    """One sentence is borne out, one names somebody else, one speaks of nothing."""
    monkeypatch.setenv("SAFEPASSAGE_CLAIM_SCORER", "hallugraph")
    monkeypatch.setenv("SAFEPASSAGE_SCORER", "words")
    with Verifier() as verifier:
        called = verifier.claims([PASSAGE], ANSWER, id="answer").verdicts
        response = Response(id="answer", context=[PASSAGE], response=ANSWER)
        checked = check(CheckInput(responses=[response]), None, verifier.scorer)  # type: ignore[arg-type]
    assert [v.to_json() for v in checked] == [v.to_json() for v in called]
    right, wrong, empty = called
    assert right.decision == "accepted"
    assert wrong.decision == "quarantined"
    assert [triple.status for triple in wrong.evidence.triples] == ["missing_entity"]
    assert empty.decision != "accepted"
    assert right.scorer == wrong.scorer == "words+claims:hallugraph"
    assert [trail.scorer for trail in right.scorers] == ["hallugraph"]
