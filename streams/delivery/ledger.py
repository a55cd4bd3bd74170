"""Which offsets may be committed: the one piece of bookkeeping that promise P1 rests on."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)
"""A topic and a partition number: aiokafka's TopicPartition, and Faust's."""


@dataclass(slots=True)
class _Progress:
    outstanding: dict[int, None] = field(default_factory=dict)  # ordered by delivery
    next_offset: int = 0
    committed: int | None = None
    gap: tuple[int, int] = (0, 0)  # no record is from the first offset to before the second

    @property
    def reached(self) -> int:
        """The lowest offset that is not done."""
        done = next(iter(self.outstanding), self.next_offset)
        start, stop = self.gap
        return stop if done == start else done


class OffsetLedger(Generic[P]):
    """Tracks each delivered record until everything it led to is safely published.

    The committable offset of a partition is its lowest delivered offset that is not finished,
    or one past the highest delivered when all are. It rests on what was delivered, not on
    arithmetic over offsets, so gaps that transactions and compaction leave are no special case,
    and a slow record holds back the commit of the faster ones behind it. A gap at the end is the
    exception: the marker of a transaction counts as lag until it is passed (`skipped`).
    """

    def __init__(self) -> None:
        self._progress: dict[P, _Progress] = {}

    def delivered(self, partition: P, offset: int) -> None:
        """A record was handed to the role. Offsets of a partition arrive in ascending order; an
        earlier one means that the partition was rewound and is delivered again from there."""
        progress = self._progress.setdefault(partition, _Progress())
        if offset < progress.next_offset:
            progress.outstanding.clear()
        progress.outstanding[offset] = None
        progress.next_offset = offset + 1

    def finished(self, partition: P, offset: int) -> None:
        """Everything the record led to is acknowledged. Unknown records are ignored: their
        partition was revoked meanwhile and its next owner handles them again."""
        if progress := self._progress.get(partition):
            progress.outstanding.pop(offset, None)

    def skipped(self, partition: P, start: int, stop: int) -> None:
        """The consumer read on from ``start`` to ``stop`` and found no record. What was delivered
        before is not known to be all of it where nothing was: nothing is noted then."""
        if progress := self._progress.get(partition):
            progress.gap = (start, stop)

    def committable(self, partition: P) -> int | None:
        """The offset to commit, or None where that would change nothing."""
        progress = self._progress.get(partition)
        if progress is None:
            return None
        safe = progress.reached
        return safe if progress.committed is None or safe > progress.committed else None

    def reached(self, partition: P) -> int | None:
        """The lowest offset that is not done; None where nothing was delivered yet."""
        progress = self._progress.get(partition)
        return progress.reached if progress else None

    def committed(self, partition: P, offset: int) -> None:
        """The broker stored ``offset``."""
        if progress := self._progress.get(partition):
            progress.committed = offset

    def forget(self, partitions: Iterable[P]) -> None:
        """The partitions were revoked, or will be delivered again from the committed offset."""
        for partition in partitions:
            self._progress.pop(partition, None)

    def partitions(self) -> Sequence[P]:
        """The partitions from which something was delivered."""
        return tuple(self._progress)
