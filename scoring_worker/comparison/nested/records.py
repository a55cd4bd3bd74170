"""Whether the fields of an object are in one record of the quote, or in several.

"Pen 2.00, Book 9.00" holds a pen and it holds 9.00, but no pen for 9.00. A quote with one record
over several lines ("Main St 5, Boston 02110") is not taken apart: only where a second value of a
field's kind is beside the other field, or where the records have the same shape.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, islice, pairwise

from pydantic import JsonValue

from safepassage.schemas import Finding

from ..contract import Comparison, Place
from .parts import NestedPart

_BORDERS = (r"\n\s*\n", r"\n", r";", r"\),(?=\s)", r"(?<=\w\w)[.](?=\s+[^\W\d_a-z])", r",(?=\s)")
"""What is between records, from the clearest to the least clear."""
_SKELETON = re.compile(
    r"\b(?:at|of|for|by|in|to|as|from|with|bei|für|von|als|chez|pour|en|para|por|presso|per|voor)\b|[:=–@|]|->|→"
)
_MAX_RECORDS = 200
_MAX_FIELDS = 8
_ENTRY = r",\s|\s{2,}|\t|\||\s[–—-]\s|\s?\("
_CELLS = {r"\n\s*\n": r"\n", r"\n": r"\s{2,}|\t|\||\s[–—-]\s|\s?\("}
"""What parts the columns of a record, by the border of the records. A comma does not in a line: two
lines of an address are one record."""
_WORD = re.compile(r"\w+")


def of_different_records(
    quote: str, parts: Sequence[NestedPart], compared: Comparison
) -> Comparison:
    """``compared``, or *different* where its fields are in different records of ``quote``."""
    placed = [part for part in parts if part.comparison.places]
    if len(placed) < 2:
        return compared
    for border in _BORDERS:
        records = _parts(quote, Place(0, len(quote)), border, _MAX_RECORDS - 1)
        if len(records) < 2:
            continue
        homes = [_homes(part.comparison.places, records) for part in placed]
        if set.intersection(*homes) or not all(homes):
            continue
        complete = _has_rival_beside(placed, homes, records)
        if (
            complete
            or _of_one_shape(quote, placed, homes, records)
            or _crosses(
                quote,
                placed,
                homes,
                [_parts(quote, one, _CELLS.get(border, _ENTRY)) for one in records],
            )
        ):
            return other_record(compared, ", ".join(part.name[:60] for part in placed))
    return compared


def other_record(compared: Comparison, names: str) -> Comparison:
    """*Different*: the fields of these ``names`` are of several records."""
    if compared.answer == "different":
        return compared
    detail = f"the passage gives these in different places: {names[:400]}"
    finding = Finding(code="other_record", detail=detail)
    return replace(compared, answer="different", findings=(finding, *compared.findings))


def _parts(quote: str, whole: Place, border: str, most: int | None = None) -> list[Place]:
    """The parts of ``whole`` that are not blank, cut at the first ``most`` borders: records, or
    the columns of one."""
    found = re.finditer(border, quote[whole.start : whole.end])
    cuts = [(whole.start + cut.start(), whole.start + cut.end()) for cut in islice(found, most)]
    starts = [whole.start, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), whole.end]
    every = [Place(start, end) for start, end in zip(starts, ends, strict=True)]
    return [part for part in every if quote[part.start : part.end].strip()]


def _homes(places: Sequence[Place], parts: Sequence[Place]) -> set[int]:
    """Which of ``parts`` hold one of ``places``."""
    return {
        at
        for at, part in enumerate(parts)
        if any(part.start <= place.start and place.end <= part.end for place in places)
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

    A colon is behind a label, and the labels of one record differ; so records with colons
    only count where a value of the object is itself the label ("Seller: Ann Roe. Buyer: …").
    """
    shapes = {_shape(quote, records[at]) for home in homes for at in home}
    if len(shapes) != 1 or not all(len(home) == 1 for home in homes):
        return False
    (shape,) = shapes
    if not shape:
        return False
    return shape != (":",) or any(
        records[at].start <= place.start
        and quote[place.end : records[at].end].lstrip().startswith(":")
        for part, home in zip(placed, homes, strict=True)
        for at in home
        for place in part.comparison.places
    )


def _shape(quote: str, record: Place) -> tuple[str, ...]:
    return tuple(_SKELETON.findall(quote, record.start, record.end))


def _crosses(
    quote: str,
    placed: Sequence[NestedPart],
    homes: Sequence[set[int]],
    cells: Sequence[Sequence[Place]],
) -> bool:
    """Whether two fields are in different columns of different records, and each record has a
    value like the other's in that one's column: "Ann Roe, seller; Bo Lee, buyer"."""
    at = [
        [(row, column) for row in home for column in _homes(part.comparison.places, cells[row])]
        for part, home in zip(placed, homes, strict=True)
    ]
    alone = [(places[0]) for places in at if len(places) == 1]
    return any(
        row != other_row
        and column != other_column
        and _alike(quote, cells[row], cells[other_row], column)
        and _alike(quote, cells[row], cells[other_row], other_column)
        for (row, column), (other_row, other_column) in combinations(alone, 2)
    )


def _alike(quote: str, one: Sequence[Place], other: Sequence[Place], column: int) -> bool:
    """Whether two records have values of one form in ``column``."""
    if column >= min(len(one), len(other)):
        return False
    forms = {_form(quote[cells[column].start : cells[column].end]) for cells in (one, other)}
    return len(forms) == 1 and forms != {""}


def _form(text: str) -> str:
    """A text with its runs of capitalised words, other words and figures made equal."""
    words = [word for word in _WORD.findall(text) if word[0].isalnum()]
    kinds = ["0" if w[0].isnumeric() else "A" if w[0].isupper() else "a" for w in words]
    return "".join(kind for kind, _ in groupby(kinds))


def swapped(quote: str, objects: Sequence[Mapping[str, JsonValue]]) -> list[int]:
    """The positions of ``objects`` that the quote pairs otherwise: values of two of their fields
    take turns in it ("Roe for the seller and Lee for the buyer"), and none of its pairs is the
    object's."""
    keys = sorted({key for one in objects for key in one})[:_MAX_FIELDS]
    wrong: set[int] = set()
    for one, other in combinations(keys, 2):
        pairs = _turns(quote, _texts(objects, one), _texts(objects, other))
        said = {frozenset(pair) for pair in pairs}
        values = {value for pair in pairs for value in pair}
        for at, each in enumerate(objects):
            own = {str(each.get(key, "")).casefold() for key in (one, other)}
            if own <= values and frozenset(own) not in said:
                wrong.add(at)
    return sorted(wrong)


def _texts(objects: Sequence[Mapping[str, JsonValue]], key: str) -> set[str]:
    found = (one.get(key) for one in objects)
    return {value.casefold() for value in found if isinstance(value, str) and value.strip()}


def _turns(quote: str, ones: set[str], others: set[str]) -> list[tuple[str, str]]:
    """The pairs of neighbours where ``ones`` and ``others`` take turns in ``quote``; [] where they
    do not throughout, or where nothing could be confused."""
    if min(len(ones), len(others)) < 2 or ones & others:
        return []
    sought = sorted(ones | others, key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, sought))})(?!\w)"
    found = [match[0] for match in re.finditer(pattern, quote.casefold())][: 2 * _MAX_RECORDS]
    turns = all((left in ones) != (right in ones) for left, right in pairwise(found))
    return list(zip(found[::2], found[1::2], strict=True)) if turns and not len(found) % 2 else []
