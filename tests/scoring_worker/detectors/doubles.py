"""A scorer that finds words, and entry points of packages that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint

from safepassage.passages.granularity import claims
from safepassage.schemas import Assessment
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.detectors.hallugraph.entailment import Support
from safepassage.scoring_worker.scorer import Pair


class WordScorer:
    """1 where every word of the claim stands in the premise, else the share that does.

    A premise with ``broken`` in it cannot be scored.
    """

    name, revision = "words", "words-1"

    def __init__(self) -> None:
        self.asked: list[Pair] = []
        self.closed = False

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        self.asked += pairs
        return [self._one(pair) for pair in pairs]

    def close(self) -> None:
        self.closed = True

    def _one(self, pair: Pair) -> Assessment:
        if "broken" in pair.premise:
            return Assessment(scorer="words", revision="words-1", failure="scorer_failed")
        words = str(pair.value).strip(".").lower().split()
        said = pair.premise.lower().replace(".", " ").split()
        share = sum(word in said for word in words) / len(words)
        return Assessment(scorer="words", revision="words-1", score=share, threshold=0.5)


class Entails:
    """Supports every sentence but those that hold one of ``denied``."""

    revision = "entails-1"

    def __init__(self, *denied: str) -> None:
        self._denied = denied

    def supports(self, answers: Sequence[Answer]) -> list[tuple[Support, ...] | str]:
        return [
            tuple(
                Support(a, b, float(not any(one in answer.response[a:b] for one in self._denied)))
                for a, b in claims(answer.response)
            )
            for answer in answers
        ]

    def close(self) -> None:
        """Holds nothing."""


def entry_point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group="safepassage.detectors")
