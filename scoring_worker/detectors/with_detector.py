"""A scorer that decides, and a detector that shows what claims rest on: ``default+hallugraph``.

The graph is of the passage that the scorer sees, and its relations are supported as far as the
scorer says. It goes onto the assessment as evidence (triples, its measures, unsupported words where
the scorer names none) and moves no score.
"""

from collections.abc import Sequence

from safepassage.schemas import CLAIM_TYPE, Assessment, stable_id
from safepassage.schemas.evidence import Evidence
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.hallugraph.detector import HalluGraph
from safepassage.scoring_worker.detectors.hallugraph.entailment import Support
from safepassage.scoring_worker.learnt_from import said_by
from safepassage.scoring_worker.memory.learning import AroundScorer
from safepassage.scoring_worker.scorer import Pair, Scorer


class WithDetector(AroundScorer):
    """``scorer``, with the evidence of ``detector`` on claims. Closes both."""

    def __init__(self, name: str, scorer: Scorer, detector: HalluGraph) -> None:
        self.name = name
        self.revision = stable_id("with", scorer.revision, detector.revision)[:16]
        self.learnt_from = said_by(scorer)
        self._scorer = scorer
        self._detector = detector

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """The scorer's assessments under this name and revision, in order."""
        assessments = self._scorer.assess(pairs)
        claims = [at for at, pair in enumerate(pairs) if pair.entity_type == CLAIM_TYPE]
        answers = [Answer((pairs[at].premise,), str(pairs[at].value)) for at in claims]
        said = [
            _support(answer, assessments[at]) for answer, at in zip(answers, claims, strict=True)
        ]
        drawn = self._detector.drawn(answers, said) if answers else ()
        seen = dict(zip(claims, drawn, strict=True))
        own = {"scorer": self.name, "revision": self.revision}
        return [
            assessment.model_copy(
                update={**own, "evidence": _joined(assessment.evidence, seen[at].evidence)}
                if at in seen
                else own
            )
            for at, assessment in enumerate(assessments)
        ]

    def close(self) -> None:
        """Close the scorer and the detector."""
        super().close()
        self._detector.close()


def _support(claim: Answer, said: Assessment) -> tuple[Support, ...] | str:
    if said.score is None:
        return said.failure or "scorer_failed"
    return (Support(0, len(claim.response), said.score),)


def _joined(own: Evidence | None, seen: Evidence) -> Evidence | None:
    """The scorer's evidence, with what it does not say itself. The detector's places in passages
    are of the passage that was retrieved, not of the context, and are left out."""
    triples = tuple([triple.model_copy(update={"rests_on": None}) for triple in seen.triples])
    first = own or Evidence()
    joined = first.model_copy(
        update={
            "unsupported": first.unsupported or seen.unsupported,
            "triples": first.triples or triples,
            "measures": {**seen.measures, **first.measures},
        }
    )
    return joined or None
