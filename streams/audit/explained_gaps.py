"""What a topic's retention explains of the records that are gone from its beginning.

Anyone who may delete records can cut off a beginning as retention does. What tells them apart is
time: retention takes nothing before its time is over, and nothing at all where that is for ever.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from safepassage.streams.kafka.configuration import FOR_EVER

from .chain import Recorded

# What the clocks of broker and verifier may differ by, and an entry be younger than its record.
TOLERANCE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Retention:
    """One topic's retention at ``now_ms``. ``kept_ms`` is negative for ever, None where the broker
    does not tell it."""

    kept_ms: int | None
    now_ms: int

    def explains(self, entry: Recorded) -> bool:
        """Whether the record of ``entry`` may be gone.

        A record's own time is gone with it. Its entry is written after it, half a second later
        where the auditor runs, so that counting from there errs to the strict side.
        """
        if not self.ends or entry.written_ms is None:
            return False
        return entry.written_ms + self._kept <= self.now_ms + TOLERANCE_MS

    @property
    def ends(self) -> bool:
        """Whether anything may be gone at all."""
        return self.kept_ms is not None and self.kept_ms >= 0

    def reason(self, entry: Recorded | None = None) -> str:
        """Why the record of ``entry``, or any, should still be there."""
        if self.kept_ms is None:
            return "the broker does not tell for how long it keeps them (grant DescribeConfigs)"
        if not self.ends:
            return f"the topic keeps them for ever (retention.ms={FOR_EVER})"
        if entry is None or entry.written_ms is None:
            return "when they were recorded is not known"
        due = datetime.fromtimestamp((entry.written_ms + self._kept) / 1000, UTC)
        return f"retention.ms={self.kept_ms} keeps them until {due:%Y-%m-%d %H:%M} UTC"

    @property
    def _kept(self) -> int:
        # A year 9999 is for ever as well, and a larger number no date.
        return min(self.kept_ms or 0, 100 * 366 * 24 * 3600 * 1000)
