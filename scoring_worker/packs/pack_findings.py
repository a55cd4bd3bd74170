"""Gathers a pack's features and findings under the pack's name."""

from __future__ import annotations

from dataclasses import dataclass, field

from safepassage.schemas import Finding, FindingCode

from .interface import Opinion


@dataclass(slots=True)
class Notes:
    """The opinion of ``pack`` while it is made."""

    pack: str
    features: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def feature(self, name: str, value: float = 1.0) -> None:
        """A feature called after the pack; one of 0 is left out, as absent means 0."""
        if value:
            self.features[f"{self.pack}_{name}"] = float(value)

    def finding(self, code: FindingCode, detail: str, feature: str = "") -> None:
        """A finding that is a feature as well, under its own name or that of ``feature``."""
        self.feature(feature or code)
        self.findings.append(Finding(code=code, detail=detail[:500]))

    def opinion(self, *, different: bool = False) -> Opinion:
        """What was noted."""
        return Opinion(self.features, tuple(self.findings), different)
