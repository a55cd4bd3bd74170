"""What an examination leaves behind: features for the stack, findings for the reader."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas import Finding

CLAIM, DATE, CATEGORY, CLAUSE = "claim", "date", "category", "clause"
FIGURE, NAME = "figure", "name"
SHAPES = (CLAIM, DATE, CATEGORY, CLAUSE, FIGURE, NAME)
"""What a value is compared as. Every shape has coefficients of its own in the stack."""


MAX_VALUE_CHARACTERS = 2_000
"""What is compared of a value: no fact is longer, and the effort grows with it."""


@dataclass
class Examination:
    """The shape of a pair's value, features in [0, 1] by name (absent means 0), and findings."""

    shape: str
    features: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def note(self, code: str, detail: str = "") -> None:
        """A finding that is a feature as well."""
        self.features[code] = 1.0
        self.findings.append(Finding(code=code, detail=detail[:500]))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value stands in the folded passage."""

    start: int
    end: int
