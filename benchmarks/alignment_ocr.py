"""Clean quotes against OCRed documents: is the true span found, and nothing where it has no
place?"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from alignment_cases import SHARED

from safepassage.agents.alignment import DocumentIndex
from safepassage.schemas import Alignment

CER_BANDS = ((0.0, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 1.0))
LONG_ENOUGH = 24
"""Characters from which a quote can be told apart by alignment alone."""


@dataclass(frozen=True)
class Overlap:
    """How well a quote's span was found. ``snapped`` is of the span widened to whole tokens."""

    cer: float
    length: int
    iou: float
    snapped: float


def measure(quotes: int | None, seed: int = 0) -> dict[str, Any] | None:
    """Overlap by band of the character error rate, and false keeps; None without the data.

    Args:
        quotes: how many, drawn at random; None for all 5,885.
        seed: of that draw, and of the documents that quotes are falsely looked for in.
    """
    if not (SHARED / "ocr" / "quotes.jsonl.gz").exists():
        return None
    rng = random.Random(seed)
    indexes = {row["id"]: (row["lang"], DocumentIndex(row["ocr"])) for row in _rows("documents")}
    rows = list(_rows("quotes"))
    drawn = rows if quotes is None else rng.sample(rows, quotes)
    overlaps = [_overlap(row, indexes[row["doc"]][1]) for row in drawn]
    long = [overlap for overlap in overlaps if overlap.length >= LONG_ENOUGH]
    wanted = [overlap for overlap in long if overlap.cer <= 0.2]
    return {
        "bands": [_band(long, low, high) for low, high in CER_BANDS],
        "wanted": _shares(wanted),
        "kept_from_another_document": _false_keeps(drawn, indexes, rng, largest=False),
        "kept_from_the_largest_other_document": _false_keeps(drawn, indexes, rng, largest=True),
    }


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / "ocr" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _overlap(row: dict[str, Any], index: DocumentIndex) -> Overlap:
    found = index.align(row["quote"], exact=False)
    true = row["start"], row["end"]
    return Overlap(
        cer=row["cer"],
        length=len(row["quote"]),
        iou=_iou(found, true, snapped=False),
        snapped=_iou(found, true, snapped=True),
    )


def _iou(found: Alignment, true: tuple[int, int], *, snapped: bool) -> float:
    """Intersection over union with the true span; an elided quote reaches from first to last."""
    spans = found.passages if snapped else found.spans
    if not spans:
        return 0.0
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    shared = max(0, min(end, true[1]) - max(start, true[0]))
    return shared / (end - start + true[1] - true[0] - shared)


def _band(overlaps: Iterable[Overlap], low: float, high: float) -> dict[str, Any]:
    within = [o for o in overlaps if low < o.cer <= high or (low == o.cer == 0.0)]
    return {"cer": [low, high], **_shares(within)}


def _shares(overlaps: list[Overlap]) -> dict[str, Any]:
    return {
        "quotes": len(overlaps),
        "iou_at_least_0.9": sum(o.iou >= 0.9 for o in overlaps),
        "iou_at_least_0.5": sum(o.iou >= 0.5 for o in overlaps),
        "snapped_iou_at_least_0.9": sum(o.snapped >= 0.9 for o in overlaps),
    }


def _false_keeps(
    rows: list[dict[str, Any]],
    indexes: dict[str, tuple[str, DocumentIndex]],
    rng: random.Random,
    *,
    largest: bool,
) -> dict[str, int]:
    """How many quotes are found in a document of the same language that is not theirs."""
    kept = looked = 0
    for row in rows:
        if len(row["quote"]) < LONG_ENOUGH:
            continue
        others = [
            index
            for name, (language, index) in indexes.items()
            if name != row["doc"] and language == row["lang"]
        ]
        other = max(others, key=lambda index: len(index.text)) if largest else rng.choice(others)
        looked += 1
        kept += other.align(row["quote"], exact=False).found
    return {"quotes": looked, "kept": kept}
