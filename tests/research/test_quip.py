"""QuIP's n is chosen on one half of the queries and measured on the other."""

from __future__ import annotations

import pytest

from research.answers.sets import (
    AnswersOfSource,
    LabelledAnswer,
)
from research.groundedness import quip
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.evaluation.sources import DatasetError

CONTEXT = ("The tenant shall pay the rent of each month on its first day without delay.",)
COPIED = "the rent of each month on its first day without delay."
SHUFFLED = "each month the rent on its first day of delay without."


def answers(right: str, wrong: str, count: int = 24) -> AnswersOfSource:
    """As many right as wrong, a right and a wrong one to each query."""
    cases = []
    for at in range(count):
        answer = Answer(CONTEXT, right if at % 2 else wrong, query=f"Question {at // 2}?")
        cases.append(LabelledAnswer(str(at), answer, bool(at % 2), f"group-{at // 2}"))
    return AnswersOfSource("made", tuple(cases))


def test_short_n_grams_do_not_tell_what_only_the_order_tells():
    found = quip.choose_length(answers(COPIED, SHUFFLED))
    assert found.validation[found.chosen] == 1.0 == found.auroc
    assert found.chosen == min(n for n, auroc in found.validation.items() if auroc == 1.0)
    assert set(found.validation) == set(quip.LENGTHS)


def test_long_n_grams_do_not_tell_what_only_words_tell():
    """Neither text has 31 characters of the context in one piece: all are equal there."""
    found = quip.choose_length(answers("rent each first month day. tenant pay.", "qqq zzz xxx."))
    assert found.validation[31] == 0.5
    assert found.chosen < 21
    assert found.auroc > found.auroc_of_21


def test_answers_of_one_label_are_refused():
    with pytest.raises(DatasetError, match="too few"):
        quip.choose_length(answers(COPIED, SHUFFLED, count=2))
