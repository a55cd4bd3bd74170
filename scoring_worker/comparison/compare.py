"""`compare`: does the passage hold this value? The kind is decided by the value itself.

The type's words are a hint where a value may be of two kinds ("2012" is a year for "Founded"),
and never more. After a comparator has found the value, the words around it are read: what is
denied everywhere is another value.
"""

from collections.abc import Mapping
from dataclasses import replace

from safepassage.schemas import CLAIM_TYPE

from .answers.absence import absence_of, compare_none
from .answers.category import compare_category, is_allowed, not_allowed
from .answers.truth import compare_truth, truth_of
from .claims import compare_claim
from .contract import Comparison, Question
from .denials.assertion_status import read_denial
from .founded_words import with_founded_words
from .names.types import name_kind
from .nested.objects import compare_list, compare_object
from .nested.parts import MAX_DEPTH, MAX_FINDINGS, Budget, too_deep
from .passage_language import with_language
from .values import compare_date_value, compare_value


def compare(question: Question) -> Comparison:
    """Whether the quote of ``question`` holds its value, and where.

    Args:
        question: type, value and passage. The value may be of any JSON type, nested.

    Never raises, regardless of what text or value it is given; linear in the passage, and bounded
    in the number of parts of the value.
    """
    passage = with_language(question.passage)
    compared = _compare(replace(question, passage=passage), 0, Budget())
    if len(compared.findings) <= MAX_FINDINGS:
        return compared
    return replace(compared, findings=compared.findings[:MAX_FINDINGS])


def _compare(question: Question, depth: int, budget: Budget) -> Comparison:
    value = question.value
    if depth > MAX_DEPTH:
        return too_deep("object")
    if question.entity_type == CLAIM_TYPE and isinstance(value, str):
        return compare_claim(question)
    answered = _answered(question)
    if answered is not None:
        return answered
    if isinstance(value, list):
        return compare_list(question, value, depth, budget, _compare)
    if isinstance(value, Mapping):
        compared = compare_date_value(question)
        if compared is None:
            return compare_object(question, value, depth, budget, _compare)
    else:
        compared = with_founded_words(question, compare_value(question))
    named = name_kind(question.entity_type) is not None
    return read_denial(question, compared, named=named)


def _answered(question: Question) -> Comparison | None:
    """The answer for none, yes, no, one of the allowed values and what is not among them; None
    for any other value."""
    absence, truth = absence_of(question.value), truth_of(question.value)
    if question.allowed and absence != "either" and not is_allowed(question):
        return not_allowed(question)
    if absence is not None:
        return compare_none(question, absence)
    if truth is not None:
        return compare_truth(question, truth)
    if isinstance(question.value, str) and question.allowed:
        return compare_category(question, question.value)
    return None
