"""The vote of the nearest reviewed values, and by how much it moves a score.

Each reviewer votes with the `NEAREST` values that he judged and that are most like this one, by
the weights e^{10(s-1)} of their likeness s; together they weigh at most `REVIEWER_WEIGHT`. So a
reviewer who judged much has no more to say here than one who judged a little, and opposite votes
cancel. The sum is shrunk by `SHRINK`: where nothing is alike, there is no vote.

Two votes are taken: of what people said (1 supported, -1 not), and of what they said beyond the
scorer's own probability at that time (1 - p, -p). The second is what the scorer has to learn:
labels of quarantine alone, nearly all negative, teach it little that it did not know.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NEAREST = 5
SHARPNESS = 10.0
SHRINK = 0.3
REVIEWER_WEIGHT = 1.0
MANY = 100
"""From so many reviewed values of a type on, more do not count."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A reviewed value: how alike it is, who judged it how, and the scorer's own probability."""

    likeness: float
    reviewer: str
    supported: bool
    probability: float


def vote_features(neighbours: Mapping[str, Sequence[Neighbour]], count: int) -> dict[str, float]:
    """Features in [-1, 1]: ``vote``, ``beyond``, each alone and times ``nearest`` (the likeness of
    the nearest) and ``many`` (how many of the type there are). ``neighbours`` are the nearest of
    each reviewer."""
    votes = {"vote": 0.0, "beyond": 0.0}
    weight = 0.0
    nearest = 0.0
    for reviewer in sorted(neighbours):
        own = [(math.exp(SHARPNESS * (n.likeness - 1.0)), n) for n in neighbours[reviewer]]
        total = sum(w for w, _ in own)
        if not total:
            continue
        share = min(1.0, REVIEWER_WEIGHT / total)
        votes["vote"] += share * sum(w * (1.0 if n.supported else -1.0) for w, n in own)
        votes["beyond"] += share * sum(w * (n.supported - n.probability) for w, n in own)
        weight += share * total
        nearest = max(nearest, *(n.likeness for _, n in own))
    many = min(1.0, math.log1p(count) / math.log1p(MANY))
    said = {name: value / (weight + SHRINK) for name, value in votes.items()}
    return {
        **said,
        **{f"{name}_nearest": value * nearest for name, value in said.items()},
        **{f"{name}_many": value * many for name, value in said.items()},
    }
