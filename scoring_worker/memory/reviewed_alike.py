"""What the memory says of a value: by how much it moves the score, and the cases it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.schemas import Finding
from safepassage.schemas.memory import MAX_LIKE, LikeCase, MemoryTrail

CLEARLY_ALIKE = 0.8
"""The likeness from which a finding counts a case as like this one."""
NAMED = 3
"""Reviewers that a finding names."""


@dataclass(frozen=True, slots=True)
class Recall:
    """``shift`` is added to the stack's log-odds; ``cases`` are the most alike first. ``words``
    says which words of the value reviewers approved others for."""

    shift: float
    cases: tuple[LikeCase, ...]
    words: str = ""

    def beside(self, other: Recall | None) -> Recall:
        """This, with what ``other`` says too: its cases behind these."""
        if other is None:
            return self
        known = {case.case_id for case in self.cases}
        more = tuple(case for case in other.cases if case.case_id not in known)
        return Recall(
            self.shift + other.shift,
            (*self.cases, *more)[:MAX_LIKE],
            self.words or other.words,
        )

    def trail(self, snapshot: str) -> MemoryTrail:
        """What the verdict says of it."""
        return MemoryTrail(snapshot=snapshot, shift=self.shift, cases=self.cases)


def recalled(recall: Recall | None) -> tuple[Finding, ...]:
    """The finding that names what people decided on values like this one."""
    alike = [case for case in recall.cases if case.likeness >= CLEARLY_ALIKE] if recall else []
    if not alike:
        return ()
    said = [
        _sentence([case for case in alike if case.supported is wanted], how)
        for wanted, how in ((False, "rejected"), (True, "accepted"), (None, "disputed"))
    ]
    words = recall.words if recall else ""
    detail = "; ".join(filter(None, [words, *said]))
    return (Finding(code="reviewed_alike", detail=detail[:500]),)


def _sentence(cases: Sequence[LikeCase], how: str) -> str:
    if not cases:
        return ""
    names = sorted({vote.reviewer[:40] for case in cases for vote in case.votes})
    listed = ", ".join(names[:NAMED]) + (" and others" if len(names) > NAMED else "")
    verb = "was" if len(cases) == 1 else "were"
    return f"{len(cases)} like this {verb} {how} by {listed}"
