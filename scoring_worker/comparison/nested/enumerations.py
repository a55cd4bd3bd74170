"""What else the quote lists beside the elements of a list: "Java, Python and SQL".

An element that is nowhere in the quote may be there in other words. Where the quote's own list
has a part that none of the value's elements represents, that part is what it says instead.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from safepassage.schemas import Finding

from ..contract import Place, different
from .parts import NestedPart

_AND = r"(?:and|or|und|oder|et|ou|y|e|o|ed|en|of|sowie|&|\+)"
_NEXT = re.compile(
    rf"\s*(?:[,;/•]\s*(?:{_AND}\s+)?|\s{_AND}\s+)(?:(?:the|der|die|das|le|la|el|il|de|het)\s+)?"
    r"(?P<part>[^\W_][^,;/•.:()\n]{0,60}?)(?=\s*[,;/•.:()\n]|\s+" + _AND + r"\s|\s*$)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:^|[,;/•:(\n]|\s" + _AND + r"\s)\s*(?P<part>[^\W_][^,;/•.:()\n]{0,60}?)"
    rf"\s*(?:,\s*(?:{_AND}\s+)?|\s{_AND}\s+)(?:(?:the|der|die|das|le|la|el|il|de|het)\s+)?$",
    re.IGNORECASE,
)
_REACH = 100
_MOST_WORDS = 4
_MISSING = frozenset({"words_missing", "name_absent"})
MAX_HELD = 32


def with_unclaimed(
    quote: str, parts: Sequence[NestedPart], elements: Sequence[object]
) -> list[NestedPart]:
    """``parts``, where an element that is missing from the quote is *different* if the quote
    lists something that is no element, beside one that it holds.

    Not where the two begin with the same letter: that may be an abbreviation.
    """
    held = [place for part in parts for place in part.comparison.places][:MAX_HELD]
    missing = [
        at
        for at, part in enumerate(parts)
        if part.comparison.answer != "same"
        and not part.comparison.places
        and _MISSING & {finding.code for finding in part.comparison.findings}
    ]
    if not held or not missing:
        return list(parts)
    unclaimed = _unclaimed(quote, held)
    made = list(parts)
    for at in missing:
        initial = str(elements[at]).strip()[:1].casefold()
        rivals = tuple(p for p in unclaimed if quote[p.start].casefold() != initial)
        if rivals:
            listed = quote[rivals[0].start : rivals[0].end]
            finding = Finding(code="listed_instead", detail=f"the passage lists {listed!r}"[:500])
            compared = replace(
                parts[at].comparison,
                answer="different",
                rivals=rivals,
                findings=(finding, *parts[at].comparison.findings),
            )
            made[at] = NestedPart(parts[at].name, compared)
    return made


def _unclaimed(quote: str, held: Sequence[Place]) -> list[Place]:
    """Parts of the quote's lists, next to a held element, that overlap no held one."""
    found = []
    for place in held:
        following = _NEXT.match(quote, place.end, place.end + _REACH)
        start = max(0, place.start - _REACH)
        preceding = _BEFORE.search(quote[start : place.start])
        if following:
            found.append(Place(*following.span("part")))
        if preceding:
            found.append(Place(start + preceding.start("part"), start + preceding.end("part")))
    return [
        part
        for part in dict.fromkeys(found)
        if len(quote[part.start : part.end].split()) <= _MOST_WORDS
        and not any(map(part.overlaps, held))
    ]


def claimed_by_others(parts: Sequence[NestedPart]) -> list[NestedPart]:
    """``parts`` of an object, without the figures that are a piece of another field's value.

    The 4 of "Paper A4" is no quantity where "Paper A4" is the description and the quote has
    another figure.
    """
    made = list(parts)
    for at, part in enumerate(parts):
        others = [
            place for other in parts if other is not part for place in other.comparison.places
        ]
        compared = part.comparison
        if not compared.places or not compared.rivals or compared.kind == "words":
            continue
        free = tuple(p for p in compared.places if not any(map(p.is_part_of, others)))
        rivals = tuple(place for place in compared.rivals if place not in others)
        if not free and rivals:
            detail = "it is a piece of another field's value"
            made[at] = NestedPart(
                part.name,
                different(compared.kind, "part_of_another", detail, rivals, compared.findings),
            )
        elif free:
            made[at] = NestedPart(part.name, replace(compared, places=free))
    return made
