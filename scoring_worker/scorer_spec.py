"""The name of a scorer as an object: ``default+hallugraph+claims:gc=FOLDER#{"amount":0.97}``.

The name is what settings, verdicts, topics and the command line carry. Only this module reads it
and writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from safepassage.schemas import stable_id

from .manifest import ModelError

_GRAPHS = "+hallugraph"
_CLAIMS = "+claims:"
_LIMITS = "#{"
_RAISED = "-raised-"
_DIGITS = 12

Limits = Mapping[str, float]
"""Lowest thresholds by entity type without case, in [0, 1]; "" is every type. At 1 nothing passes.
"""


@dataclass(frozen=True, slots=True)
class ScorerSpec:
    """Who judges what.

    ``values`` is the scorer: one of `scorers.folders.NAMES`, a folder or a hub id. With ``graphs``,
    claims carry the graph of what they rest on as evidence. ``claims`` is the detector that judges
    claims ("" where ``values`` does), ``weights`` the folder or hub id of its own weights.
    """

    values: str
    graphs: bool = False
    claims: str = ""
    weights: str = ""
    limits: Limits = field(default_factory=dict)

    @classmethod
    def parse(cls, name: str | Path) -> ScorerSpec:
        """What ``name`` says. Raises `ModelError` where what is behind "#" is no limits."""
        judges, mark, limits = str(name).partition(_LIMITS)
        values, _, detector = judges.partition(_CLAIMS)
        claims, _, weights = detector.partition("=")
        graphs = values.endswith(_GRAPHS)
        held = _limits_of(judges, limits) if mark else {}
        return cls(values.removesuffix(_GRAPHS), graphs, claims, weights, held)

    def __str__(self) -> str:
        return f"{self.values}{self.behind}" + (f"#{_written(self.limits)}" if self.limits else "")

    @property
    def behind(self) -> str:
        """What the name has behind ``values`` for claims."""
        weights = f"={self.weights}" if self.weights else ""
        by = f"{_CLAIMS}{self.claims}{weights}" if self.claims else ""
        return f"{_GRAPHS if self.graphs else ''}{by}"

    def with_claims_by(self, detector: str) -> ScorerSpec:
        """The same with claims judged by ``detector``, unless the name says by which already."""
        claims, _, weights = detector.partition("=")
        return self if self.claims else replace(self, claims=claims, weights=weights)

    def with_limits(self, limits: Limits) -> ScorerSpec:
        """The same with ``limits`` beside its own; of two for one type the higher counts."""
        merged = dict(self.limits)
        for name, limit in limits.items():
            merged[name.casefold()] = max(limit, merged.get(name.casefold(), 0.0))
        return replace(self, limits=merged)

    def raised(self, revision: str) -> str:
        """The revision with these limits of a scorer of ``revision``, which may be of others."""
        if not self.limits:
            return revision
        digest = stable_id("limits", _written(self.limits))[:_DIGITS]
        return f"{revision.partition(_RAISED)[0]}{_RAISED}{digest}"


def _limits_of(judges: str, text: str) -> Limits:
    try:
        read = json.loads(f"{{{text}")
    except ValueError:
        read = None
    if not isinstance(read, dict) or not all(
        isinstance(value, int | float) and 0 <= value <= 1 for value in read.values()
    ):
        raise ModelError(
            f"{judges + _LIMITS + text!r} names no limits: write them as "
            f'{judges}#{{"Amount":0.97}}, from 0 to 1'
        )
    return {key.casefold(): float(value) for key, value in read.items()}


def _written(limits: Limits) -> str:
    return json.dumps(dict(limits), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
