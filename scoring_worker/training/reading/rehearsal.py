"""Questions about invented documents, asked beside the labels so that nothing is unlearnt."""

import gzip
import random
from pathlib import Path
from typing import Any

import orjson

from .questions import Place, ReadingQuestion

REHEARSAL_FILE = Path(__file__).with_name("rehearsal.jsonl.gz")
"""Written by ``recipes/rehearsal.py``."""


def rehearsed(count: int, seed: int) -> list[ReadingQuestion]:
    """``count`` questions, the same for the same seed; each of the file equally often, or once more
    than another."""
    if count <= 0:
        return []
    rows = gzip.decompress(REHEARSAL_FILE.read_bytes()).splitlines()
    whole, part = divmod(count, len(rows))
    drawn = [*rows * whole, *random.Random(seed).sample(rows, part)]
    return [_question(orjson.loads(row)) for row in drawn]


def _question(row: dict[str, Any]) -> ReadingQuestion:
    places: dict[str, tuple[Place, ...] | None] = {
        name: None if row[name] is None else tuple((a, b) for a, b in row[name])
        for name in ("answers", "wrong", "unfounded")
        if name in row
    }
    return ReadingQuestion(**{**row, **places, "asked": tuple(row["asked"])})
