"""Values that are none. *Nothing is stated*, *it is stated that nothing exists* and *something is
stated* are three different things; an empty list does not tell the first from the second."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from ..contract import Comparison, Place, Question, different, undecided
from ..denials.cued_text import CuedText
from ..denials.languages import in_any
from ..denials.scopes import Scope, scoped
from ..denials.tokens import phrase_of
from ..denials.type_words import asks_for, mentions_of_type
from .entries import Entry, entries_of, is_labelled, place_of, said

Absence = Literal["none", "unstated", "either"]
_SECTIONS: tuple[Absence, ...] = ("either", "none", "unstated")
_LONGEST = 60
_DEEPEST = 4


def absence_of(value: JsonValue, depth: int = 0) -> Absence | None:
    """Which kind of none ``value`` is; None where it is a value.

    "either": a null, an empty list, "N/A". Lists and objects of nothing but nulls are empty.
    """
    if value is None:
        return "either"
    if isinstance(value, str):
        return _of_words(value)
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(parts, list) or depth >= _DEEPEST or len(parts) > _LONGEST:
        return None
    return "either" if all(absence_of(part, depth + 1) == "either" for part in parts) else None


def is_empty(value: JsonValue) -> bool:
    """Whether ``value`` is a null, blanks, or made of nothing else: a field left open."""
    if isinstance(value, str):
        return not value.strip()
    return not isinstance(value, bool | int | float) and absence_of(value) == "either"


def _of_words(value: str) -> Absence | None:
    if len(value) > _LONGEST:
        return None
    phrase = phrase_of(value).removesuffix(" .")
    if not value.strip() or phrase in in_any("either"):
        return "either"
    if phrase in in_any("none") and phrase not in in_any("no answer"):
        return "none"
    return "unstated" if phrase in in_any("unstated") else None


def compare_none(question: Question, wanted: Absence) -> Comparison:
    """Compare a value such as "none" with what the quote says about the type.

    *Different* where a row labelled with the type's words gives a value, or says the other kind
    of none; *not_comparable* where no row and no denial speaks of it.
    """
    reading, scopes = scoped(question.passage)
    entries = entries_of(reading, question.passage)
    labelled = [entry for entry in entries if is_labelled(entry, question.entity_type)]
    alone = entries if len(entries) == 1 else []
    for entry in labelled or alone:
        stated = next((one for one in _SECTIONS if said(reading, entry, one)), None)
        if stated is not None:
            place = place_of(reading, question.passage, entry.start, entry.end)
            return _decide(wanted, stated, place)
    denied = _denied(question, reading, scopes)
    if denied:
        return _decide(wanted, "none", denied)
    return _given(question, reading, labelled)


def _decide(wanted: Absence, stated: Absence, places: tuple[Place, ...]) -> Comparison:
    if wanted == stated or "either" in {wanted, stated}:
        return Comparison("same", "none", places)
    words = {"none": "none at all", "unstated": "that it is not known"}
    return different("none", "absence_differs", f"the passage states {words[stated]}", places)


def _denied(question: Question, reading: CuedText, scopes: tuple[Scope, ...]) -> tuple[Place, ...]:
    """Where the type's words are denied, if that is what the quote says wherever it has them."""
    passage = question.passage
    first, last = reading.span(Place(0, len(passage.quote)))
    mentions = mentions_of_type(question.entity_type, reading, scopes, first, last, near=False)
    if not mentions or None in mentions.values():
        return ()
    first_said = next(iter(mentions))
    return place_of(reading, passage, first_said, first_said + 1)


def _given(question: Question, reading: CuedText, labelled: list[Entry]) -> Comparison:
    """The row with the type's label has an entry: that is another value than none."""
    for entry in labelled:
        if any(token.is_word for token in reading.tokens[entry.start : entry.end]):
            place = place_of(reading, question.passage, entry.start, entry.end)
            if asks_for(question.entity_type, "asks") or reading.unread:
                return Comparison("not_comparable", "none", rivals=place)
            return different("none", "value_is_stated", "the passage states a value", place)
    return undecided("none", "none_not_said", "nothing in the passage states an absence")
