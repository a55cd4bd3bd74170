"""What kind of name an entity type asks for, where the type says so in general words.

No word of a domain stands here: "Tenant" and "Judge" name roles, and whether a person or a company
fills them is not known. The words are those with which forms of many languages ask for a name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.segmentation import words_of

from .parts import CONJUNCTIONS, PARTICLES

NameKind = Literal["person", "organisation", "place"]

_PERSON = word_list("asks_person")
_ORGANISATION = word_list("asks_organisation")
_PLACE = word_list("asks_place")
_NAME = word_list("asks_name")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4_096)
def name_kind(entity_type: str) -> NameKind | None:
    """What an entity type asks for, by its last word that says so ("Company City" is a place);
    None where it does not say. "Name" alone is a person's: other names say whose they are."""
    kind: NameKind | None = None
    words = type_words(entity_type)
    for word in words:
        if word in _PLACE:
            kind = "place"
        elif word in _ORGANISATION:
            kind = "organisation"
        elif word in _PERSON:
            kind = "person"
    if kind is None and len(words) == 1 and words[0] in _NAME:
        return "person"
    return kind or _solid_kind(entity_type)


def looks_like_name(value: str, entity_type: str) -> bool:
    """Whether ``compare_names`` is the comparator for a value: its type asks for a person, an
    organisation or a place, or it is two to six words with capitals, small ones aside."""
    words = words_of(value[:200])
    if len(value) > 200 or not words or any(word.keys.plain.isdigit() for word in words):
        return False
    if name_kind(entity_type):
        return len(words) <= 12
    small = PARTICLES | CONJUNCTIONS
    tall = [value[w.start].isupper() for w in words if w.keys.plain not in small]
    return 2 <= len(words) <= 6 and bool(tall) and all(tall) and not value.isupper()


@lru_cache(maxsize=4_096)
def type_words(entity_type: str) -> tuple[str, ...]:
    """The plain keys of a type's words, of which 200 code points are read ("invoice_number",
    "InvoiceNumber")."""
    spaced = _CAMEL.sub(" ", entity_type[:200].replace("_", " "))
    return tuple(word.keys.plain for word in words_of(spaced))


def _solid_kind(entity_type: str) -> NameKind | None:
    """The same for scripts without blanks, whose types are one run of characters."""
    whole = "".join(entity_type.split())
    if whole in _ORGANISATION:
        return "organisation"
    if whole in _PLACE:
        return "place"
    return "person" if whole in _PERSON else None
