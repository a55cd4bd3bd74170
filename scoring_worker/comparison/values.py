"""Text and numbers: which comparator a plain value is for."""

import re
from typing import Literal

from .contract import Comparison, Question
from .date_ranges import at_asked_end, is_open_end
from .dates import compare_date, date_of_value
from .dates.values import month_named
from .figures.comparator import compare_figure
from .figures.number_words import number_words
from .figures.search import parse_figure
from .identifiers.comparator import asks_for_identifier, compare_identifiers, identifier_of
from .names.comparator import compare_names
from .names.types import name_kind
from .names.words import compare_words

MAX_VALUE = 20_000
"""Code points of a value that are compared; what is longer is left to the judge."""
_LONGEST_NAME = 12
_LONGEST_MONTH, _LONGEST_COUNT = 30, 200
_AMOUNT = re.compile(r"[(%]|[.,]\d{1,2}\s*$")
_FIRST = frozenset({"asked", "certain"})
"""Identifiers that are not figures, though they may consist of digits."""
_LEADING_ZERO = re.compile(r"\s*0(?=\d*[^\D0])\d{2,}\s*")
"""The "02110" that is a code and no amount."""
_ADDRESSED = frozenset("@./:")


def compare_value(question: Question) -> Comparison:
    """Compare a string or a number by the kind that it is of.

    A date, a figure or an identifier is one as a whole: in "5 mg daily" the words count as well,
    and the comparator of words looks at its figures.
    """
    value, passage, entity_type = question.value, question.passage, question.entity_type
    written = value if isinstance(value, str) else str(value)
    if len(written) > MAX_VALUE:
        return Comparison("not_comparable", "words")
    counted = _counts(written, passage.language)
    identifier = _identifier(written, entity_type)
    short = len(written) <= _LONGEST_MONTH
    if identifier != "asked" and (counted or (short and month_named(written, passage.language))):
        compared = compare_date_value(question)
        if compared is not None:
            return compared
    figure = parse_figure(value, passage.language) if counted else None
    # Of an identifier a figure with a unit, a currency, brackets or decimals ("VAT Amount:
    # 88.755,19 EUR") is no figure all the same.
    is_code = identifier in _FIRST and not _AMOUNT.search(written)
    if figure is not None and not (is_code and figure.kind == "number"):
        return compare_figure(figure, passage, entity_type, question.unit)
    if identifier is not None:
        return compare_identifiers(written, passage, entity_type)
    if is_name(written, entity_type):
        return compare_names(written, passage, entity_type)
    found = compare_words(written, passage)
    return at_asked_end(question, found) if is_open_end(written) else found


def _counts(written: str, language: str | None) -> bool:
    """Whether ``written`` has a digit, a sign of a number or a number in words at all."""
    if any(map(str.isnumeric, written)):
        return True
    lowered = written[:_LONGEST_COUNT].lower()
    return any(next(number_words(lowered, tongue), None) for tongue in {language, "en"})


def _identifier(written: str, entity_type: str) -> Literal["asked", "certain", "shaped"] | None:
    """How surely a value is an identifier: its type asks for one, its form is that of a standard
    or begins with 0, or it merely looks like one, as "5mg" does."""
    # No digit, and no sign of an address: no identifier.
    if not any(map(str.isdigit, written)) and _ADDRESSED.isdisjoint(written):
        return None
    known = identifier_of(written, entity_type)
    if known is None:
        return "certain" if _LEADING_ZERO.fullmatch(written) else None
    if asks_for_identifier(entity_type):
        return "asked"
    return "shaped" if known.form == "code" else "certain"


def compare_date_value(question: Question) -> Comparison | None:
    """Compare a date, which may be an object of its parts; None for any other value."""
    passage = question.passage
    order = passage.day_first if question.day_first is None else question.day_first
    date = date_of_value(question.value, passage.language, question.entity_type, order)
    return None if date is None else at_asked_end(question, compare_date(date, passage))


def is_name(value: str, entity_type: str) -> bool:
    """Whether the type asks for a name, or the value is written as one: words in capitals."""
    words = value.split()
    if not words or len(words) > _LONGEST_NAME:
        return False
    if name_kind(entity_type) is not None:
        return True
    capitals = [word for word in words if word[0].isupper()]
    return len(capitals) > 1 and len(capitals) == len(words)
