"""What today's code answers to a case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from safepassage.schemas import Assessment, Finding, SchemaField, hypothesis
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Passage, Place, Question
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.hallugraph.detector import HalluGraph
from safepassage.scoring_worker.detectors.hallugraph.entailment import Support
from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor
from safepassage.scoring_worker.packs.registry import packs_named
from safepassage.scoring_worker.scorers.default import DefaultScorer

Asks = Mapping[str, Any]
"""What a case asks: ``type``, ``value`` and ``quote``, with what else is known of them."""
Said = dict[str, Any]
"""What was answered, without what is empty."""

DECIMALS = 3
"""Digits of a score that are kept."""
MARGIN = 0.005
"""A score so near its threshold could be decided otherwise on another machine."""


def compared(asked: Sequence[Asks]) -> list[Said]:
    """Answer, kind, places and codes of findings of the comparators."""
    return [_compared(each) for each in asked]


def _compared(asked: Asks) -> Said:
    passage = Passage(
        asked["quote"],
        asked.get("before", ""),
        asked.get("after", ""),
        asked.get("heading", ""),
        tuple(asked.get("between", ())),
        asked.get("language"),
        asked.get("day_first"),
    )
    allowed = tuple(asked.get("allowed", ()))
    found = compare(Question(asked["type"], asked["value"], passage, allowed=allowed))
    said = {
        "answer": found.answer,
        "kind": found.kind,
        "places": _places(found.places),
        "rivals": _places(found.rivals),
        "companions": _places(found.companions),
        "findings": _codes(found.findings),
    }
    return _without_empty(said)


def scored(asked: Sequence[Asks]) -> list[Said]:
    """Score, decision, failure, findings and unsupported words of the small scorer, on a CPU
    in fp32. Cases with the same packs are scored together."""
    scorer = load_scorer("small", device="cpu", precision="fp32", packs=())
    assert isinstance(scorer, DefaultScorer)
    together: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, each in enumerate(asked):
        together[tuple(each.get("packs", ()))].append(at)
    said: list[Said] = [{}] * len(asked)
    for names, positions in together.items():
        packed = DefaultScorer(scorer.manifest, scorer.reader, packs_named(names))
        assessed = packed.assess([pair_of(asked[at]) for at in positions])
        for at, assessment in zip(positions, assessed, strict=True):
            said[at] = _scored(assessment)
    return said


def pair_of(asked: Asks) -> Pair:
    """The pair that a case asks for, its hypothesis worded anew."""
    allowed = asked.get("allowed")
    return Pair(
        asked["quote"],
        hypothesis(asked["type"], asked["value"]),
        asked["type"],
        asked["value"],
        before=asked.get("before", ""),
        after=asked.get("after", ""),
        between=tuple(asked.get("between", ())),
        heading=asked.get("heading", ""),
        language=asked.get("language"),
        day_first=asked.get("day_first"),
        field=SchemaField(allowed=tuple(allowed)) if allowed else None,
        absent=tuple((a, b) for a, b in asked["absent"]) if "absent" in asked else None,
    )


def _scored(assessment: Assessment) -> Said:
    score, threshold = assessment.score, assessment.threshold
    supported = score is not None and threshold is not None and score >= threshold
    spans = assessment.evidence.unsupported if assessment.evidence else ()
    said = {
        "decision": "supported" if supported else "unsupported" if score is not None else "failed",
        "score": None if score is None else round(score, DECIMALS),
        "failure": assessment.failure,
        "findings": _codes(assessment.findings),
        "unsupported": [[span.start, span.end] for span in spans],
        "borderline": _borderline(score, threshold),
    }
    return _without_empty(said)


def _borderline(score: float | None, threshold: float | None) -> bool:
    if score is None or threshold is None:
        return False
    return abs(score - threshold) <= MARGIN


def graphed(asked: Sequence[Asks]) -> list[Said]:
    """Score, measures and unsupported words of HalluGraph without a model."""
    answers = [Answer(tuple(each["context"]), each["response"]) for each in asked]
    said = []
    read = [(Support(0, len(answer.response), 1.0),) for answer in answers]
    for grounding in HalluGraph("hallugraph", LocalExtractor()).drawn(answers, read):
        evidence = grounding.evidence
        triples = sorted(triple.status for triple in evidence.triples)
        found = {
            "score": None if grounding.score is None else round(grounding.score, DECIMALS),
            "failure": grounding.failure,
            "unsupported": [[span.start, span.end] for span in evidence.unsupported],
            "triples": {status: triples.count(status) for status in dict.fromkeys(triples)},
        }
        said.append(_without_empty(found))
    return said


def _places(places: Sequence[Place]) -> list[list[int]]:
    return [[place.start, place.end] for place in places]


def _codes(findings: Sequence[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def _without_empty(said: Said) -> Said:
    empty = (None, [], {})
    return {name: v for name, v in said.items() if v is not False and v not in empty}
