"""What a value looks like against what its entity type asks for."""

from __future__ import annotations

import re

from .dates import MONTHS, date_of_value
from .names import known_places
from .numerals import digits_for_words
from .text import fold

_BODY = re.compile(
    r"\b(?:board|court|tribunal|division|agency|department|ministry|commission|council|office|"
    r"committee|university|hospital|bank|police|army|party|union|association|federation|"
    r"organi[sz]ation|institute|inc|ltd|llc|corp|corporation|company|authority|service|services|"
    r"directorate|bureau|front|movement|gang|cartel|clan|league|church|society|foundation|"
    r"embassy|congress|parliament|government|cour|ministere|section|secretariat|forum|network)\b"
)
_PERSON_TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|justice|judge|hon|me|mme|shri|smt|sri)\b\.?")
_HONORIFIC = re.compile(r"\b(?:mr|mrs|ms|miss|dr|justice|shri|smt|mme|sister|captain)\.?\s$")
_PLACE_TYPES = frozenset(
    {"gpe", "country", "city", "location", "place", "province", "state", "region"}
)
_BODY_TYPES = frozenset(
    {"organization", "organisation", "court", "company", "agency", "institution"}
)
_PERSON_TYPES = frozenset(
    {
        "person", "judge", "counsel", "lawyer", "witness", "interpreter", "officer", "advocate",
        "attorney", "physician", "patient", "supervisor",
    }
)  # fmt: skip
_DATE_TYPES = frozenset({"date", "day", "year", "birthday", "deadline"})
_AMOUNT_TYPES = frozenset({"amount", "money", "price", "fee", "rent", "salary", "total", "deposit"})


_TIME = re.compile(
    rf"(?<![a-z])(?:{'|'.join(MONTHS)}|(?:day|week|month|year|hour|quarter|decade|centur)\w*|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|perpetual|period|era)"
    r"(?![a-z])"
)
_GENERIC_TYPES = frozenset(
    {
        "date", "gpe", "geopolitical entity", "location", "place", "organization", "organisation",
        "person", "name", "money", "amount", "org", "entity",
    }
)  # fmt: skip


def is_generic(entity_type: str) -> bool:
    """Whether the type asks only for a kind of value: a mention supports it, without a label."""
    return fold(entity_type) in _GENERIC_TYPES


def kind_of_type(entity_type: str) -> str | None:
    """ "place", "body", "person" or "date" where the type's words say so."""
    asked = set(re.findall(r"[a-z]+", fold(entity_type)))
    for kind, words in (
        ("date", _DATE_TYPES),
        ("amount", _AMOUNT_TYPES),
        ("place", _PLACE_TYPES),
        ("body", _BODY_TYPES),
        ("person", _PERSON_TYPES),
    ):
        if asked & words:
            return kind
    return None


def kind_of_value(value: str) -> str | None:
    """ "place" or "body" of a value that looks like one; None where its looks say nothing."""
    folded = fold(value)
    if date_of_value(value) is not None:
        return "date"
    if _BODY.search(folded):
        return "body"
    if folded in known_places() or any(part in known_places() for part in folded.split(", ")[1:]):
        return "place"
    return "person" if _PERSON_TITLE.match(folded) else None


def is_addressed(folded: str, start: int) -> bool:
    """Whether an honorific stands before ``start``: what follows is a person's name."""
    return _HONORIFIC.search(folded[max(0, start - 12) : start]) is not None


def differs(wanted: str | None, looks: str | None, value: str) -> bool:
    """Whether a value that ``looks`` so cannot be what a type of kind ``wanted`` asks for."""
    if wanted == "date" and _TIME.search(fold(value)):
        return False
    if wanted in {"date", "amount"} and looks is None:
        return not any(map(str.isdigit, digits_for_words(fold(value))))
    return wanted is not None and looks is not None and wanted != looks
