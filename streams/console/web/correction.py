"""Correcting a value: the form for it, and what the form says. Pure."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeGuard

from safepassage.schemas import ReviewDecision, canonical_json, strict_json
from safepassage.schemas.base import Json
from safepassage.schemas.review import DECISION_REASONS, MAX_COMMENT, DecisionReason
from safepassage.schemas.schema_field import MAX_DESCRIPTION

MAX_CORRECTION_CHARACTERS = 10_000
_MAX_FIELDS = 12
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class BadCorrection(ValueError):
    """What was typed is no corrected value. The message is for the reviewer."""


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ValueForm:
    """``text``: a string or number; ``fields``: a flat object; ``json``: anything deeper."""

    shape: Literal["text", "fields", "json"]
    inputs: tuple[Input, ...]


def form_for(value: Json, typed: Mapping[str, str] | None = None) -> ValueForm:
    """The form for ``value``, with what was ``typed`` before."""
    inputs = [("value", "value", _text(value))]
    shape: Literal["text", "fields", "json"] = "text"
    if _is_flat(value):
        shape = "fields"
        parts = enumerate(value.items())
        inputs = [(f"field{at}", key.replace("_", " "), _text(part)) for at, (key, part) in parts]
    elif isinstance(value, dict | list):
        shape = "json"
        inputs = [("value", "value as JSON", json.dumps(value, ensure_ascii=False, indent=2))]
    filled = ((name, label, (typed or {}).get(name, text)) for name, label, text in inputs)
    return ValueForm(shape, tuple(Input(*one) for one in filled))


def read_correction(original: Json, form: Mapping[str, str]) -> Json:
    """The corrected value: of the same shape as ``original``, and different from it.

    Raises:
        BadCorrection: nothing was changed, nothing was left, or a part cannot be read.
    """
    if sum(map(len, form.values())) > MAX_CORRECTION_CHARACTERS:
        raise BadCorrection(f"The value is longer than {MAX_CORRECTION_CHARACTERS} characters.")
    corrected = _read(original, form)
    absent = isinstance(corrected, dict) and all(part is None for part in corrected.values())
    if absent or corrected in (None, "", [], {}):
        raise BadCorrection("The value is empty. If nothing is right about it, say insufficient.")
    if canonical_json(corrected) == canonical_json(original):
        raise BadCorrection("The value is unchanged. If it is right, say supports.")
    return corrected


def _read(original: Json, form: Mapping[str, str]) -> Json:
    if _is_flat(original):
        return {
            key: _scalar(part, form.get(f"field{index}", ""), key)
            for index, (key, part) in enumerate(original.items())
        }
    text = form.get("value", "")
    if isinstance(original, dict | list):
        try:
            return strict_json(text)
        except (ValueError, RecursionError):
            raise BadCorrection("This is not JSON: check quotes, commas and brackets.") from None
    return _scalar(original, text, "value")


def _scalar(original: Json, typed: str, name: str) -> Json:
    """``typed`` as the kind of thing that ``original`` is; blank represents absent."""
    text = typed.replace("\r\n", "\n").strip()
    if not text:
        return None
    if isinstance(original, bool):
        if text.lower() not in _WORDS:
            raise BadCorrection(f"{name}: yes or no.")
        return _WORDS[text.lower()]
    if isinstance(original, int | float):
        return _number(text, name)
    if original is None and text.isascii() and text.isdecimal() and len(text) <= 15:
        return int(text)
    return text


def _number(text: str, name: str) -> Json:
    try:
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        number = math.nan
    if isinstance(number, float) and not math.isfinite(number):
        raise BadCorrection(f"{name}: a number is needed here.")
    return number


def _is_flat(value: Json) -> TypeGuard[dict[str, Json]]:
    return (
        isinstance(value, dict)
        and 0 < len(value) <= _MAX_FIELDS
        and not any(isinstance(part, dict | list) for part in value.values())
    )


def _text(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


_DECISIONS: Final[tuple[ReviewDecision, ...]] = (
    *("supports", "insufficient", "corrected", "skipped"),
)
_SHORT: Final[Mapping[DecisionReason, str]] = {
    "wrong_field": "Wrong field",
    "other_person": "Other person",
    "denied": "Denied",
    "wrong_value": "Wrong value",
    "not_in_text": "Not in the text",
}


@dataclass(frozen=True, slots=True)
class ReasonButton:
    reason: DecisionReason
    label: str
    sentence: str
    key: str


REASON_BUTTONS: Final = tuple(
    ReasonButton(reason, _SHORT[reason], sentence, str(key))
    for key, (reason, sentence) in enumerate(DECISION_REASONS.items(), start=1)
)


def read_decision(form: Mapping[str, str]) -> tuple[ReviewDecision, DecisionReason | None] | None:
    """What the pressed button says, "insufficient:denied" being a refusal with its reason; a
    correction has its reason beside it. None where there is no such decision."""
    name, _, with_it = form.get("decision", "").partition(":")
    decision = next((known for known in _DECISIONS if known == name), None)
    said = with_it or (form.get("reason", "") if decision == "corrected" else "")
    reason = next((known for known in DECISION_REASONS if known == said), None)
    if decision is None or (said and reason is None) or (with_it and decision != "insufficient"):
        return None
    return decision, reason


def read_comment(form: Mapping[str, str]) -> str:
    return _line(form, "comment")[:MAX_COMMENT]


def read_description(form: Mapping[str, str], today: str) -> str:
    """The field's proposed description, cut at its limit; "" where it is ``today``'s."""
    proposed = _line(form, "description")[:MAX_DESCRIPTION]
    return "" if proposed == " ".join(today.split()) else proposed


def _line(form: Mapping[str, str], name: str) -> str:
    return " ".join(form.get(name, "").split())
