"""Opinions as JSON lines: what took a reader minutes is fitted on again in seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson
import structlog

from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.weighing.opinion import Opinion

from .corpora import read_rows
from .judged_pairs import Judged

log = structlog.get_logger(__name__)


def judged_once(
    path: Path,
    scorer: Callable[[], DefaultScorer],
    pairs: Callable[[], Mapping[str, Sequence[LabelledPair]]],
) -> dict[str, Judged]:
    """By source what ``scorer`` makes of ``pairs``; what ``path`` holds is believed.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    if not path.exists():
        asked = pairs()
        log.info("opinions", path=path.name, pairs=sum(map(len, asked.values())))
        by = scorer()
        write_judged(path, {name: Judged.by(by, own) for name, own in asked.items() if own})
    return read_judged(path)


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
    """What `write_judged` wrote, by source.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    found: dict[str, Judged] = {}
    for row in read_rows(path):
        own = found.setdefault(row["source"], Judged([], []))
        own.pairs.append(LabelledPair(**row["pair"]))
        own.opinions.append(tuple(Opinion(**opinion) for opinion in row["opinions"]))
    return found
