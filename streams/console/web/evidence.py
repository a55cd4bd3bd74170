"""What a reviewer sees of a claim's evidence: unsupported words, triples, passages consulted."""

from dataclasses import dataclass

from markupsafe import Markup

from safepassage.schemas import Verdict
from safepassage.schemas.evidence import ConsultedPassage, JudgedTriple, TripleStatus
from safepassage.scoring_worker.detectors.hallugraph.drawing import draw, svg

from .marking import cut

MAX_SHOWN = 20

STATUSES: dict[TripleStatus, str] = {
    "supported": "supported",
    "missing_entity": "nowhere in the context",
    "unsupported": "no such relation in the context",
    "undetermined": "could not be compared",
}


@dataclass(frozen=True, slots=True)
class EvidenceShown:
    """Lines for the page, at most `MAX_SHOWN` of each kind, and the triples as a picture."""

    unsupported: tuple[str, ...]
    triples: tuple[tuple[str, str], ...]
    passages: tuple[str, ...]
    measures: tuple[str, ...]
    graph: Markup | None


def evidence_shown(verdict: Verdict) -> EvidenceShown | None:
    """The evidence of ``verdict`` in words; None if it is missing, as on older verdicts."""
    evidence, text = verdict.evidence, verdict.value
    if not evidence:
        return None
    words = [text[s.start : s.end] for s in evidence.unsupported if isinstance(text, str)]
    return EvidenceShown(
        unsupported=tuple([cut(word, 120) for word in words if word.strip()][:MAX_SHOWN]),
        triples=tuple([_triple(triple) for triple in evidence.triples[:MAX_SHOWN]]),
        passages=tuple([_passage(passage) for passage in evidence.passages[:MAX_SHOWN]]),
        measures=tuple(
            [f"{cut(name, 40)} {share:.2f}" for name, share in evidence.measures.items()]
        ),
        # What the entities say is escaped where the picture is made.
        graph=Markup(svg(draw(evidence.triples))) if evidence.triples else None,  # noqa: S704
    )


def _triple(triple: JudgedTriple) -> tuple[str, str]:
    edge = " — ".join((triple.subject, triple.relation, triple.object))
    missing = f": {', '.join(triple.missing)}" if triple.missing else ""
    return cut(edge, 300), f"{STATUSES[triple.status]}{missing}"


def _passage(passage: ConsultedPassage) -> str:
    score = "" if passage.score is None else f", {passage.score:.2f}"
    rests = " · the verdict rests on it" if passage.supports else ""
    return f"passage {passage.passage + 1}, characters {passage.start}–{passage.end}{score}{rests}"
