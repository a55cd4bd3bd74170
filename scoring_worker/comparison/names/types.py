"""What kind of name an entity type asks for, where the type says so in general words.

No word of a domain is here: "Tenant" and "Judge" name roles, and whether a person or a company
fills them is not known. The words are those with which forms of many languages ask for a name.
"""

import re
from functools import lru_cache
from typing import Literal

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.segmentation import words_of

NameKind = Literal["person", "organisation", "place"]

_ASKS: dict[NameKind, frozenset[str]] = {
    "place": word_list("asks_place"),
    "organisation": word_list("asks_organisation"),
    "person": word_list("asks_person"),
}
_NAME = word_list("asks_name")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4_096)
def name_kind(entity_type: str) -> NameKind | None:
    """What an entity type asks for, by its last word that says so ("Company City" is a place);
    None where it does not say. "Name" alone is a person's: other names say whose they are."""
    words = type_words(entity_type)
    said = (_kind_of(word) for word in reversed(words))
    kind = next((one for one in said if one is not None), None)
    if kind is None and len(words) == 1 and words[0] in _NAME:
        return "person"
    # In scripts without blanks a type is one run of characters.
    return kind or _kind_of("".join(entity_type.split()))


def _kind_of(word: str) -> NameKind | None:
    return next((kind for kind, asking in _ASKS.items() if word in asking), None)


@lru_cache(maxsize=4_096)
def type_words(entity_type: str) -> tuple[str, ...]:
    """The plain keys of a type's words, of which 200 code points are read ("invoice_number",
    "InvoiceNumber")."""
    spaced = _CAMEL.sub(" ", entity_type[:200].replace("_", " "))
    return tuple(word.keys.plain for word in words_of(spaced))
