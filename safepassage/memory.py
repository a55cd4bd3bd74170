"""What a verifier's user decided: learnt at once, kept in a file."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from safepassage.schemas import StandingDecision, Verdict, stable_id
from safepassage.schemas.base import Json
from safepassage.schemas.ids import canonical_json
from safepassage.schemas.memory import MAX_VOTES, MemoryEntry, MemorySnapshot, ReviewerVote
from safepassage.schemas.review import JudgedValue
from safepassage.schemas.reviews_that_count import case_id

if TYPE_CHECKING:
    from safepassage.scoring_worker.memory.learning import RemembersDecisions

# The scorers' libraries come when a memory is used.
# ruff: noqa: PLC0415

DEFAULT_REVIEWER = "me"


class DecisionMemory:
    """Decisions, and what a scorer makes of them. Safe for several threads.

    Args:
        path: the file that it is read from and that each change is written to; it need not exist.
            Without one it lives as long as the object.

    Raises:
        safepassage.scoring_worker.memory.file.MemoryFileError: the file is no memory, or was
            changed after it was written.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        from safepassage.scoring_worker.memory.file import MemoryFile

        self._path = Path(path) if path is not None else None
        self._lock = threading.RLock()
        self._scorer: RemembersDecisions | None = None
        found = MemoryFile.load(self._path) if self._path and self._path.exists() else None
        self._decisions = {one.case_id: one for one in (found.decisions if found else ())}
        self._snapshot = found.snapshot if found else None
        self._entries: dict[str, tuple[MemoryEntry, ...]] = {}

    def __len__(self) -> int:
        """How many cases were decided."""
        return len(self._decisions)

    def attach(self, scorer: RemembersDecisions) -> None:
        """Let ``scorer`` judge by this. What another scorer or version made of the decisions is
        made anew, which takes as long as judging them."""
        from safepassage.scoring_worker.memory.learning import learnt_entries, memory_revision

        with self._lock:
            self._scorer = scorer
            self._entries = {}
            known = self._snapshot
            if known and known.scorer == memory_revision(scorer):
                for entry in known.added:
                    self._entries[entry.case_id] = (*self._entries.get(entry.case_id, ()), entry)
            missing = [one for case, one in self._decisions.items() if case not in self._entries]
            learnt = learnt_entries(missing, scorer)
            self._entries |= zip((one.case_id for one in missing), learnt, strict=True)
            self._remember()

    def learn(
        self, verdict: Verdict, *, supported: bool, value: Json = None, reviewer: str
    ) -> bool:
        """Count that ``reviewer`` says that the value of ``verdict`` is ``supported``, or that
        ``value`` is the right one. Returns whether anything can be learnt from it: nothing can from
        claims, quotes that were not found, and values that contradict their passage in more than
        words that the quote has not."""
        from safepassage.scoring_worker.memory.learning import learnt_entries

        if value is not None and supported:
            raise ValueError("a supported value needs no correction: pass supported=False")
        with self._lock:
            decision = self._decided(verdict, supported, value, reviewer)
            if self._scorer is None:
                raise RuntimeError(
                    "the memory belongs to no verifier: pass it as Verifier(memory=…)"
                )
            (entries,) = learnt_entries([decision], self._scorer)
            self._decisions.pop(decision.case_id, None)  # the newest last
            self._decisions[decision.case_id] = decision
            self._entries[decision.case_id] = entries
            self._remember()
            self._write()
            return bool(entries)

    def forget(self, verdict: Verdict) -> bool:
        """Take back what was decided on the case of ``verdict``; returns whether anything was."""
        with self._lock:
            known = self._decisions.pop(case_id(verdict), None)
            if known is not None:
                self._entries.pop(known.case_id, None)
                self._remember()
                self._write()
            return known is not None

    def save(self, path: str | Path) -> None:
        """Write a copy to ``path``. Raises `OSError` where it cannot be written."""
        from safepassage.scoring_worker.memory.file import MemoryFile

        with self._lock:
            content = MemoryFile.of(list(self._decisions.values()), self._snapshot)
        content.save(Path(path))

    def _decided(
        self, verdict: Verdict, supported: bool, value: Json, reviewer: str
    ) -> StandingDecision:
        case = case_id(verdict)
        known = self._decisions.get(case)
        others = [vote for vote in (known.votes if known else ()) if vote.reviewer != reviewer]
        votes = [*others, ReviewerVote(reviewer=reviewer, supported=supported)]
        judgement: Literal["supports", "insufficient", "corrected"] = (
            "supports" if supported else "insufficient" if value is None else "corrected"
        )
        said = canonical_json([[vote.reviewer, vote.supported] for vote in votes])
        return StandingDecision(
            case_id=case,
            doc_id=verdict.doc_id,
            decision=judgement,
            value=value,
            reviewer=reviewer,
            review_id=stable_id("learnt", case, said, canonical_json(value)),
            judged=verdict.id,
            asked=JudgedValue.of(verdict),
            votes=tuple(votes[-MAX_VOTES:]),
            decided_at=datetime.now(UTC),
        )

    def _remember(self) -> None:
        from safepassage.scoring_worker.memory.index import NO_MEMORY, within_bounds
        from safepassage.scoring_worker.memory.learning import memory_revision

        if self._scorer is None:
            return
        every = [entry for case in self._decisions for entry in self._entries.get(case, ())]
        kept = tuple(within_bounds(every))
        snapshot = MemorySnapshot.of(memory_revision(self._scorer), None, kept, ())
        self._snapshot = snapshot
        self._scorer.remember(NO_MEMORY.changed(snapshot) if kept else NO_MEMORY)

    def _write(self) -> None:
        if self._path is not None:
            self.save(self._path)
