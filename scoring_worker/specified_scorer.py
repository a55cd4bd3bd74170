"""A scorer with what its name adds: evidence or a judge for claims, other thresholds; and in strict
mode, where a doubt makes a person's case of what the decision rule would accept.

A detector sees what the scorer would: the passage that was retrieved for the claim. A claim that it
cannot judge is undetermined, and never accepted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from safepassage.schemas import CLAIM_TYPE, Assessment, stable_id
from safepassage.schemas.decision_rule import in_mode
from safepassage.schemas.evidence import Evidence

from .detectors.contract import Answer, Detector, DetectorSettings, Grounding
from .detectors.hallugraph.detector import HalluGraph
from .detectors.hallugraph.entailment import Support
from .detectors.registry import Declarations, declarations, load_detector
from .learnt_from import said_by
from .manifest import Thresholds
from .memory.index import Memory
from .memory.learning import remember_in, traces_of
from .memory.states import Trace
from .risk.groups import below, threshold_of
from .scorer import Pair, Scorer
from .scorer_spec import ScorerSpec


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """The detector that judges claims: supported from ``threshold`` on. ``own_weights`` are weights
    that do not ship, so that nobody knows what they learnt from."""

    detector: Detector
    threshold: float
    own_weights: bool = False


class SpecifiedScorer:
    """``scorer`` under the name of ``spec``, with the limits of ``spec``.

    ``drawer`` adds the graph of a claim to its assessment and moves no score; ``judge`` judges
    claims in the scorer's place; ``thresholds`` replace the scorer's; ``strict`` marks each
    assessment, and moves no score. Closes all of them.
    """

    def __init__(
        self,
        spec: ScorerSpec,
        scorer: Scorer,
        *,
        drawer: HalluGraph | None = None,
        judge: ClaimJudge | None = None,
        thresholds: Thresholds | None = None,
        strict: bool = False,
    ) -> None:
        self.name = str(replace(spec, limits={})) if spec.behind else scorer.name
        self.learnt_from = None if judge and judge.own_weights else said_by(scorer)
        revision = scorer.revision
        if drawer:
            revision = stable_id("with", revision, drawer.revision)[:16]
        if judge:
            by = (judge.detector.revision, str(judge.threshold))
            revision = stable_id("claims", revision, *by)[:16]
        if thresholds:
            revision = stable_id("thresholds", revision, thresholds.model_dump_json())[:16]
        revision = spec.raised(revision)
        self.revision = in_mode(revision, strict=True) if strict else revision
        self._strict = {"strict": True} if strict else {}
        self._scorer = scorer
        self._drawer = drawer
        self._judge = judge
        self._thresholds = thresholds
        self._limits = spec.limits

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order; failures stay failures."""
        judged = self._claims_judged(pairs, self._judge) if self._judge else {}
        asked = [at for at in range(len(pairs)) if at not in judged]
        scored = self._scorer.assess([pairs[at] for at in asked]) if asked else []
        said = judged | dict(zip(asked, scored, strict=True))
        if self._drawer:
            said |= self._claims_drawn(pairs, said, self._drawer)
        return [self._held(pair, said[at]) for at, pair in enumerate(pairs)]

    def remember(self, memory: Memory) -> None:
        """Let the scorer weigh what ``memory`` holds."""
        remember_in(memory, self._scorer)

    def traces(self, pairs: Sequence[Pair]) -> list[tuple[Trace, ...]]:
        """What each pair would leave in the scorer's memory, in order."""
        return traces_of(self._scorer, pairs)

    def close(self) -> None:
        """Close the scorer and the detectors."""
        self._scorer.close()
        if self._drawer:
            self._drawer.close()
        if self._judge:
            self._judge.detector.close()

    def _claims_judged(self, pairs: Sequence[Pair], judge: ClaimJudge) -> dict[int, Assessment]:
        claims = _claims(pairs)
        found = judge.detector.ground(list(claims.values())) if claims else ()
        return {at: self._judged(judge, one) for at, one in zip(claims, found, strict=True)}

    @staticmethod
    def _judged(judge: ClaimJudge, found: Grounding) -> Assessment:
        by = judge.detector.name, judge.detector.revision
        if found.score is None:
            said = Assessment.failed(by, "scorer_failed", found.failure or "", found.usage)
        else:
            said = Assessment.scored(by, found.score, judge.threshold, found.usage)
        return said.model_copy(update={"evidence": _of_the_claim(found.evidence) or None})

    def _claims_drawn(
        self, pairs: Sequence[Pair], said: dict[int, Assessment], drawer: HalluGraph
    ) -> dict[int, Assessment]:
        claims = _claims(pairs)
        supports = [_support(answer, said[at]) for at, answer in claims.items()]
        drawn = drawer.drawn(list(claims.values()), supports) if claims else ()
        return {
            at: said[at].model_copy(update={"evidence": _joined(said[at].evidence, one.evidence)})
            for at, one in zip(claims, drawn, strict=True)
        }

    def _held(self, pair: Pair, said: Assessment) -> Assessment:
        """``said`` under this name, held against the thresholds that count here."""
        score, threshold = said.score, said.threshold
        if score is not None and self._thresholds:
            threshold = threshold_of(self._thresholds, pair)
        if score is not None and threshold is not None and self._limits:
            own = self._limits.get(pair.entity_type.casefold(), 0.0)
            limit = max(own, self._limits.get("", 0.0))
            score, threshold = below(score, limit), max(threshold, limit)
        named = {"scorer": self.name, "revision": self.revision, **self._strict}
        return said.model_copy(update={**named, "score": score, "threshold": threshold})


def claim_judge(
    spec: ScorerSpec, settings: DetectorSettings, *, among: Declarations | None = None
) -> ClaimJudge:
    """The detector that judges the claims of ``spec``. Raises `UnknownDetector` where nothing has
    that name; `ModelError` where what it needs is not there; the message says what."""
    known = among or declarations()
    own = replace(settings, model=spec.weights or None)
    detector = load_detector(spec.claims, own, among=known)
    threshold = float(getattr(detector, "threshold", known.detectors[spec.claims].threshold))
    return ClaimJudge(detector, threshold, own_weights=bool(spec.weights))


def _claims(pairs: Sequence[Pair]) -> dict[int, Answer]:
    return {
        at: Answer((pair.premise,), str(pair.value))
        for at, pair in enumerate(pairs)
        if pair.entity_type == CLAIM_TYPE
    }


def _support(claim: Answer, said: Assessment) -> tuple[Support, ...] | str:
    if said.score is None:
        return said.failure or "scorer_failed"
    return (Support(0, len(claim.response), said.score),)


def _of_the_claim(seen: Evidence) -> Evidence:
    """What is said of the claim. Places in passages are of the one that was retrieved, which the
    alignment has at its place in the context, and are left out."""
    triples = tuple([triple.model_copy(update={"rests_on": None}) for triple in seen.triples])
    return seen.model_copy(update={"triples": triples, "passages": ()})


def _joined(own: Evidence | None, seen: Evidence) -> Evidence | None:
    """The scorer's evidence, with what it does not say itself."""
    first, graph = own or Evidence(), _of_the_claim(seen)
    joined = first.model_copy(
        update={
            "unsupported": first.unsupported or graph.unsupported,
            "triples": first.triples or graph.triples,
            "measures": {**graph.measures, **first.measures},
        }
    )
    return joined or None
