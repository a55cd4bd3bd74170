"""What the stack is refitted on: a scorer's opinions of labelled pairs, kept as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import orjson
import structlog
from numpy.typing import NDArray

from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.stack import Stack

from .corpora import read_rows
from .stacking import LabelledOpinion, StackSettings, by_type, fit_stack, stack_scores

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Judged:
    """Pairs that could be read, and the opinions of each one's parts."""

    pairs: list[LabelledPair]
    opinions: list[tuple[Opinion, ...]]

    @classmethod
    def by(cls, scorer: DefaultScorer, pairs: Sequence[LabelledPair]) -> Judged:
        """What ``scorer`` makes of ``pairs``; those that fail are left out."""
        every = scorer.opinions([pair.pair for pair in pairs])
        read = [(p, o) for p, o in zip(pairs, every, strict=True) if o]
        if len(read) < len(pairs):
            log.warning("pairs_unread", pairs=len(pairs) - len(read), of=len(pairs))
        return cls([pair for pair, _ in read], [opinions for _, opinions in read])

    def __add__(self, other: Judged) -> Judged:
        return Judged([*self.pairs, *other.pairs], [*self.opinions, *other.opinions])

    @property
    def supported(self) -> list[bool]:
        return [pair.label == 1 for pair in self.pairs]

    @property
    def types(self) -> list[str]:
        return [pair.entity_type for pair in self.pairs]

    @property
    def kinds(self) -> list[str]:
        return [pair.kind for pair in self.pairs]

    def scores(self, stack: Stack) -> NDArray[np.float64]:
        """Uncalibrated scores [pairs]."""
        return stack_scores(stack, self.opinions, self.types)

    def labelled(self, source: str) -> Iterator[LabelledOpinion]:
        """Opinions with a label of their own. Which part of a wrong value with several parts is
        wrong, nobody said."""
        for pair, opinions in zip(self.pairs, self.opinions, strict=True):
            if pair.label or len(opinions) == 1:
                for opinion in opinions:
                    yield LabelledOpinion(
                        opinion, pair.label, source, pair.entity_type, pair.weight
                    )


def refitted(
    start: Stack, labelled: Sequence[LabelledOpinion], settings: StackSettings | None = None
) -> Stack:
    """``start`` moved as far as ``labelled`` justify; ``start`` itself where they are of one label.

    Coefficients with packs are left as they are.
    """
    open_ones = [one for one in labelled if not one.opinion.different]
    if {one.label for one in open_ones} != {0, 1}:
        log.info("stack_kept", opinions=len(open_ones))
        return start
    settings = settings or StackSettings()
    before = {"with_packs": start.with_packs, "by_type": start.by_type}
    moved = fit_stack(labelled, settings, start).model_copy(update=before)
    return moved.model_copy(update={"by_type": by_type(labelled, moved, settings)})


def write_judged(path: Path, judged: Mapping[str, Judged]) -> None:
    """Write the pairs and opinions of every source; the file is whole or not there."""
    lines = [
        orjson.dumps(
            {
                "source": name,
                "pair": {**asdict(pair), "around": None},
                "opinions": [
                    {"shape": o.shape, "features": o.features, "different": o.different}
                    for o in opinions
                ],
            }
        )
        for name, own in judged.items()
        for pair, opinions in zip(own.pairs, own.opinions, strict=True)
    ]
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(b"\n".join(lines) + b"\n")
    partial.rename(path)


def read_judged(path: Path) -> dict[str, Judged]:
    """What `write_judged` wrote, by source. Raises `CorpusError` where the file is missing or
    unreadable."""
    found: dict[str, Judged] = {}
    for row in read_rows(path):
        own = found.setdefault(row["source"], Judged([], []))
        own.pairs.append(LabelledPair(**row["pair"]))
        own.opinions.append(tuple(Opinion(**opinion) for opinion in row["opinions"]))
    return found
