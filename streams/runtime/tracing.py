"""Traces: what a record's handling is told to, and the trace context (W3C) that records carry.

Where nothing is traced, which is the default, a trace context that a record brings is passed on to
what it leads to. `safepassage.streams.runtime.otel` traces, where SAFEPASSAGE_TRACES is set.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from safepassage.schemas import Verdict

TRACEPARENT = "traceparent"
Consumed = Any  # A `safepassage.streams.kafka.records.Record`, which this floor does not know
_FORM = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class BatchTrace:
    """A batch of records while it is handled; this one traces nothing."""

    def traceparent(self, record: Consumed) -> str | None:
        carried: str | None = record.traceparent
        return carried

    def failed(self, record: Consumed, error: str) -> None:
        """Note that ``record`` became a dead letter; ``error`` is its name."""

    def judged(self, record: Consumed, verdict: Verdict) -> None:
        """Note the verdict that ``record`` led to."""


class Tracing:
    """What is traced in this process: nothing."""

    @contextmanager
    def batch(self, role: str, records: Sequence[Consumed]) -> Iterator[BatchTrace]:
        """Around the handling of a batch, from its decoding to its last acknowledgement."""
        yield _UNTRACED

    def origin(self, topic: str) -> str | None:
        """The trace context of a record for ``topic`` that comes of no other."""
        return None

    def stop(self) -> None:
        """Send what is left."""


_UNTRACED = BatchTrace()
_active: list[Tracing] = [Tracing()]


def tracing() -> Tracing:
    return _active[-1]


def use(other: Tracing) -> None:
    """Trace with ``other`` until `stop`."""
    _active.append(other)


def stop() -> None:
    """Send what is left, and trace as before `use`."""
    if len(_active) > 1:
        _active.pop().stop()


def valid_traceparent(value: bytes) -> str | None:
    """``value`` of a header where it is a trace context of the version that is known."""
    text = value.decode("ascii", "replace")
    return text if _FORM.fullmatch(text) else None
