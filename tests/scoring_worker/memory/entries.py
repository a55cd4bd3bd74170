"""Entries of a memory for its tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safepassage.schemas.memory import MemoryEntry, MemorySnapshot, ReviewerVote
from safepassage.scoring_worker.memory.index import NO_MEMORY, Memory
from safepassage.scoring_worker.memory.states import written

SPACE = "tiny-1"


def state(*numbers: int) -> np.ndarray:
    """A state of 8-bit numbers."""
    return np.array(numbers, dtype=np.int8)


def entry(
    number: int,
    numbers: Sequence[int] = (100, 0, 0),
    *,
    supported: bool = False,
    reviewer: str = "ana",
    entity_type: str = "Rent",
    votes: Sequence[tuple[str, bool]] = (),
    log_odds: float = 0.0,
    space: str = SPACE,
) -> MemoryEntry:
    """What case ``number`` left."""
    said = votes or [(reviewer, supported)]
    return MemoryEntry(
        case_id=f"case-{number}",
        doc_id=f"doc-{number}",
        review_id=f"review-{number}",
        entity_type=entity_type,
        shape="located",
        space=space,
        state=written(state(*numbers)),
        log_odds=log_odds,
        votes=tuple([ReviewerVote(reviewer=name, supported=how) for name, how in said]),
    )


def snapshot(base: Memory, added: Sequence[MemoryEntry] = (), removed: Sequence[str] = ()):
    """The change of ``base``."""
    return MemorySnapshot.of("scorer", base.name or None, tuple(added), tuple(removed))


def memory(*entries: MemoryEntry) -> Memory:
    """A memory of ``entries``."""
    return NO_MEMORY.changed(snapshot(NO_MEMORY, entries)) if entries else NO_MEMORY
