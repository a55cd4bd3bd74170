"""The detector: graphs, their comparison, and what a person is shown of it."""

from collections.abc import Iterator, Sequence

from safepassage.passages.granularity import claims
from safepassage.schemas.evidence import (
    MAX_TRIPLE_CHARACTERS,
    MAX_TRIPLES,
    MAX_UNSUPPORTED,
    ConsultedPassage,
    Evidence,
    JudgedTriple,
    Stretch,
    TripleStatus,
    UnsupportedSpan,
)
from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.detectors.contract import (
    Answer,
    ClaimGrounding,
    Detector,
    DetectorSettings,
    Grounding,
)
from safepassage.scoring_worker.detectors.grounding import named_scorer
from safepassage.scoring_worker.packs.registry import packs_of_environment

from .entailment import Entailment, Support
from .fidelity import CLAIM_THRESHOLD, SUPPORTED, Fidelity, FoundEdge, compare, graph_rules
from .graph import QUERY, GraphExtractor, Graphs, NoGraph
from .local_graphs import LocalExtractor

NO_ENTITIES = "no_entities"
"""The failure of an answer, or a claim, that speaks of nothing that could be looked for."""


class HalluGraph:
    """Judges answers by EG and RP. A claim is judged by the entities and edges within it."""

    threshold = CLAIM_THRESHOLD

    def __init__(
        self, name: str, extractor: GraphExtractor, entailment: Entailment | None = None
    ) -> None:
        self.name = name
        read = f"-{entailment.revision}" if entailment else ""
        self.revision = f"{name}-{rules_revision()}-{graph_rules()}-{extractor.revision}{read}"
        self._extractor = extractor
        self._entailment = entailment

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        """One grounding per answer, in order; without entities it is undetermined, and where the
        reader has failed."""
        if self._entailment is None:
            return self.drawn(answers, [()] * len(answers))
        return self.drawn(answers, self._entailment.supports(answers))

    def drawn(
        self, answers: Sequence[Answer], supports: Sequence[tuple[Support, ...] | str]
    ) -> list[Grounding]:
        """The same, where the support of the sentences is known, or why it is not."""
        graphs = self._extractor.graphs(answers)
        return [grounding_of(*each) for each in zip(answers, graphs, supports, strict=True)]

    def close(self) -> None:
        """Close the extractor and what reads."""
        self._extractor.close()
        if self._entailment is not None:
            self._entailment.close()


def evidence_of(fidelity: Fidelity) -> Evidence:
    """Every missing entity and every unsupported edge, first; then what is supported. Bounded."""
    missing = [f.entity for f in fidelity.mentions if f.match is None]
    spans = [UnsupportedSpan(start=e.place.start, end=e.place.end) for e in missing if e.place]
    edges = [_triple(found) for found in fidelity.edges]
    triples = [*_alone(fidelity), *edges]
    triples.sort(key=lambda triple: triple.status == "supported")
    measures = {"EG": fidelity.entity_grounding, "RP": fidelity.relation_preservation}
    return Evidence(
        unsupported=tuple(spans[:MAX_UNSUPPORTED]),
        triples=tuple(triples[:MAX_TRIPLES]),
        measures={name: share for name, share in measures.items() if share is not None},
    )


def load_local(settings: DetectorSettings) -> Detector:
    """HalluGraph over `LocalExtractor`, with the packs of SAFEPASSAGE_PACKS, and the scorer that
    ``settings`` hold or name. Raises `ModelError` where there is no such scorer."""
    scorer = settings.loaded or named_scorer(settings)
    reads = Entailment(scorer, shared=settings.loaded is not None)
    return HalluGraph("hallugraph", LocalExtractor(packs=packs_of_environment()), reads)


def drawer() -> HalluGraph:
    """HalluGraph for `HalluGraph.drawn` alone: it reads nothing itself."""
    return HalluGraph("hallugraph", LocalExtractor(packs=packs_of_environment()))


def grounding_of(
    answer: Answer, graphs: Graphs | NoGraph, supports: tuple[Support, ...] | str = ()
) -> Grounding:
    """What the graphs show of ``answer``; undetermined where it speaks of nothing, and where the
    reader's ``supports`` are a failure."""
    if isinstance(graphs, NoGraph):
        return Grounding.undetermined(str(graphs))
    if isinstance(supports, str):
        return Grounding.undetermined(supports)
    fidelity = compare(graphs, supports)
    judged = tuple([_claim(fidelity, *place) for place in claims(answer.response)])
    if fidelity.score is None:
        return Grounding.undetermined(NO_ENTITIES, judged)
    return Grounding(score=fidelity.score, claims=judged, evidence=evidence_of(fidelity))


def _claim(fidelity: Fidelity, start: int, end: int) -> ClaimGrounding:
    part = fidelity.within(start, end)
    passages = [place for found in part.edges if (place := _rests_on(found))]
    failure = NO_ENTITIES if part.score is None else None
    return ClaimGrounding(start, end, part.score, failure, tuple(dict.fromkeys(passages)))


def _alone(fidelity: Fidelity) -> Iterator[JudgedTriple]:
    """The missing entities that no edge names."""
    named = {end.node for found in fidelity.edges for end in found.missing}
    for found in fidelity.entities:
        if found.match is None and found.entity.node not in named:
            text = _short(found.entity.text)
            yield JudgedTriple(
                subject=text,
                relation="",
                object="",
                status="missing_entity",
                missing=(text,),
                place=_stretch(found.entity.place),
            )


def _triple(found: FoundEdge) -> JudgedTriple:
    status: TripleStatus = "supported" if found.support >= SUPPORTED else "unsupported"
    return JudgedTriple(
        subject=_short(found.edge.subject.text),
        relation=_short(found.edge.relation),
        object="" if found.edge.is_statement else _short(found.edge.object.text),
        status="missing_entity" if found.missing else status,
        missing=tuple([_short(entity.text) for entity in found.missing]),
        place=_stretch(found.edge.place),
        rests_on=_rests_on(found),
    )


def _rests_on(found: FoundEdge) -> ConsultedPassage | None:
    """Where the passages say it; None where they do not, or where the query does."""
    other = found.aligned if found.support >= SUPPORTED else None
    if other is None or other.place is None or other.passage == QUERY:
        return None
    place = other.place
    return ConsultedPassage(passage=other.passage, start=place.start, end=place.end, supports=True)


def _stretch(place: Place | None) -> Stretch | None:
    return Stretch(start=place.start, end=place.end) if place else None


def _short(text: str) -> str:
    return text[:MAX_TRIPLE_CHARACTERS]
