"""From what was judged to the whole, in one place.

A response is cut into claims, and each is judged in every window of its context. The one that
published implementations get wrong: a claim is out of context only where it is so in EVERY window,
so a claim is as grounded as its best window; a response is out of context where ANY of its claims
is, so it is as grounded as its worst claim (RAGulator, sections 2.1 and 3.3). SummaC and MiniCheck
read windows alike.
"""

from collections.abc import Sequence
from typing import Literal

from safepassage.passages.sentence_splitting import sentences

Aggregation = Literal["min", "max", "mean"]
"""``mean`` over claims is the share that is grounded: RAGAS faithfulness, SelfCheckGPT, SummaC."""


def aggregate(how: Aggregation, scores: Sequence[float | None]) -> float | None:
    """One score in [0, 1] of several, None where it is undetermined.

    Nothing to aggregate is undetermined, never 1. One unknown score makes the whole unknown.
    """
    known = [score for score in scores if score is not None]
    if not known or len(known) < len(scores):
        return None
    if how == "mean":
        return sum(known) / len(known)
    return min(known) if how == "min" else max(known)


def over_windows(scores: Sequence[float | None]) -> float | None:
    """How grounded a claim is: as in its best window; None where a window is not known."""
    return aggregate("max", scores)


def over_claims(scores: Sequence[float | None]) -> float | None:
    """How grounded a response is: as its worst claim; None where a claim is not known."""
    return aggregate("min", scores)


MAX_RETRIEVED_FROM = 1_000_000
"""Characters of a context: more is no retrieval."""


def unusable_context(context: Sequence[str]) -> str | None:
    """Why no passages are retrieved from ``context``; None where they are."""
    if sum(map(len, context)) > MAX_RETRIEVED_FROM:
        return "context_too_long"
    return None if any(text.strip() for text in context) else "no_context"


def claims(response: str) -> list[tuple[int, int]]:
    """The sentences of a response, each a claim: code points in it."""
    return list(sentences(response))
