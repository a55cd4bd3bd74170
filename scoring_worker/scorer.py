"""The contract between the pipeline and whatever judges a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from schemas import AlignedExtraction, Assessment


@dataclass(frozen=True, slots=True)
class Pair:
    """One question to a scorer: does ``premise`` entail ``hypothesis``?

    ``premise`` is the aligned passage, ``hypothesis`` is h(y). ``entity_type`` and ``value``
    are there for the checks that parse values and for thresholds per type.
    """

    premise: str
    hypothesis: str
    entity_type: str
    value: JsonValue

    @classmethod
    def of(cls, aligned: AlignedExtraction) -> Pair:
        """The pair of an aligned extraction."""
        extraction = aligned.extraction
        return cls(
            premise=aligned.alignment.passage,
            hypothesis=extraction.hypothesis,
            entity_type=extraction.entity_type,
            value=extraction.value,
        )


@runtime_checkable
class Scorer(Protocol):
    """Judges batches of pairs.

    ``name`` is what `load_scorer` was asked for; ``revision`` changes with anything that can
    change a score or a threshold (weights, adapter, thresholds, rules, prompt).

    `assess` returns one `Assessment` per pair, in order. A pair that cannot be scored gets an
    assessment with a ``failure``; the others are not affected. It blocks: callers run it off
    the event loop. It raises only where the scorer as a whole is broken.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]: ...

    def close(self) -> None: ...
