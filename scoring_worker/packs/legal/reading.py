"""What the labels and words around a value say of its role."""

import re

from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.packs.folding import REDACTED, fold, words
from safepassage.scoring_worker.packs.interface import Notes

from . import kinds, roles
from .denial import is_denied

_NUMBERED = re.compile(r"\b([a-z]{3,}) (\d+[a-z]?)\b")
_NEAR = 25


def examine_role(
    notes: Notes, entity_type: str, folded: str, place: Place | None, *, kind_fits: bool
) -> None:
    """Note what speaks for and against the value at ``place``, of the folded quote, being of
    ``entity_type``."""
    _examine_number_of_type(notes, entity_type, folded)
    notes.feature("redacted", REDACTED.search(folded) is not None)
    role = roles.role_of_type(entity_type)
    if role is None:
        notes.feature("role_unknown")
        notes.feature("generic_type", kinds.is_generic(entity_type) and kind_fits)
        notes.feature("type_words", type_words(entity_type, folded))
    elif place is not None:
        _examine_label(notes, entity_type, role, folded, place)
        denied = is_denied(folded, place.start)
        if denied or roles.cue_is_denied(folded, role, place.start, place.end):
            detail = "the passage denies something beside it"
            notes.finding("role_denial_near", detail, feature="role_denied")


def type_words(entity_type: str, folded: str) -> float:
    """How many of the type's words the passage has, in [0, 1]."""
    asked = [w for w in re.findall(r"[a-z]{3,}", fold(entity_type)) if w not in {"the", "for"}]
    there = {word[:5] for word in words(folded)}
    found = sum(word[:5] in there for word in asked)
    return found / len(asked) if asked else 0.0


def _examine_number_of_type(notes: Notes, entity_type: str, folded: str) -> None:
    """ "Rent of Unit 703" is not what is beside "Unit 608"."""
    for noun, number in _NUMBERED.findall(fold(entity_type)):
        said = re.findall(rf"\b{noun} (\d+[a-z]?)\b", folded)
        if said and number not in said:
            detail = f"the type asks for {noun} {number}, the passage has {noun} {said[0]}"
            notes.finding("other_number_in_type", detail)


def _examine_label(
    notes: Notes, entity_type: str, role: roles.Role, folded: str, place: Place
) -> None:
    given = roles.governing_role(folded, roles.labels_in(folded), role.kind, place.start, place.end)
    fitting = roles.fitting_roles(entity_type, role)
    if given is None:
        _examine_cues(notes, role, fitting, folded, place)
    elif given.name in fitting:
        notes.feature("label_agrees")
    else:
        detail = f"the label beside it is of {given.words}, not {role.words}"
        notes.finding("label_differs", detail)


def _examine_cues(
    notes: Notes, role: roles.Role, fitting: frozenset[str], folded: str, place: Place
) -> None:
    gaps = {
        other.name: gap
        for other in roles.ROLES
        if other.kind == role.kind
        if (gap := roles.nearest_cue(folded, other, place.start, place.end)) is not None
    }
    own = min((gap for name, gap in gaps.items() if name in fitting), default=None)
    rival = min((gap for name, gap in gaps.items() if name not in fitting), default=None)
    if own is not None:
        notes.feature("cue_near", 1.0 if own <= _NEAR else 0.5)
        notes.feature("rival_nearer", rival is not None and rival < own)
    elif rival is not None:
        name = min((n for n in gaps if n not in fitting), key=lambda n: gaps[n])
        detail = f"the words near it speak of {name.replace('_', ' ')}, not {role.words}"
        notes.finding("cue_differs", detail)
    else:
        notes.finding("no_cue", f"nothing near the value speaks of {role.words}")
