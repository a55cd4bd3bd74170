"""Opinions as JSON lines: what took a reader minutes is fitted on again in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import orjson

from scoring_worker.evaluation.labelled_pair import LabelledPair
from scoring_worker.opinions.opinion import Opinion

from .corpora import read_rows
from .weighing import Judged


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
