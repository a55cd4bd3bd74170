"""Values of several parts: one answer, which names the part that differs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safepassage.schemas import Finding

from ..contract import Answer, Comparison, Kind, Place, undecided

MAX_DEPTH = 8
MAX_PARTS = 200
"""Parts of one value that are compared, all depths together; what has more is left to the judge."""
MAX_PLACES = 64
MAX_FINDINGS = 20
_FIRST = frozenset({"part_differs", "too_many_parts"})


class Budget:
    """How many parts of one value may still be compared."""

    def __init__(self, parts: int = MAX_PARTS) -> None:
        self.left = parts

    def take(self) -> bool:
        """Whether another part may be compared."""
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class NestedPart:
    """One element or field: ``name`` as the finding shall call it ("element 2", "price")."""

    name: str
    comparison: Comparison


def together(kind: Kind, parts: Sequence[NestedPart], *, complete: bool = True) -> Comparison:
    """The answer for a value of ``parts``: different where one is, the same where all are.

    ``complete`` is False where parts were left out: the rest can show a difference and no more.
    """
    answers = {part.comparison.answer for part in parts}
    answer: Answer = "not_comparable"
    if "different" in answers:
        answer = "different"
    elif answers == {"same"} and complete:
        answer = "same"
    findings = [finding for part in parts for finding in _named(part)]
    if not complete:
        said = f"only {len(parts)} were compared"
        findings.insert(0, Finding(code="too_many_parts", detail=said))
    return Comparison(
        answer,
        kind,
        _merged(part.comparison.places for part in parts),
        _merged(part.comparison.rivals for part in parts),
        # What differs first: a long value has more findings than a verdict holds.
        tuple(sorted(findings, key=lambda f: f.code not in _FIRST)[:MAX_FINDINGS]),
    )


def _named(part: NestedPart) -> list[Finding]:
    name = part.name[:80]
    found = [
        finding.model_copy(update={"detail": f"{name}: {finding.detail}"[:500]})
        for finding in part.comparison.findings
    ]
    nested = any(finding.code == "part_differs" for finding in part.comparison.findings)
    if part.comparison.answer == "different" and not nested:
        found.insert(0, Finding(code="part_differs", detail=name))
    return found


def _merged(groups: Iterable[tuple[Place, ...]]) -> tuple[Place, ...]:
    merged = {place for group in groups for place in group}
    return tuple(sorted(merged, key=lambda place: (place.start, place.end))[:MAX_PLACES])


def too_deep(kind: Kind) -> Comparison:
    """The answer for a value nested deeper than anything that is compared."""
    return undecided(kind, "too_many_parts", f"nested deeper than {MAX_DEPTH}")
