"""The label before a value, and which field of the schema its words are of."""

import re
from collections.abc import Iterable

from safepassage.passages.words import content_words
from safepassage.schemas import entity_type_name

_MAX_WORDS = 6
_LINE = 200
"""Characters before a value among which its label is looked for."""
_COLON = re.compile(r"[:：](?=\s|$)")
_EDGE = re.compile(r"[.;,](?=\s)|[|\t\n│]|\s{2,}")
"""What may part a label from what is before it in its line."""
_LETTER = re.compile(r"[^\W\d_]")


def label_before(text: str, at: int) -> str | None:
    """The label ("Bill to:") right before code point ``at`` of ``text``, without its colon; None
    where none is there. With words between it is rather the topic of a sentence."""
    line = text[max(0, at - _LINE) : at].rpartition("\n")[2]
    colons = list(_COLON.finditer(line))
    if not colons or line[colons[-1].end() :].strip(" \"'(“„«"):
        return None
    label = _EDGE.split(line[: colons[-1].start()].rstrip())[-1].strip(" -*•–—()")
    return label if _LETTER.search(label) and len(label.split()) <= _MAX_WORDS else None


def nearer_by_words(
    labels: Iterable[str], own: str, others: Iterable[str], description: str = ""
) -> float:
    """How much more of the words of ``labels`` is of field ``own`` than of the nearest of the
    ``others``, in [-1, 1]; a word of its ``description`` counts half. Words are compared by their
    stems; 0 where no field shares any."""
    said = [words for label in labels if (words := _words(label))]
    more = _words(description)
    described = max((len(label & more) / len(label) / 2 for label in said), default=0.0)
    nearest = max((_share(label, _words(other)) for label in said for other in others), default=0.0)
    return max(described, *(_share(label, _words(own)) for label in said), 0.0) - nearest


def _share(label: set[str], field: set[str]) -> float:
    return len(label & field) / len(label | field)


def _words(name: str) -> set[str]:
    return set(content_words(entity_type_name(name))) if name else set()
