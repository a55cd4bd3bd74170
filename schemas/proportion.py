"""Proportions with the interval that says how little a small sample knows."""

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054


def wilson(successes: float, total: float) -> tuple[float, float]:
    """Wilson's 95% score interval (E. B. Wilson, JASA 22, 1927); (0, 1) without any trial.

    ``successes`` of ``total`` trials; both may be weighted counts.
    """
    if total <= 0:
        return 0.0, 1.0
    share = successes / total
    spread = Z_95 * math.sqrt(share * (1 - share) / total + Z_95**2 / (4 * total**2))
    centre, scale = share + Z_95**2 / (2 * total), 1 + Z_95**2 / total
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == total else (centre + spread) / scale
    return low, high


@dataclass(frozen=True, slots=True)
class Proportion:
    """``successes`` of ``total`` trials."""

    successes: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.total:
            raise ValueError(f"{self.successes} of {self.total} is no proportion")

    @property
    def share(self) -> float | None:
        """In [0, 1]; None without any trial."""
        return self.successes / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% score interval; (0, 1) without any trial."""
        return wilson(self.successes, self.total)
