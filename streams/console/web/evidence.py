"""What a reviewer sees of a claim's evidence: unsupported words, triples, passages consulted."""

from markupsafe import Markup

from safepassage.schemas import Verdict
from safepassage.schemas.evidence import TripleStatus
from safepassage.scoring_worker.detectors.hallugraph.drawing import draw, svg

from .marking import cut

MAX_SHOWN = 20

STATUSES: dict[TripleStatus, str] = {
    "supported": "supported",
    "missing_entity": "nowhere in the context",
    "unsupported": "no such relation in the context",
    "undetermined": "could not be compared",
}


def evidence_shown(verdict: Verdict) -> dict[str, object] | None:
    """Lines for the page, at most `MAX_SHOWN` of each kind, and the triples as a picture; None
    without evidence, as on older verdicts."""
    evidence, text = verdict.evidence, verdict.value
    if not evidence:
        return None
    words = [text[s.start : s.end] for s in evidence.unsupported if isinstance(text, str)]
    triples = []
    for triple in evidence.triples[:MAX_SHOWN]:
        edge = " — ".join((triple.subject, triple.relation, triple.object))
        missing = f": {', '.join(triple.missing)}" if triple.missing else ""
        triples.append((cut(edge, 300), f"{STATUSES[triple.status]}{missing}"))
    passages = []
    for one in evidence.passages[:MAX_SHOWN]:
        score = "" if one.score is None else f", {one.score:.2f}"
        rests = " · the verdict rests on it" if one.supports else ""
        place = f"passage {one.passage + 1}, characters {one.start}–{one.end}"
        passages.append(f"{place}{score}{rests}")
    measures = [f"{cut(name, 40)} {share:.2f}" for name, share in evidence.measures.items()]
    return {
        "unsupported": [cut(word, 120) for word in words if word.strip()][:MAX_SHOWN],
        "triples": triples,
        "passages": passages,
        "measures": measures,
        # What the entities say is escaped where the picture is made.
        "graph": Markup(svg(draw(evidence.triples))) if evidence.triples else None,  # noqa: S704
    }
