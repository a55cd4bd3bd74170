"""What the entity type asks for against what value and passage give: kind, role, denial."""

from __future__ import annotations

import re

from scoring_worker.packs.folding import fold, words
from scoring_worker.packs.legal import kinds, roles
from scoring_worker.packs.legal.denied import is_denied

from . import absence, dates
from .numerals import digits_for_words
from .record import CATEGORY, DATE, NAME, Examination, Place

_NUMBERED = re.compile(r"\b([a-z]{3,}) (\d+[a-z]?)\b")


def examine_type(
    examination: Examination, entity_type: str, value: str, folded: str, place: Place | None
) -> None:
    """Note what speaks for and against ``value``, at ``place``, being of ``entity_type``."""
    kind_fits = _examine_kind(examination, entity_type, value, folded, place)
    _examine_number_of_type(examination, entity_type, folded)
    role = roles.role_of_type(entity_type)
    if examination.shape == DATE:
        folded = dates.legible(folded)
    if role is None:
        generic = kinds.is_generic(entity_type)
        examination.features["role_unknown"] = 1.0
        examination.features["generic_type"] = float(generic and kind_fits)
        examine_type_words(examination, entity_type, folded)
        if not generic and place is not None and _is_denied(value, folded, place):
            examination.note("denied", "the passage denies it")
    elif place is not None and examination.shape != CATEGORY:
        _examine_role(examination, entity_type, role, folded, place)
        _examine_denial(examination, role, folded, place)


def _is_denied(value: str, folded: str, place: Place) -> bool:
    """Whether a denial stands before the value's words or among them ("was not accepted")."""
    together = place.end - place.start < 2 * len(value)
    among = absence.denies(folded[place.start : place.end]) and not absence.denies(fold(value))
    return (together and among) or is_denied(folded, place.start)


def _examine_denial(examination: Examination, role: roles.Role, folded: str, place: Place) -> None:
    denied = is_denied(folded, place.start)
    if denied or roles.cue_is_denied(folded, role, place.start, place.end):
        examination.note("denied", "the passage denies it")


def _examine_number_of_type(examination: Examination, entity_type: str, folded: str) -> None:
    """ "Rent of Unit 703" is not what stands beside "Unit 608"."""
    for noun, number in _NUMBERED.findall(fold(entity_type)):
        said = re.findall(rf"\b{noun} (\d+[a-z]?)\b", folded)
        if said and number not in said:
            detail = f"the type asks for {noun} {number}, the passage has {noun} {said[0]}"
            examination.note("other_number_in_type", detail)


def _examine_role(
    examination: Examination, entity_type: str, role: roles.Role, folded: str, place: Place
) -> None:
    given = roles.governing_role(folded, roles.labels_in(folded), role.kind, place.start, place.end)
    fitting = roles.fitting_roles(entity_type, role)
    if given is None:
        _examine_cues(examination, role, fitting, folded, place)
    elif given.name in fitting:
        examination.features["label_agrees"] = 1.0
    else:
        detail = f"the label beside it is of {given.words}, not {role.words}"
        examination.note("label_differs", detail)


def _examine_cues(
    examination: Examination, role: roles.Role, fitting: frozenset[str], folded: str, place: Place
) -> None:
    gaps = {
        other.name: gap
        for other in roles.roles()
        if other.kind == role.kind
        for gap in [roles.nearest_cue(folded, other, place.start, place.end)]
        if gap is not None
    }
    own = min((gap for name, gap in gaps.items() if name in fitting), default=None)
    rival = min((gap for name, gap in gaps.items() if name not in fitting), default=None)
    if own is not None:
        examination.features["cue_near"] = 1.0 if own <= 25 else 0.5
        examination.features["rival_nearer"] = float(rival is not None and rival < own)
    elif rival is not None:
        name = min((n for n in gaps if n not in fitting), key=lambda n: gaps[n])
        examination.note(
            "cue_differs", f"the words near it speak of {name.replace('_', ' ')}, not {role.words}"
        )
    else:
        examination.note("no_cue", f"nothing near the value speaks of {role.words}")


def _has_figures(value: str) -> bool:
    return any(map(str.isdigit, digits_for_words(fold(value))))


def _examine_kind(
    examination: Examination, entity_type: str, value: str, folded: str, place: Place | None
) -> bool:
    wanted = kinds.kind_of_type(entity_type)
    looks = kinds.kind_of_acronym(value, folded) or kinds.kind_of_value(
        value, is_date=dates.date_of_value(value) is not None
    )
    if examination.shape == DATE:
        looks = "date"
    elif place is not None and kinds.is_addressed(folded, place.start):
        looks = "person"
    if examination.shape == NAME:
        examination.features["kind_agrees"] = float(wanted is not None and wanted == looks)
    if kinds.differs(wanted, looks, value, has_figures=_has_figures(value)):
        looks = looks or "text"
        examination.note(
            "kind_differs", f"the type asks for: {wanted}; the value looks like: {looks}"
        )
        return False
    return True


def examine_type_words(examination: Examination, entity_type: str, folded: str) -> None:
    """How many of the type's words the passage has."""
    asked = [
        word for word in re.findall(r"[a-z]{3,}", fold(entity_type)) if word not in {"the", "for"}
    ]
    there = {word.text[:5] for word in words(folded)}
    found = sum(word[:5] in there for word in asked)
    examination.features["type_words"] = found / len(asked) if asked else 0.0
