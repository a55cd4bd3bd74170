"""How far a role is behind, partition by partition, for the metric and for `/health`."""

import contextlib
from collections.abc import Iterable

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError

from ..kafka.reading import readable_end, unplaced
from ..runtime import metrics
from ..runtime.progress import Progress


class LagMeter:
    """Sets the lag of the partitions that a role has now, and removes those that it had: what
    was given up is another's, and a figure that no longer changes would be added to theirs."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._role = progress.role
        self._shown: set[tuple[str, str]] = set()

    def show(
        self, behind: Iterable[tuple[str, int, int]], lost: Iterable[TopicPartition] = ()
    ) -> None:
        """Of each topic and partition assigned now, how many records are still to be done; ``lost``
        are those of which is not known where to read."""
        self._progress.note_unplaced(sorted(f"{tp.topic}-{tp.partition}" for tp in lost))
        now = {(topic, str(partition)): lag for topic, partition, lag in behind}
        for gone in self._shown - now.keys():
            metrics.LAG.remove(self._role, *gone)
        for labels, lag in now.items():
            metrics.LAG.labels(self._role, *labels).set(max(0, lag))
        self._shown = set(now)

    async def measure(self, consumer: AIOKafkaConsumer) -> dict[TopicPartition, int]:
        """Show how far ``consumer`` is behind its last fetches' ends; returns where it is."""
        positions, behind = {}, []
        for tp in consumer.assignment():
            high = readable_end(consumer, tp)
            if high is not None:
                with contextlib.suppress(IllegalStateError):  # it was given up meanwhile
                    positions[tp] = int(await consumer.position(tp))
                behind.append((tp.topic, tp.partition, high - positions.get(tp, high)))
        self.show(behind, unplaced(consumer))
        return positions

    def clear(self) -> None:
        self.show(())
