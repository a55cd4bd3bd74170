"""Draws of cases to label: those that teach most, often; every one, with a known probability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

FLOOR = 0.3
"""The share of draws that are uniform. No weight exceeds 1 / FLOOR: with less, the labels teach a
little more and certify much less."""
PREFERRED = 20
"""How many open cases, those that teach most, are drawn more often than the others."""

PREFERRED = 20
"""The cases that teach most, from which the other draws are taken."""


def teaching_value(margin: float, labels_of_type: int, labels_alike: int) -> float:
    """How much a case teaches, in [0, 2.5]: uncertain ones, of types that have few labels, unlike
    what was labelled (type, reasons and extractor)."""
    uncertain = max(0.0, 1.0 - 2.0 * margin)
    return uncertain + 1.0 / math.sqrt(1 + labels_of_type) + 0.5 / (1 + labels_alike)


class Chance(Protocol):
    """A source of randomness, such as `random.Random`."""

    def random(self) -> float: ...

    def randrange(self, stop: int, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Draw:
    """Which of ``among`` open cases was drawn (``position``), and how probable that was."""

    position: int
    probability: float
    among: int

    @property
    def weight(self) -> float:
        """How many open cases it stands for, relative to a uniform draw; at most 1 / floor."""
        return 1.0 / (self.probability * self.among)


def draw(preferred: Sequence[int], among: int, chance: Chance, floor: float = FLOOR) -> Draw:
    """One of ``among`` cases, numbered from 0.

    With probability ``floor`` any of them, all alike; else one of ``preferred``, all alike.

    Raises:
        ValueError: there is no case, or ``floor`` is not within 0 (exclusive) and 1.
    """
    if among < 1 or not 0 < floor <= 1:
        raise ValueError("a draw needs a case and a floor above 0")
    top = set(preferred)
    share = floor if top else 1.0
    if chance.random() < share:
        position = chance.randrange(among)
    else:
        position = list(preferred)[chance.randrange(len(preferred))]
    probability = share / among + ((1 - share) / len(top) if position in top else 0.0)
    return Draw(position, probability, among)
