"""Whether a role is alive: the age of its last progress, seen from outside the consumer."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from . import metrics


class Progress:
    """Notes polls and finished records of one role.

    A role that has nothing to do makes progress by polling; one that holds records makes
    progress only by finishing some, or by waiting for something that has a deadline and is not
    past it (`within`). So a consumer that stopped fetching and a step that hangs both grow old, and
    so does a consumer that does not learn where to read some of its partitions.
    """

    def __init__(self, role: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.role = role
        self.outstanding = 0
        # When the oldest record that is held was written, in milliseconds since 1970.
        self.oldest_timestamp: Callable[[], int | None] | None = None
        self.unplaced: Sequence[str] = ()
        self._clock = clock
        self._last = self._placed = clock()
        self._deadlines: list[float] = []

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What is done here ends within ``seconds``, or hangs. A worker that waits for a slow LLM
        would otherwise seem stuck: it would be restarted, and every call be paid for again."""
        deadline = self._clock() + seconds
        self._deadlines.append(deadline)
        try:
            yield
        finally:
            self._deadlines.remove(deadline)
            if self._clock() <= deadline:
                self._touch()

    def polled(self) -> None:
        """The consumer asked for records and got its answer, possibly an empty one."""
        if not self.outstanding:
            self._touch()

    def note_unplaced(self, partitions: Sequence[str]) -> None:
        """The partitions that the role has and does not read, not knowing where."""
        if not (partitions and self.unplaced):
            self._placed = self._clock()
        self.unplaced = partitions

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
        """Seconds since the last progress, or since the last deadline that was not kept; or, where
        it is longer, that some of the partitions are not read."""
        last = max((self._last, *self._deadlines))
        return max(0.0, self._clock() - (min(last, self._placed) if self.unplaced else last))

    def _set_outstanding(self, count: int) -> None:
        self.outstanding = count
        metrics.IN_FLIGHT.labels(self.role).set(count)

    def _touch(self) -> None:
        self._last = self._clock()
        metrics.LAST_PROGRESS.labels(self.role).set_to_current_time()

    def report(self) -> None:
        """Tell the metrics how old the last progress and the oldest held record are."""
        now = time.time()
        metrics.LAST_PROGRESS.labels(self.role).set(now - self.age_seconds)
        if self.oldest_timestamp is not None:
            oldest = self.oldest_timestamp()
            age = 0.0 if oldest is None else max(0.0, now - oldest / 1000)
            metrics.OLDEST_AGE.labels(self.role).set(age)
