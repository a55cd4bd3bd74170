"""Stops a role when everything fails, so that a broken deployment cannot quarantine the world."""

from collections import deque


class CircuitOpen(Exception):
    """Too much failed. The role stops without committing; nothing is lost."""


class CircuitBreaker:
    """Counts how processing ended, of records that could be read.

    It opens after ``consecutive`` failures in a row, or when at least ``ratio`` of the last
    ``window`` records failed. Records that their sender spoiled are not told to it at all: anyone
    who can write to a topic must neither be able to stop the role nor to hide that it is broken.
    """

    def __init__(self, *, consecutive: int = 50, ratio: float = 0.9, window: int = 200) -> None:
        self._consecutive = consecutive
        self._ratio = ratio
        self._recent: deque[bool] = deque(maxlen=window)
        self._in_a_row = 0

    def record(self, failed: bool) -> None:
        """Note one outcome. Raises `CircuitOpen` where it was one failure too many."""
        self._recent.append(failed)
        self._in_a_row = self._in_a_row + 1 if failed else 0
        if not failed:
            return
        if self._in_a_row >= self._consecutive:
            raise CircuitOpen(f"the last {self._in_a_row} records failed")
        failures, seen = sum(self._recent), len(self._recent)
        if seen == self._recent.maxlen and failures >= self._ratio * seen:
            raise CircuitOpen(f"{failures} of the last {seen} records failed")
