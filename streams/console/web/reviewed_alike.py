"""The reviewed cases that a verdict leaned on, in words for the page."""

from collections.abc import Collection
from dataclasses import dataclass

from safepassage.schemas import Verdict

_SAID = {True: "accepted", False: "rejected", None: "disputed"}


@dataclass(frozen=True, slots=True)
class AlikeCase:
    """``said``: "rejected by Ana"; ``likeness`` in [-1, 1]."""

    case_id: str
    said: str
    likeness: float


@dataclass(frozen=True, slots=True)
class ReviewedAlike:
    """``effect`` says which way the score was moved, ``cases`` are the most alike first."""

    effect: str
    cases: tuple[AlikeCase, ...]


def reviewed_alike(verdict: Verdict, hidden: Collection[str] = ()) -> ReviewedAlike | None:
    """What people decided on values like this one, but for the cases in ``hidden``; None where that
    had no part."""
    memory = verdict.memory
    if memory is None or not memory.cases:
        return None
    moved = "raised" if memory.shift > 0 else "lowered" if memory.shift < 0 else "left as it was"
    cases = [
        AlikeCase(
            case.case_id,
            f"{_SAID[case.supported]} by {', '.join(vote.reviewer for vote in case.votes)}",
            case.likeness,
        )
        for case in memory.cases
        if case.case_id not in hidden
    ]
    return ReviewedAlike(f"the score was {moved} by them", tuple(cases))
