"""Whether the fields of an object stand in one record of the quote, or in several.

"Pen 2.00, Book 9.00" holds a pen and it holds 9.00, but no pen for 9.00. A quote with one record
over several lines ("Main St 5, Boston 02110") is not taken apart: only where a second value of a
field's kind stands beside the other field, or where the records have the same shape.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from safepassage.schemas import Finding
from safepassage.scoring_worker.comparison.contract import Comparison, Place

from .parts import NestedPart

_BORDERS = (r"\n", r";", r"(?<=\w\w)[.](?=\s+[^\W\d_a-z])", r",(?=\s)")
"""What stands between records, from the clearest to the least clear."""
_SKELETON = re.compile(
    r"\b(?:at|of|for|by|in|to|as|from|with|bei|für|von|als|chez|pour|en|para|por|presso|per|voor)\b|[:=–@|]|->|→"
)
_MAX_RECORDS = 200


def of_different_records(
    quote: str, parts: Sequence[NestedPart], compared: Comparison
) -> Comparison:
    """``compared``, or *different* where its fields stand in different records of ``quote``."""
    placed = [part for part in parts if part.comparison.places]
    if len(placed) < 2:
        return compared
    for border in _BORDERS:
        records = _records(quote, border)
        if len(records) < 2:
            continue
        homes = [_homes(part.comparison.places, records) for part in placed]
        if set.intersection(*homes) or not all(homes):
            continue
        complete = _has_rival_beside(placed, homes, records)
        if complete or _of_one_shape(quote, placed, homes, records):
            names = ", ".join(part.name[:60] for part in placed)[:400]
            detail = f"the passage gives these in different places: {names}"
            finding = Finding(code="other_record", detail=detail)
            return replace(compared, answer="different", findings=(finding, *compared.findings))
    return compared


def _records(quote: str, border: str) -> list[Place]:
    cuts = [match.span() for match in re.finditer(border, quote)][: _MAX_RECORDS - 1]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(quote)]
    return [
        Place(start, end)
        for start, end in zip(starts, ends, strict=True)
        if quote[start:end].strip()
    ]


def _homes(places: Sequence[Place], records: Sequence[Place]) -> set[int]:
    return {
        at
        for place in places
        for at, record in enumerate(records)
        if record.start <= place.start and place.end <= record.end
    }


def _has_rival_beside(
    placed: Sequence[NestedPart], homes: Sequence[set[int]], records: Sequence[Place]
) -> bool:
    """Whether every record of one field holds a rival of another, and so is complete without it."""
    return any(
        part is not other and home <= _homes(part.comparison.rivals, records)
        for part in placed
        if part.comparison.rivals
        for other, home in zip(placed, homes, strict=True)
    )


def _of_one_shape(
    quote: str, placed: Sequence[NestedPart], homes: Sequence[set[int]], records: Sequence[Place]
) -> bool:
    """Whether the records of the fields have the same small words and signs in the same order:
    "Engineer at Acme; Manager at Globex".

    A colon stands behind a label, and the labels of one record differ; so records with colons
    only count where a value of the object is itself the label ("Seller: Ann Roe. Buyer: …").
    """
    shapes = {_shape(quote, records[at]) for home in homes for at in home}
    if len(shapes) != 1 or not all(len(home) == 1 for home in homes):
        return False
    (shape,) = shapes
    if not shape:
        return False
    return shape != (":",) or any(
        _is_label(quote, place, records[at])
        for part, home in zip(placed, homes, strict=True)
        for at in home
        for place in part.comparison.places
    )


def _shape(quote: str, record: Place) -> tuple[str, ...]:
    return tuple(_SKELETON.findall(quote, record.start, record.end))


def _is_label(quote: str, place: Place, record: Place) -> bool:
    return record.start <= place.start and quote[place.end : record.end].lstrip().startswith(":")
