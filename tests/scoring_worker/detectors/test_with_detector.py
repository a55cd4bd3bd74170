"""A scorer decides; a detector beside it shows what claims rest on."""

from __future__ import annotations

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.detectors.hallugraph.detector import drawer
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.specified_scorer import SpecifiedScorer
from tests.streams.judged import FakeScorer

PASSAGE = "The Acme Corporation sued John Smith on 1 May 2019."


SPEC = ScorerSpec("fake", graphs=True)


def pair(value: str, entity_type: str = CLAIM_TYPE) -> Pair:
    return Pair(PASSAGE, value, entity_type, value)


def test_claims_carry_the_graph_of_what_they_rest_on_and_keep_their_score():
    alone = FakeScorer()
    scorer = SpecifiedScorer(SPEC, alone, drawer=drawer())
    assert isinstance(scorer, Scorer)
    pairs = [pair("Acme Corporation sued Peter Brown."), pair("May 2019", "Hearing Date")]
    claim, value = scorer.assess(pairs)
    assert [a.score for a in (claim, value)] == [a.score for a in alone.assess(pairs)]
    assert claim.evidence
    assert [triple.status for triple in claim.evidence.triples] == ["missing_entity"]
    assert claim.evidence.measures == {"EG": 0.5, "RP": 0.0}
    [span] = claim.evidence.unsupported
    assert str(pairs[0].value)[span.start : span.end] == "Peter Brown"
    assert value.evidence is None
    assert claim.scorer == value.scorer == "fake+hallugraph"
    scorer.close()


def test_its_revision_changes_with_both():
    detector = drawer()
    one, other = (
        SpecifiedScorer(SPEC, FakeScorer(revision=revision), drawer=detector).revision
        for revision in ("a", "b")
    )
    assert one != other
    assert one not in {"a", detector.revision}


def test_a_claim_that_speaks_of_nothing_has_no_evidence_and_its_score_all_the_same():
    scorer = SpecifiedScorer(SPEC, FakeScorer(), drawer=drawer())
    [assessment] = scorer.assess([pair("It was so.")])
    assert assessment.evidence is None
    assert assessment.score is not None
