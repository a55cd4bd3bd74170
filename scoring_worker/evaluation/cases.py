"""What is evaluated: labelled cases, from every kind of file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from safepassage.schemas import AlignedExtraction, Alignment, Draw, Reason, Verdict
from safepassage.scoring_worker.scorer import Pair

from .labelled_pair import LabelledPair

DatasetKind = Literal["extractions", "pairs", "responses", "entities"]


@dataclass(frozen=True, slots=True)
class Lost:
    """A part that never reaches the scorer and is not accepted; ``undetermined`` where it could not
    be judged, as opposed to judged unsafe."""

    reason: Reason
    undetermined: bool = False


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """One labelled judgement. It is accepted only if all of its ``parts`` are.

    An extraction or a pair has one part, a response one per sentence. ``group`` is the document.
    ``kind`` says how the case was made and ``extractor`` which model extracted it: both are for
    break-downs and never reach a scorer. ``draw`` says how it was drawn to be labelled.
    """

    id: str
    group: str
    supported: bool
    entity_type: str
    parts: tuple[Pair | Lost, ...]
    kind: str | None = None
    extractor: str | None = None
    draw: Draw | None = None

    @property
    def pairs(self) -> list[Pair]:
        """The parts that a scorer is asked."""
        return [part for part in self.parts if isinstance(part, Pair)]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cases of one file and who labelled them; ``refused`` has a line for each row that could not
    be read."""

    name: str
    kind: DatasetKind
    labels: str
    cases: tuple[LabelledCase, ...]
    refused: tuple[str, ...] = ()
    unlabelled: int = 0

    @property
    def pairs(self) -> list[Pair]:
        """Every pair that a scorer is asked, in order."""
        return [pair for case in self.cases for pair in case.pairs]


def part_of(result: AlignedExtraction | Verdict) -> Pair | Lost:
    """What is left to score of an alignment; lost where the decision rule stops it anyway."""
    if isinstance(result, Verdict):
        return Lost(result.reasons[0], undetermined=result.decision == "undetermined")
    return _part(result.alignment, Pair.of(result))


def part_of_reviewed(verdict: Verdict, value: JsonValue) -> Pair | Lost:
    """`part_of` what a verdict was made on, with ``value``: its own, or a reviewer's correction."""
    if verdict.alignment is None:
        return Lost(verdict.reasons[0], undetermined=verdict.decision == "undetermined")
    return _part(verdict.alignment, Pair.judged(verdict, value))


def _part(alignment: Alignment, pair: Pair) -> Pair | Lost:
    if not alignment.found:
        return Lost("not_found")
    return pair if alignment.is_evidence else Lost("low_evidence")


def learnable(cases: Iterable[LabelledCase]) -> Iterator[LabelledPair]:
    """The cases that are one pair each: with a passage, and a label that is about that pair."""
    for case in cases:
        if len(case.parts) == 1 and case.pairs:
            kind = case.kind or "gold"
            yield labelled_pair(
                case.pairs[0], case.supported, kind=kind, group=case.group, draw=case.draw
            )


MOST_WEIGHT = 10.0
"""The most values that one label represents: one alone may not decide."""


def labelled_pair(
    pair: Pair, supported: bool, *, kind: str, group: str, draw: Draw | None = None
) -> LabelledPair:
    """``pair`` with its label; by its ``draw`` it represents others."""
    return LabelledPair(
        premise=pair.premise,
        entity_type=pair.entity_type,
        value=pair.value,
        label=1 if supported else 0,
        kind=kind,
        group=group,
        around=pair,
        weight=min(MOST_WEIGHT, draw.weight / draw.rate) if draw else 1.0,
    )
