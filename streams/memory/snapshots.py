"""The snapshots of scorers' memories: the topic ``memories``, read.

Every verdict names the snapshot that it leaned on, and no worker judges by one that is not on the
topic. A snapshot names its base and what changed since, so a decision costs one small record. The
topic is compacted by name, and a name has one content, so compaction takes nothing away: a replay
finds the memory of any verdict, and judges with the very states that the live scorer had. The topic
grows by about 1.5 kB a decision and scorer, and is read whole at the start of a worker.

A tombstone (key: the name) erases what a snapshot added. Those that rest on it are lost with it;
the workers' next snapshot rests on none then, and is made from ``decisions`` anew.
"""

import structlog

from safepassage.schemas import MemorySnapshot
from safepassage.schemas.memory import MemoryEntry
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory, MemoryFull
from safepassage.streams.kafka.topic_table import TopicTable
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.topics import MEMORIES

log = structlog.get_logger(__name__)


class SnapshotLost(OperatorError):
    """A snapshot, or one that it rests on, is not on the topic any more."""


class Snapshots(TopicTable[MemorySnapshot]):
    """What the topic holds, by name."""

    topic = MEMORIES
    model = MemorySnapshot

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def key_of(self, event: MemorySnapshot) -> str:
        return event.name

    def put(self, event: MemorySnapshot) -> None:
        """Count one snapshot."""
        super().put(event)
        self._last[event.scorer] = event.name

    def last(self, scorer: str) -> Memory:
        """The memory of the last snapshot that was made for ``scorer`` (see `memory_revision`); an
        empty one where it is missing, or where it is lost."""
        try:
            return self.memory(self._last[scorer], scorer) if scorer in self._last else NO_MEMORY
        except SnapshotLost as error:
            log.warning("memory_lost", detail=str(error))
            return NO_MEMORY

    def memory(self, name: str, scorer: str) -> Memory:
        """The memory of that name."""
        chain: list[MemorySnapshot] = []
        wanted: str | None = name
        while wanted is not None:
            snapshot = self.get(wanted)
            if snapshot is None:
                raise SnapshotLost(
                    f"memory {name} cannot be built: snapshot {wanted} is not on the topic "
                    "memories; choose another snapshot, or `--memory now`"
                )
            if snapshot.scorer != scorer:
                raise SnapshotLost(
                    f"memory {name} was made for another scorer or version; replay with the scorer "
                    "that the verdict names, or choose `--memory now`"
                )
            chain.append(snapshot)
            wanted = snapshot.base
        entries: dict[str, MemoryEntry] = {}
        try:
            for snapshot in reversed(chain):
                for gone in snapshot.removed:
                    del entries[gone]
                entries |= {entry.id: entry for entry in snapshot.added}
            return Memory.of(name, entries)
        except (KeyError, MemoryFull):
            raise SnapshotLost(
                f"memory {name} is damaged: a snapshot takes out what its base does not hold, or "
                "holds too much; choose another snapshot, or `--memory now`"
            ) from None
