"""Draws of cases to label: those that teach most, often; every one, with a known probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

FLOOR = 0.3
"""The share of draws that are uniform. No weight exceeds 1 / FLOOR: with less, the labels teach a
little more and certify much less."""


FIRST_CHECKS = 100
"""So many spot checks are judged before they become rare: what passes unseen can be promised to be
at most 3% wrong only after 100 of them without an error (Clopper and Pearson, 95%)."""
EVERY, EVERY_AT_FIRST = 10, 2


def check_every(judged: int) -> int:
    """Of how many cases one is a spot check of an accepted value, where ``judged`` were judged."""
    return EVERY_AT_FIRST if judged < FIRST_CHECKS else EVERY


def checks_among(cases: int) -> int:
    """How many of the first ``cases`` reviewed cases are spot checks."""
    at_first = min(cases // EVERY_AT_FIRST, FIRST_CHECKS)
    return at_first + max(0, cases - EVERY_AT_FIRST * FIRST_CHECKS) // EVERY


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
        """How many open cases it represents, relative to a uniform draw; at most 1 / floor."""
        return 1.0 / (self.probability * self.among)


def draw(preferred: Sequence[int], among: int, chance: Chance, floor: float = FLOOR) -> Draw:
    """One of ``among`` cases, numbered from 0.

    With probability ``floor`` any of them, all alike; else one of ``preferred``, all alike. Raises
    `ValueError` where there is no case, or ``floor`` is not within 0 (exclusive) and 1."""
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
