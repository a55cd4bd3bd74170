"""Deterministic checks: dates, figures, names, labels, and what a passage does not say.

They decide nothing. `examine` turns a pair into features for the stack and into findings for
the person who reads the verdict.
"""

from .examination import examine
from .record import SHAPES, Examination
from .revision import rules_digest

__all__ = ["SHAPES", "Examination", "examine", "rules_digest"]
