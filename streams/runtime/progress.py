"""Whether a role is alive: the age of its last progress, seen from outside the consumer."""

from __future__ import annotations

import time
from collections.abc import Callable

from . import metrics


class Progress:
    """Notes polls and finished records of one role.

    A role that has nothing to do makes progress by polling; one that holds records makes
    progress only by finishing some. So a consumer that stopped fetching and a step that hangs
    both grow old.
    """

    def __init__(self, role: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.role = role
        self.outstanding = 0
        self._clock = clock
        self._last = clock()

    def polled(self) -> None:
        """The consumer asked for records and got its answer, possibly an empty one."""
        if not self.outstanding:
            self._touch()

    def delivered(self, count: int = 1) -> None:
        if not self.outstanding:
            self._touch()
        self._set_outstanding(self.outstanding + count)

    def finished(self, count: int = 1) -> None:
        self._set_outstanding(max(0, self.outstanding - count))
        self._touch()

    def dropped(self, count: int) -> None:
        """Records left the role unfinished: their partition was revoked."""
        self._set_outstanding(max(0, self.outstanding - count))

    @property
    def age_seconds(self) -> float:
        """Seconds since the last progress."""
        return self._clock() - self._last

    def _set_outstanding(self, count: int) -> None:
        self.outstanding = count
        metrics.IN_FLIGHT.labels(self.role).set(count)

    def _touch(self) -> None:
        self._last = self._clock()
        metrics.LAST_PROGRESS.labels(self.role).set_to_current_time()
