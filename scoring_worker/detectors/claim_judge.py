"""A scorer for extractions, and a detector that judges the claims of answers: the name
``default+claims:hallugraph``.

The detector sees what the scorer would: the passage that was retrieved for the claim. Its score is
held against its own threshold, and its evidence goes onto the verdict. A claim that it cannot judge
is undetermined, and never accepted.
"""

from collections.abc import Sequence
from dataclasses import replace

from safepassage.schemas import CLAIM_TYPE, Assessment, ScorerTrail, stable_id
from safepassage.schemas.evidence import Evidence
from safepassage.scoring_worker.learnt_from import LearntFrom, said_by
from safepassage.scoring_worker.memory.learning import AroundScorer
from safepassage.scoring_worker.scorer import Pair, Scorer

from .contract import Answer, Detector, DetectorSettings, Grounding
from .registry import Declarations, declarations, load_detector


class ClaimJudge(AroundScorer):
    """``scorer`` judges everything but claims, which ``detector`` judges: supported from
    ``threshold`` on. Closes both.

    ``learnt_from`` is what the scorer says of itself, None where the detector's own weights are
    not those that ship.
    """

    def __init__(
        self,
        name: str,
        scorer: Scorer,
        detector: Detector,
        threshold: float,
        *,
        learnt_from: LearntFrom | None = None,
    ) -> None:
        self.name = name
        self.revision = stable_id("claims", scorer.revision, detector.revision, str(threshold))[:16]
        self.learnt_from = learnt_from
        self._scorer = scorer
        self._detector = detector
        self._threshold = threshold

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order, under this name and revision."""
        claims = [at for at, pair in enumerate(pairs) if pair.entity_type == CLAIM_TYPE]
        others = [at for at, pair in enumerate(pairs) if pair.entity_type != CLAIM_TYPE]
        said: dict[int, Assessment] = {}
        if others:
            scored = self._scorer.assess([pairs[at] for at in others])
            said |= dict(zip(others, scored, strict=True))
        if claims:
            answers = [Answer((pairs[at].premise,), str(pairs[at].value)) for at in claims]
            found = self._detector.ground(answers)
            said |= {at: self._judged(one) for at, one in zip(claims, found, strict=True)}
        own = {"scorer": self.name, "revision": self.revision}
        return [said[at].model_copy(update=own) for at in range(len(pairs))]

    def close(self) -> None:
        """Close the scorer and the detector."""
        super().close()
        self._detector.close()

    def _judged(self, found: Grounding) -> Assessment:
        trail = ScorerTrail(
            scorer=self._detector.name,
            revision=self._detector.revision,
            score=found.score,
            threshold=None if found.score is None else self._threshold,
            failure=found.failure,
            usage=found.usage,
        )
        return Assessment(
            scorer=self.name,
            revision=self.revision,
            score=found.score,
            threshold=None if found.score is None else self._threshold,
            failure=None if found.score is not None else "scorer_failed",
            failure_detail=found.failure,
            trail=(trail,),
            evidence=_of_the_claim(found.evidence) or None,
        )


def with_claims_judged(
    name: str,
    scorer: Scorer,
    detector: str,
    settings: DetectorSettings,
    *,
    among: Declarations | None = None,
) -> ClaimJudge:
    """``scorer`` with the claims judged by ``detector``: a name of the registry, with "=FOLDER"
    behind it for weights of one's own.

    Raises:
        UnknownDetector: nothing has that name.
        ModelError: what it needs is not there; the message says what.
    """
    named, _, model = detector.partition("=")
    known = among or declarations()
    loaded = load_detector(
        named, replace(settings, model=model or None, loaded=scorer), among=known
    )
    threshold = float(getattr(loaded, "threshold", known.detectors[named].threshold))
    learnt = None if model else said_by(scorer)
    return ClaimJudge(name, scorer, loaded, threshold, learnt_from=learnt)


def _of_the_claim(seen: Evidence) -> Evidence:
    """What is said of the claim. Places in passages are of the one that was retrieved, which the
    alignment has at its place in the context, and are left out."""
    triples = tuple([triple.model_copy(update={"rests_on": None}) for triple in seen.triples])
    return seen.model_copy(update={"triples": triples, "passages": ()})
