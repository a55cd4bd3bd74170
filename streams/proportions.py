"""Proportions with the interval that says how little a small sample knows."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054


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
        """Wilson's 95% score interval (E. B. Wilson, JASA 22, 1927); (0, 1) without any trial."""
        if not self.total:
            return 0.0, 1.0
        n, p = self.total, self.successes / self.total
        spread = Z_95 * math.sqrt(p * (1 - p) / n + Z_95**2 / (4 * n**2))
        centre, scale = p + Z_95**2 / (2 * n), 1 + Z_95**2 / n
        low = 0.0 if self.successes == 0 else (centre - spread) / scale
        high = 1.0 if self.successes == n else (centre + spread) / scale
        return low, high
