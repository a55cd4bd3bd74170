"""What a value looks like against what its entity type asks for."""

import re
from collections.abc import Callable
from pathlib import Path

from safepassage.scoring_worker.packs.folding import fold, words
from safepassage.scoring_worker.text.closed_classes import sections_of

from .places import KNOWN_PLACES

SECTIONS = sections_of(Path(__file__).with_name("words.txt"))


def pattern_of(section: str) -> str:
    """The words of a section of words.txt, which are regular expressions, as alternatives."""
    return "|".join(SECTIONS[section])


_BODY = re.compile(rf"\b(?:{pattern_of('body')})\b")
_DOCUMENT = re.compile(rf"\b(?:{pattern_of('document')})s?$")
_REGION = re.compile(
    r"(?<!islamic )\b(?:state|province|district|city|county|village|town|islands?|valley|region)$"
)
_FIGURE = re.compile(r"(?:[a-z]{0,3}[$€£]|rs\.?|[a-z]{3} )?\s*\d[\d\s.,']*%?")
_ACRONYM = re.compile(r"[A-Z]{3,4}")
_PERSON_TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|justice|judge|hon|me|mme|shri|smt|sri)\b\.?")
_HONORIFIC = re.compile(r"\b(?:mr|mrs|ms|miss|dr|justice|shri|smt|mme|sister|captain)\.?\s$")
_TYPES = {
    kind: frozenset(SECTIONS[f"type {kind}"])
    for kind in ("date", "amount", "place", "body", "person")
}
"""The words of types that ask for each kind; the first kind counts."""
_SMALL = frozenset(SECTIONS["small"])
_TIME = re.compile(rf"(?<![a-z])(?:{pattern_of('time')})(?![a-z])")
_GENERIC_TYPES = {"geopolitical entity", *SECTIONS["generic"]}


def is_generic(entity_type: str) -> bool:
    """Whether the type asks only for a kind of value: a mention supports it, without a label."""
    return fold(entity_type) in _GENERIC_TYPES


def kind_of_type(entity_type: str) -> str | None:
    """ "place", "body", "person" or "date" where the type's words say so."""
    asked = set(re.findall(r"[a-z]+", fold(entity_type)))
    return next((kind for kind, named in _TYPES.items() if asked & named), None)


def kind_of_value(value: str, *, is_date: bool = False) -> str | None:
    """How the value looks; None where its looks say nothing.

    "date" where the comparison read one, "figure", "document", "body", "place" or "person". Two
    letters are too little: "MB"
    may be a province or a party.
    """
    folded = fold(value)
    return "date" if is_date else next((kind for kind, is_so in _LOOKS if is_so(folded)), None)


def _is_place(folded: str) -> bool:
    whole = folded in KNOWN_PLACES and (len(folded) > 2 or folded in {"us", "uk"})
    listed = any(part in KNOWN_PLACES for part in folded.split(", ")[1:])
    return whole or listed or _REGION.search(folded) is not None


_LOOKS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("figure", _FIGURE.fullmatch),
    ("document", _DOCUMENT.search),
    ("body", _BODY.search),
    ("place", _is_place),
    ("person", _PERSON_TITLE.match),
)


def kind_of_acronym(value: str, folded: str) -> str | None:
    """The kind of what the passage spells out before "(IRPA)"; "acronym" where it does not.

    None for what is no acronym, or a place's.
    """
    if not _ACRONYM.fullmatch(value) or fold(value) in KNOWN_PLACES:
        return None
    before, found, _ = folded.partition(f"({fold(value)})")
    last = words(before)[-2 * len(value) :]
    for start in range(len(last)) if found else ():
        name = last[start:]
        initials = "".join(word[0] for word in name if word not in _SMALL)
        if initials == fold(value) and name[0] not in _SMALL:
            return kind_of_value(" ".join(name)) or "acronym"
    return "acronym"


def is_addressed(folded: str, start: int) -> bool:
    """Whether an honorific is before ``start``: what follows is a person's name."""
    return _HONORIFIC.search(folded[max(0, start - 12) : start]) is not None


def differs(wanted: str | None, looks: str | None, value: str, *, has_figures: bool) -> bool:
    """Whether a value that ``looks`` so cannot be what a type of kind ``wanted`` asks for.

    ``has_figures``: it has a number, in digits or in words.
    """
    if wanted == "date" and _TIME.search(fold(value)):
        return False
    if wanted in {"date", "amount"} and looks is None:
        return not has_figures
    if looks == "figure" and wanted in {"date", "amount"}:
        return False
    if looks == "acronym":
        return wanted in {"place", "person"}
    return wanted is not None and looks is not None and wanted != looks
