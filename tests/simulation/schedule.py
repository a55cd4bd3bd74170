"""What goes wrong in a run, and when: drawn from a seed, printed, shrunk."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROLES = ("extract", "align", "score", "report", "review")
TOPICS = (
    "*",
    "extractions",
    "manifests",
    "alignments",
    "accepted",
    "quarantine",
    "dead-letters",
    "reviews",
    "decisions",
    "memories",
    "reports",
    "audit",
)
SECONDS = 15.0
"""Of a run in which things go wrong; then everything is mended."""


@dataclass(frozen=True, slots=True)
class Fault:
    """``target`` is a role or a topic; ``amount`` seconds, a factor or a scorer's number."""

    at: float
    kind: str
    target: str = ""
    seconds: float = 0.0
    amount: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.at:6.2f} s  {self.kind:<11} {self.target:<13}"
            f" for {self.seconds:.2f} s, amount {self.amount:.2f}"
        )


Make = Callable[[random.Random, float], Fault]


def _role(kind: str, *, most: float = 0.0, amount: tuple[float, float] = (0.0, 0.0)) -> Make:
    return lambda draw, at: Fault(
        at, kind, draw.choice(ROLES), draw.uniform(0, most), draw.uniform(*amount)
    )


def _topic(kind: str, most: float) -> Make:
    return lambda draw, at: Fault(at, kind, draw.choice(TOPICS), draw.uniform(0.1, most))


KINDS: Sequence[tuple[int, Make]] = (
    (6, _role("kill")),
    (3, _role("stop")),
    (4, _role("join", most=4.0)),
    (4, _role("pause", most=12.0)),
    (2, _role("slow", most=5.0, amount=(10.0, 2_000.0))),
    (2, _role("clock", amount=(-7_200.0, 7_200.0))),
    (3, _topic("refuse", 5.0)),
    (4, _topic("lose-answer", 3.0)),
    (2, _topic("repeat", 5.0)),
    (2, lambda draw, at: Fault(at, "silent", seconds=draw.uniform(0.1, 9.0))),
    (2, lambda draw, at: Fault(at, "llm", seconds=draw.uniform(0.1, 2.0))),
    (1, lambda draw, at: Fault(at, "redis-away", seconds=draw.uniform(0.5, 5.0))),
    (1, lambda _draw, at: Fault(at, "redis-flush")),
    (1, lambda _draw, at: Fault(at, "redis-lies")),
    (1, lambda draw, at: Fault(at, "release", amount=float(draw.randint(1, 2)))),
)


def schedule(seed: int) -> list[Fault]:
    """The faults of a seed, in order of time. Every eighth seed has none."""
    draw = random.Random(f"faults {seed}")
    if seed % 8 == 0:
        return []
    makes = draw.choices([make for _, make in KINDS], [weight for weight, _ in KINDS], k=12)
    chosen = makes[: draw.randint(1, 12)]
    return sorted((make(draw, draw.uniform(0.2, SECONDS)) for make in chosen), key=lambda f: f.at)


def shrunk(faults: Sequence[Fault], fails: Callable[[Sequence[Fault]], bool]) -> list[Fault]:
    """As few of ``faults`` as still fail: one is left out at a time until none can be."""
    kept = list(faults)
    while True:
        for at in range(len(kept)):
            fewer = kept[:at] + kept[at + 1 :]
            if fails(fewer):
                kept = fewer
                break
        else:
            return kept
