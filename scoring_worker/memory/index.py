"""The memory: what people decided, by entity type, for one look-up a value.

A `Memory` never changes: what is learnt makes another, which shares the types that did not change.
So a batch is judged by one memory, and its ``name`` on a verdict represents one content.

Bounded: at most `MOST_OF_TYPE` entries of a type and `MOST` in all. At a width of 768 an entry
takes about 5 kB (its state in float32, its record), so a full memory takes about 100 MB.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np

from safepassage.schemas.memory import MAX_LIKE, LikeCase, MemoryEntry, MemorySnapshot

from .nearest_votes import NEAREST, Neighbour, vote_features
from .reviewed_alike import Recall
from .states import Bytes, Floats, States, read
from .weights import MemoryWeights, packaged_weights

MOST_OF_TYPE = 2_000
MOST = 20_000
LIKENESS_DECIMALS = 4
APPROVALS = 2
"""Decisions, of two people or on two cases, by which words count as approved."""

Key = tuple[str, str, str]
"""The revision of the scorer, the type without case, the shape."""


class MemoryFull(ValueError):
    """A memory has more entries than it may."""


class TypeMemory:
    """The entries of one key. Compared lazily: most keys are never asked in a batch."""

    def __init__(self, entries: Mapping[str, MemoryEntry]) -> None:
        self.entries = dict(sorted(entries.items()))  # one content, one order
        self._listed = list(self.entries.values())

    @cached_property
    def _states(self) -> States:
        return States([read(entry.state) for entry in self._listed])

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = defaultdict(list)
        for row, entry in enumerate(self._listed):
            for vote in entry.votes:
                rows[vote.reviewer].append(row)
        return dict(rows)

    def neighbours(self, state: Bytes) -> tuple[dict[str, list[Neighbour]], list[LikeCase]]:
        """The nearest of each reviewer, and the cases most like ``state``; none where the state is
        of another width than theirs."""
        if len(state) != self._states.width:
            return {}, []
        likeness = self._states.likeness(state)
        nearest = {name: _nearest(likeness, rows) for name, rows in self._rows.items()}
        voting = {
            name: [self._neighbour(row, name, likeness) for row in rows]
            for name, rows in nearest.items()
        }
        leading = {row for rows in nearest.values() for row in rows}
        cases: dict[str, LikeCase] = {}
        for row in sorted(leading, key=lambda row: (-likeness[row], row)):
            entry = self._listed[row]
            alike = round(float(likeness[row]), LIKENESS_DECIMALS)
            case = LikeCase(case_id=entry.case_id, likeness=alike, votes=entry.votes)
            cases.setdefault(entry.case_id, case)
        return voting, list(cases.values())[:MAX_LIKE]

    def _neighbour(self, row: int, reviewer: str, likeness: Floats) -> Neighbour:
        entry = self._listed[row]
        supported = next(vote.supported for vote in entry.votes if vote.reviewer == reviewer)
        probability = 1.0 / (1.0 + math.exp(-entry.log_odds))
        return Neighbour(float(likeness[row]), reviewer, supported, probability)


def _nearest(likeness: Floats, rows: Sequence[int]) -> list[int]:
    """The `NEAREST` of ``rows``, the most alike first, ties in the order of the rows."""
    own = np.array(rows)
    return [int(own[at]) for at in np.argsort(-likeness[own], kind="stable")[:NEAREST]]


class Memory:
    """What people decided. Safe to read from several threads."""

    def __init__(
        self,
        name: str = "",
        types: Mapping[Key, TypeMemory] = MappingProxyType({}),
        weights: MemoryWeights | None = None,
    ) -> None:
        self.name = name
        self._types = types
        self._weights = weights

    @classmethod
    def of(cls, name: str, entries: Mapping[str, MemoryEntry]) -> Memory:
        """The memory of that name, of ``entries`` by their ids. Raises `MemoryFull` where there are
        too many entries."""
        return cls()._holding(name, entries)

    def __len__(self) -> int:
        return sum(len(own.entries) for own in self._types.values())

    @property
    def entries(self) -> dict[str, MemoryEntry]:
        """Every entry by its id."""
        return {id_: entry for own in self._types.values() for id_, entry in own.entries.items()}

    def changed(self, snapshot: MemorySnapshot) -> Memory:
        """This memory with the changes of ``snapshot``, whose base it is. Raises `ValueError` where
        it is not its base, or has no such entry to take out; `MemoryFull` where there are too many
        entries."""
        if (snapshot.base or "") != self.name:
            raise ValueError(f"snapshot {snapshot.name} rests on {snapshot.base}, not {self.name}")
        entries = self.entries
        if not entries.keys() >= set(snapshot.removed):
            raise ValueError(f"snapshot {snapshot.name} takes out what its base does not hold")
        for id_ in snapshot.removed:
            del entries[id_]
        return self._holding(snapshot.name, entries | {one.id: one for one in snapshot.added})

    def _holding(self, name: str, entries: Mapping[str, MemoryEntry]) -> Memory:
        """A memory of ``entries``, with those types of this one that did not change."""
        by_key: dict[Key, dict[str, MemoryEntry]] = defaultdict(dict)
        for id_, entry in entries.items():
            by_key[key_of(entry)][id_] = entry
        if len(entries) > MOST or any(len(own) > MOST_OF_TYPE for own in by_key.values()):
            raise MemoryFull(f"snapshot {name} has more entries than a memory may")
        kept = {key: own for key, own in self._types.items() if own.entries == by_key.get(key)}
        return Memory(name, {key: kept.get(key) or TypeMemory(own) for key, own in by_key.items()})

    def knows(self, space: str, entity_type: str, shape: str) -> bool:
        """Whether there is anything to compare with."""
        return (space, entity_type.casefold(), shape) in self._types

    def recall(self, space: str, entity_type: str, shape: str, state: Bytes) -> Recall | None:
        """What it says of a value of that type whose words have that state; None if nothing."""
        own = self._types.get((space, entity_type.casefold(), shape))
        if own is None:
            return None
        neighbours, cases = own.neighbours(state)
        if not cases:
            return None
        features = vote_features(neighbours, len(own.entries))
        weights = self._weights or packaged_weights()
        return Recall(weights.shift(features, len(neighbours)), tuple(cases))

    def approved_words(self, space: str) -> Mapping[str, tuple[LikeCase, ...]]:
        """The cases by which reviewers approved words in the place of others, by the digest of
        both: at least `APPROVALS` decisions, and none against it."""
        return self._approved.get(space, {})

    @cached_property
    def _approved(self) -> dict[str, dict[str, tuple[LikeCase, ...]]]:
        told: dict[tuple[str, str], list[MemoryEntry]] = defaultdict(list)
        for (space, _, shape), own in self._types.items():
            for entry in own.entries.values() if shape == "words" else ():
                for key in entry.words:
                    told[space, key].append(entry)
        found: dict[str, dict[str, tuple[LikeCase, ...]]] = defaultdict(dict)
        for (space, key), entries in told.items():
            votes = {(e.case_id, v.reviewer, v.supported) for e in entries for v in e.votes}
            if len(votes) >= APPROVALS and all(supported for _, _, supported in votes):
                cases = {
                    e.case_id: LikeCase(case_id=e.case_id, likeness=1, votes=e.votes)
                    for e in entries
                }
                found[space][key] = tuple(cases[case] for case in sorted(cases))[:MAX_LIKE]
        return found


NO_MEMORY = Memory()


def key_of(entry: MemoryEntry) -> Key:
    """The type by which ``entry`` is found."""
    return entry.space, entry.entity_type.casefold(), entry.shape


def within_bounds(entries: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """As many of ``entries`` (the oldest first) as a memory holds, the newest of each type."""
    left: Counter[Key] = Counter()
    kept: list[MemoryEntry] = []
    for entry in reversed(entries):
        key = key_of(entry)
        if left[key] < MOST_OF_TYPE and len(kept) < MOST:
            left[key] += 1
            kept.append(entry)
    return kept[::-1]
