"""What detectors share: the scorer that they judge with, and an answer by its worst claim."""

from safepassage.passages.granularity import over_claims
from safepassage.schemas.evidence import MAX_CONSULTED, Evidence, UnsupportedSpan
from safepassage.scoring_worker.scorer import Scorer

from .contract import ClaimGrounding, DetectorSettings, Grounding


def named_scorer(settings: DetectorSettings, name: str | None = None) -> Scorer:
    """The scorer ``name``, or the one that ``settings`` name, as they say that it runs. Raises
    `ModelError` where there is no such scorer."""
    from safepassage.scoring_worker.scorers.by_name import load_named  # noqa: PLC0415 (torch: seconds)

    return load_named(
        name or settings.scorer,
        device=settings.device,
        precision=settings.precision,
        threads=settings.threads,
        grader=settings.llm,
    )


def grounding_of(judged: tuple[ClaimGrounding, ...], unsupported_below: float = 0.5) -> Grounding:
    """The response of its claims: as grounded as the worst. No claim at all is undetermined.

    Claims below ``unsupported_below`` are named as unsupported spans.
    """
    if not judged:
        return Grounding.undetermined("no_claims")
    spans = [
        UnsupportedSpan(start=claim.start, end=claim.end, support=claim.score)
        for claim in judged
        if claim.score is not None and claim.score < unsupported_below
    ]
    consulted = [passage for claim in judged for passage in claim.passages if passage.supports]
    evidence = Evidence(
        unsupported=tuple(spans[:200]), passages=tuple(dict.fromkeys(consulted))[:MAX_CONSULTED]
    )
    score = over_claims([claim.score for claim in judged])
    failure = next((claim.failure for claim in judged if claim.failure), None)
    return Grounding(score=score, failure=failure, claims=judged, evidence=evidence)
