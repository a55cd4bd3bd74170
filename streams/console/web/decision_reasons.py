"""Why a value is refused or corrected: a key for each reason, and a comment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from safepassage.schemas import ReviewDecision
from safepassage.schemas.review import DECISION_REASONS, MAX_COMMENT, DecisionReason
from safepassage.schemas.schema_field import MAX_DESCRIPTION

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
    """A button that refuses for a reason: what it sends, its words, its key."""

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
    """The comment, in one line and cut at its limit."""
    return _line(form, "comment")[:MAX_COMMENT]


def read_description(form: Mapping[str, str], today: str) -> str:
    """The description that the reviewer proposes for the field, in one line and cut at its limit;
    "" where it is the one of ``today``."""
    proposed = _line(form, "description")[:MAX_DESCRIPTION]
    return "" if proposed == " ".join(today.split()) else proposed


def _line(form: Mapping[str, str], name: str) -> str:
    return " ".join(form.get(name, "").split())
