"""What is wrong with a claim that its context does not support: six types, told apart by people.

The types are those of the legal groundedness benchmark (its section 8 and Table 5); the
descriptions are ours.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from pydantic import Field

from .base import Contract, Probability, is_none

ErrorType = Literal[
    "factual_inaccuracy",
    "contextual_misinterpretation",
    "procedural_error",
    "reasoning_error",
    "misattribution",
    "terminological_error",
]

ERROR_TYPES: Final[tuple[ErrorType, ...]] = get_args(ErrorType)

DESCRIPTIONS: Final[dict[ErrorType, str]] = {
    "factual_inaccuracy": "a fact is given wrongly: a date, a number, an amount, a detail",
    "contextual_misinterpretation": "a rule or finding is carried over to a matter, a group or a "
    "field of law that the context does not speak of",
    "procedural_error": "a step of a procedure is wrong: its order, its time limit, who takes it, "
    "or before which body",
    "reasoning_error": "a conclusion does not follow: a condition is dropped or turned around, "
    "what may be becomes what must be, some become all",
    "misattribution": "an opinion, a quotation or an act is given to somebody else than the "
    "context gives it to",
    "terminological_error": "a legal term is mistaken for another or used in a sense it does not "
    "have",
}


OF_REASONS: Final[Mapping[str, ErrorType]] = {
    "wrong_field": "contextual_misinterpretation",
    "other_person": "misattribution",
    "denied": "factual_inaccuracy",
    "wrong_value": "factual_inaccuracy",
}
"""The type that a reviewer's reason (`schemas.review.DecisionReason`) names. That a text does not
say something at all is no error of any of these types."""


class ErrorTyping(Contract):
    """The types that ``typed_by`` ("llm" or "local") found in a claim, the likeliest first.

    Evidence for people, never a reason: it is made after the decision and changes none.
    ``probability`` is that of the first type, where one was measured.
    """

    types: tuple[ErrorType, ...] = Field(min_length=1, max_length=len(ERROR_TYPES))
    typed_by: str = Field(min_length=1, max_length=64)
    revision: str = Field(min_length=1, max_length=64)
    probability: Probability | None = Field(default=None, exclude_if=is_none)
