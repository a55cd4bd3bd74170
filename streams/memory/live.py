"""A worker's memory, kept up with ``decisions``.

::

    decisions ─▶ what is in force ─▶ states of the new values ─▶ memories ─▶ the scorer's next batch

At its start a worker reads what is in force and the last snapshot for its scorer; it reads again
only the values that this lacks. From then on each change makes a snapshot, at most two a second.
It is on the topic before any verdict names it; where the broker does not take it, the worker goes
on with the memory it has.

The topic ``memories`` is compacted by name, and a name has one content, so compaction takes nothing
away: a replay judges with the very states that the live scorer had. It grows by about 1.5 kB a
decision and scorer. A tombstone erases what a snapshot added; those that rest on it are lost with
it, and the next snapshot is made from ``decisions`` anew, where what was undone is gone.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import structlog

from safepassage.schemas import MemorySnapshot, StandingDecision
from safepassage.schemas.memory import MemoryEntry
from safepassage.schemas.reviews_that_count import moment
from safepassage.scoring_worker import Scorer
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory, MemoryFull, within_bounds
from safepassage.scoring_worker.memory.learning import (
    RemembersDecisions,
    learnt_entries,
    memory_revision,
    remembering,
)

from ..kafka.publisher import Publisher, PublishFailed
from ..kafka.records import Outgoing
from ..kafka.topic_table import TopicTable
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import MEMORIES
from ..verdicts.standing_decisions import StandingDecisions

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
        super().put(event)
        self._last[event.scorer] = event.name

    def last(self, scorer: str) -> Memory:
        """The last memory that was made for ``scorer``; an empty one where it is lost or none."""
        try:
            return self.memory(self._last[scorer], scorer) if scorer in self._last else NO_MEMORY
        except SnapshotLost as error:
            log.warning("memory_lost", detail=str(error))
            return NO_MEMORY

    def memory(self, name: str, scorer: str) -> Memory:
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


ENTRIES_OF_A_SNAPSHOT = 500
"""More become several snapshots, each on the other: about 1 MB a record."""
REST_SECONDS = 0.5
RETRY_SECONDS = 10.0
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class MemoryOfDecisions:
    """The memory of one scorer, and what it is made of."""

    def __init__(self, scorer: RemembersDecisions, memory: Memory) -> None:
        self.memory = memory
        self._scorer = scorer
        self._revision = memory_revision(scorer)
        self._learnt: dict[str, tuple[MemoryEntry, ...]] = {}
        self._decided: dict[str, datetime] = {}
        for entry in memory.entries.values():
            self._learnt[entry.case_id] = (*self._learnt.get(entry.case_id, ()), entry)

    async def learn(self, held: StandingDecisions, cases: Iterable[str]) -> list[MemorySnapshot]:
        """What has to be published for ``cases`` to count as they are now; `take` it then."""
        new: list[StandingDecision] = []
        for case in cases:
            decision = held.get(case)
            if decision is None:
                self._learnt.pop(case, None)
                continue
            self._decided[case] = moment(decision.decided_at) if decision.decided_at else _LONG_AGO
            if {entry.review_id for entry in self._learnt.get(case, ())} != {decision.review_id}:
                new.append(decision)
        learnt = await asyncio.to_thread(learnt_entries, new, self._scorer)
        self._learnt |= zip((decision.case_id for decision in new), learnt, strict=True)
        return self._snapshots()

    def take(self, snapshots: Sequence[MemorySnapshot]) -> None:
        """Lean on ``snapshots``, which follow one another, from the next batch on."""
        for snapshot in snapshots:
            self.memory = self.memory.changed(snapshot)
        self._scorer.remember(self.memory)

    def _snapshots(self) -> list[MemorySnapshot]:
        ordered = sorted((self._decided.get(case, _LONG_AGO), case) for case in self._learnt)
        entries = [entry for _, case in ordered for entry in self._learnt[case]]
        wanted = {entry.id: entry for entry in within_bounds(entries)}
        held = self.memory.entries
        removed = tuple(sorted(held.keys() - wanted.keys()))
        added = [entry for id_, entry in wanted.items() if id_ not in held]
        snapshots: list[MemorySnapshot] = []
        base = self.memory.name or None
        for start in range(0, max(len(added), 1), ENTRIES_OF_A_SNAPSHOT):
            part = tuple(added[start : start + ENTRIES_OF_A_SNAPSHOT])
            gone = removed if not snapshots else ()
            if part or gone:
                snapshots.append(MemorySnapshot.of(self._revision, base, part, gone))
                base = snapshots[-1].name
        return snapshots


class LiveMemory:
    """Keeps the memory of the scorer in force up with ``held``."""

    def __init__(self, held: StandingDecisions, publisher: Publisher, settings: Settings) -> None:
        self._held = held
        self._publisher = publisher
        self._settings = settings
        self._book: MemoryOfDecisions | None = None
        self._cases: set[str] = set()
        self._noted = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        held.on_change = self._note

    async def prepare(self, scorer: Scorer) -> None:
        """Give ``scorer``, which is to be put into force, the memory of all decisions in force."""
        async with self._one_at_a_time:
            self._book = None
            remembers = remembering(scorer)
            if remembers is None:
                return
            last = await last_memory(self._settings, remembers)
            book = MemoryOfDecisions(remembers, last)
            self._cases.clear()  # what is noted from here on is not in what is read now
            remembers.remember(book.memory)
            await self._bring_up(book, _cases_of(self._held, book))
            self._book = book
        log.info("memory_in_force", memory=book.memory.name, values=len(book.memory))

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            await self._noted.wait()
            async with self._one_at_a_time:
                self._noted.clear()
                cases, self._cases = self._cases, set()
                if self._book:
                    await self._try(self._book, cases)
            await asyncio.sleep(REST_SECONDS)

    async def _try(self, book: MemoryOfDecisions, cases: set[str]) -> None:
        try:
            await self._bring_up(book, cases)
        except PublishFailed as error:
            log.warning("memory_waits_for_kafka", detail=str(error))
            self._cases |= cases
            self._noted.set()
            await asyncio.sleep(RETRY_SECONDS)

    def _note(self, case_id: str) -> None:
        self._cases.add(case_id)
        self._noted.set()

    async def _bring_up(self, book: MemoryOfDecisions, cases: Iterable[str]) -> None:
        snapshots = await book.learn(self._held, cases)
        outgoing = [Outgoing(MEMORIES, snapshot.name, snapshot) for snapshot in snapshots]
        refused = await self._publisher.publish(outgoing) if outgoing else {}
        if refused:
            log.error("snapshot_refused", error=next(iter(refused.values())))
            return
        book.take(snapshots)


def _cases_of(held: StandingDecisions, book: MemoryOfDecisions) -> set[str]:
    remembered = {entry.case_id for entry in book.memory.entries.values()}
    return remembered | set(held.keys())


async def memory_as_it_stands(settings: Settings, scorer: RemembersDecisions) -> Memory:
    """The memory that a worker with ``scorer`` would have now; nothing is published."""
    with contextlib.closing(StandingDecisions()) as held:
        await held.read(settings)
        book = MemoryOfDecisions(scorer, await last_memory(settings, scorer))
        book.take(await book.learn(held, _cases_of(held, book)))
        return book.memory


async def last_memory(settings: Settings, scorer: RemembersDecisions) -> Memory:
    with contextlib.closing(Snapshots()) as snapshots:
        return (await snapshots.read(settings)).last(memory_revision(scorer))
