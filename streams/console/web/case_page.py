"""What each page shows, made from the desk's state. No HTTP, no HTML."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from safepassage.field_words import field_words
from safepassage.schemas import Verdict, render_value
from safepassage.schemas.error_type import DESCRIPTIONS
from safepassage.schemas.evidence import TripleStatus
from safepassage.schemas.reviews_that_count import opinions
from safepassage.schemas.wording import in_words
from safepassage.scoring_worker.detectors.hallugraph.drawing import draw, svg

from ..index.case_filter import CaseFilter
from ..index.store import Case
from .correction import form_for
from .marking import AROUND_CHARACTERS, MAX_AROUND_CHARACTERS, compare, cut, excerpt
from .texts import DocumentText

MAX_VALUE_CHARACTERS = 2_000
MAX_EVIDENCE = 20
_METER_WIDTH = 200
STATUSES: dict[TripleStatus, str] = {
    "supported": "supported",
    "missing_entity": "nowhere in the context",
    "unsupported": "no such relation in the context",
    "undetermined": "could not be compared",
}


@dataclass(frozen=True, slots=True)
class Meter:
    """A score beside its threshold, both in [0, 1] or None."""

    name: str
    score: float | None
    threshold: float | None
    note: str = ""

    @property
    def passed(self) -> bool:
        """Fail closed: what was not measured did not pass."""
        measured = self.score is not None and self.threshold is not None
        return measured and self.score >= self.threshold  # type: ignore[operator]

    @property
    def sentence(self) -> str:
        """The meter for those who do not see it, and for those who want the number."""
        if self.score is None:
            return "not measured"
        if self.threshold is None:
            return f"{self.score:.3f}, no threshold"
        return f"{self.score:.3f}, {'at or above' if self.passed else 'below'} {self.threshold:.3f}"

    def x(self, value: float) -> float:
        return round(value * _METER_WIDTH, 1)


def case_page(
    case: Case,
    document: DocumentText,
    around: int,
    typed: Mapping[str, str] | None,
    *,
    blind: bool,
    rivals: Sequence[Case] = (),
    hidden: Collection[str] = (),
) -> dict[str, object]:
    """The page of a case. ``typed`` is a correction to show again; ``blind`` hides what other
    reviewers said, so that a second opinion is one. ``rivals`` are the cases that this one is
    in conflict with. Of the cases in ``hidden`` no decision is shown."""
    verdict = case.verdict
    around = min(max(around, AROUND_CHARACTERS), MAX_AROUND_CHARACTERS)
    pieces = tuple(excerpt(document.text, document.spans, around)) if document.text else ()
    cut_off = any(piece.skipped for piece in pieces)
    return {
        "case": case,
        "value": cut(render_value(verdict.value), MAX_VALUE_CHARACTERS) or "(empty)",
        "comparison": compare(verdict.context, verdict.passage) if verdict.passage else None,
        "no_passage": _why_no_passage(verdict),
        "reasons": tuple((code, in_words(code, verdict.entity_type)) for code in verdict.reasons),
        "error_types": tuple(
            (code, DESCRIPTIONS[code])
            for code in (verdict.error_types.types if verdict.error_types else ())
        ),
        "meters": _meters(verdict),
        "pieces": pieces,
        "document_problem": document.problem,
        "around": around,
        "more_around": around * 4 if cut_off and around < MAX_AROUND_CHARACTERS else None,
        "form": form_for(verdict.value, typed),
        "trail": _trail(verdict),
        "opinions": () if blind else tuple(opinions(case.reviews).values()),
        "rivals": tuple(_rival(rival, blind or rival.id in hidden) for rival in rivals),
        "evidence": _evidence_shown(verdict),
        # A second opinion is to be one: what others said of a case is not shown before it.
        "alike": None if blind else reviewed_alike(verdict, hidden),
        "field_words": tuple(dict.fromkeys(span.text for span in field_words(verdict))),
    }


def _rival(case: Case, blind: bool) -> dict[str, str]:
    verdict, stands = case.verdict, None if blind else case.standing
    return {
        "case_id": case.id,
        "value": cut(render_value(verdict.value), 200) or "(empty)",
        "context": cut(verdict.context, 300),
        "decision": stands.decision if stands else "",
    }


def claim(verdict: Verdict) -> str:
    return f"{verdict.entity_type}: {cut(render_value(verdict.value), 80)}"


def query_string(wanted: CaseFilter, **more: str) -> str:
    """``?…`` for a link that keeps the filter, or "" where there is nothing to keep."""
    fields = wanted.query() | more
    return f"?{urlencode(fields)}" if fields else ""


def _why_no_passage(verdict: Verdict) -> str:
    alignment = verdict.alignment
    if alignment is None:
        return "The quote was never compared with the document."
    if not alignment.scored:
        return (
            "No passage comes near the quote: its alignment score is proven to be at most "
            f"{alignment.score:.3f}."
        )
    return "No part of the document resembles the quote."


def _meters(verdict: Verdict) -> tuple[Meter, ...]:
    meters = []
    if alignment := verdict.alignment:
        note = "" if alignment.scored else "an upper bound"
        meters.append(Meter("Alignment", alignment.score, alignment.threshold, note))
    meters.append(Meter("Support", verdict.score, verdict.threshold, verdict.scorer or ""))
    if len(verdict.scorers) > 1:
        meters += [Meter(s.scorer, s.score, s.threshold, s.failure or "") for s in verdict.scorers]
    return tuple(meters)


def _trail(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    extractor, document, alignment = verdict.extractor, verdict.document, verdict.alignment
    matched = places = ""
    if alignment:
        matched = f"{alignment.route}, {alignment.matches} of {alignment.length} match"
        places = f", {alignment.occurrences} places" if alignment.occurrences > 1 else ""
    rows: list[tuple[str, str | None]] = [
        ("Extractor model", extractor.model if extractor else None),
        ("Prompt", extractor.prompt_digest if extractor else None),
        ("Schema", extractor.schema_digest if extractor else None),
        ("Scorer", verdict.scorer),
        ("Scorer revision", verdict.scorer_revision),
        ("Memory", verdict.memory.snapshot if verdict.memory else None),
        ("Alignment", f"{matched}{places}" if alignment else None),
        ("Document", verdict.doc_id),
        ("Document digest", document.digest if document else None),
        ("Record", str(document.coordinates) if document and document.coordinates else None),
        ("Extraction", verdict.extraction_id),
        ("Verdict", verdict.id),
        ("Former verdict", verdict.former.verdict_id if verdict.former else None),
    ]
    return tuple((label, value) for label, value in rows if value)


def _evidence_shown(verdict: Verdict) -> dict[str, object] | None:
    """At most `MAX_EVIDENCE` lines of each kind, and the triples as a picture; None without
    evidence, as on older verdicts."""
    evidence, text = verdict.evidence, verdict.value
    if not evidence:
        return None
    words = [text[s.start : s.end] for s in evidence.unsupported if isinstance(text, str)]
    triples = []
    for triple in evidence.triples[:MAX_EVIDENCE]:
        edge = " — ".join((triple.subject, triple.relation, triple.object))
        missing = f": {', '.join(triple.missing)}" if triple.missing else ""
        triples.append((cut(edge, 300), f"{STATUSES[triple.status]}{missing}"))
    passages = []
    for one in evidence.passages[:MAX_EVIDENCE]:
        score = "" if one.score is None else f", {one.score:.2f}"
        rests = " · the verdict rests on it" if one.supports else ""
        place = f"passage {one.passage + 1}, characters {one.start}–{one.end}"
        passages.append(f"{place}{score}{rests}")
    measures = [f"{cut(name, 40)} {share:.2f}" for name, share in evidence.measures.items()]
    return {
        "unsupported": [cut(word, 120) for word in words if word.strip()][:MAX_EVIDENCE],
        "triples": triples,
        "passages": passages,
        "measures": measures,
        # What the entities say is escaped where the picture is made.
        "graph": Markup(svg(draw(evidence.triples))) if evidence.triples else None,  # noqa: S704
    }


_SAID = {True: "accepted", False: "rejected", None: "disputed"}


def reviewed_alike(verdict: Verdict, hidden: Collection[str] = ()) -> dict[str, object] | None:
    """What people decided on values like this one, but for the cases in ``hidden``, the most alike
    first, and which way that moved the score; None where it had no part."""
    memory = verdict.memory
    if memory is None or not memory.cases:
        return None
    moved = "raised" if memory.shift > 0 else "lowered" if memory.shift < 0 else "left as it was"
    cases = [
        {
            "case_id": case.case_id,
            "said": f"{_SAID[case.supported]} by {', '.join(v.reviewer for v in case.votes)}",
            "likeness": case.likeness,
        }
        for case in memory.cases
        if case.case_id not in hidden
    ]
    return {"effect": f"the score was {moved} by them", "cases": cases}
