"""A value that the schema takes from a closed set: which of the allowed ones does the quote say?"""

import re
from collections.abc import Mapping
from functools import lru_cache

from safepassage.schemas.schema_field import MAX_OPTION

from ..contract import Comparison, Place, Question, different
from ..denials.assertion_status import places_denied
from .truth import truth_of

MAX_ALLOWED = 200
_SEPARATORS = re.compile(r"[\s_\-/]+")


def is_allowed(question: Question) -> bool:
    """Whether the schema allows the value, case, blanks and underscores aside. A list or an object
    is not one of the allowed values itself: its parts are."""
    value = question.value
    if isinstance(value, list | Mapping):
        return True
    if isinstance(value, bool):
        return any(truth_of(option) is value for option in question.allowed)
    if isinstance(value, int | float):
        return any(_number(option) == value for option in question.allowed)
    return _option(question, str(value)) is not None


def not_allowed(question: Question) -> Comparison:
    """The answer for a value that the schema does not allow."""
    return different("category", "not_allowed", "the schema does not allow this value")


def compare_category(question: Question, value: str) -> Comparison | None:
    """The allowed values that the quote says, other than to deny them, against ``value``.

    None where ``value`` is not among the allowed, or the quote says none of them: then the words
    have to be compared. Linear in the quote for each allowed value.
    """
    mine = _option(question, value)
    if mine is None or len(question.allowed) > MAX_ALLOWED:
        return None
    said = {option: _said(question, option) for option in dict.fromkeys(question.allowed)}
    own = said.pop(mine)
    others = tuple(
        place
        for places in said.values()
        for place in places
        # "male" within "female", or "time" within "part time", is not said by itself.
        if not any(mine.start <= place.start and place.end <= mine.end for mine in own)
    )
    own = tuple(mine for mine in own if not any(map(mine.is_part_of, others)))
    if own:
        return Comparison("same", "category", own, others)
    if not others:
        return None
    words = sorted(option for option, places in said.items() if places)
    return different("category", "category_differs", f"passage says {', '.join(words)}", others)


def _option(question: Question, value: str) -> str | None:
    """The allowed value that ``value`` is, however it is written; options are kept cut."""
    wanted = _folded(value[:MAX_OPTION])
    return next((option for option in question.allowed if _folded(option) == wanted), None)


def _folded(option: str) -> str:
    return _SEPARATORS.sub(" ", option.casefold()).strip()


def _number(option: str) -> float | None:
    try:
        return float(option)
    except ValueError:
        return None


def _said(question: Question, option: str) -> tuple[Place, ...]:
    quote = question.passage.quote
    found = [Place(m.start(), m.end()) for m in _pattern(option).finditer(quote)]
    denied = places_denied(question.passage, found)
    return tuple(place for place in found if place not in denied)


@lru_cache(maxsize=1024)
def _pattern(option: str) -> re.Pattern[str]:
    words = [re.escape(word) for word in _SEPARATORS.split(option) if word]
    phrase = r"[\s_-]*".join(words) or r"(?!)"
    return re.compile(rf"(?<!\w)(?:{phrase})(?!\w)", re.IGNORECASE)
