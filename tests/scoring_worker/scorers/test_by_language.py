"""A scorer for English, another for the rest: each pair is judged by one of them alone."""

from __future__ import annotations

import pytest

from safepassage.schemas import Assessment
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorer import Pair, Scorer
from safepassage.scoring_worker.scorers.by_language import ByLanguage, NotLoaded, is_in

ENGLISH = "The tenant shall pay the rent on the first working day of every calendar month."
GERMAN = "Der Mieter zahlt die Miete jeweils am ersten Werktag eines jeden Kalendermonats."


class Says:
    """Says the same score of every pair, and remembers what it was asked."""

    learnt_from = None

    def __init__(self, name: str, score: float, revision: str = "1") -> None:
        self.name, self.revision, self._score = name, revision, score
        self.asked: list[str] = []
        self.closed = False

    def assess(self, pairs):
        self.asked += [pair.premise for pair in pairs]
        return [
            Assessment(scorer=self.name, revision=self.revision, score=self._score, threshold=0.5)
            for _ in pairs
        ]

    def close(self) -> None:
        self.closed = True


def pair(premise: str, language: str | None = None) -> Pair:
    return Pair(premise, f"Rent: {premise[:9]}", "Rent", premise[:9], language=language)


def test_each_pair_has_one_judge_and_the_order_is_kept():
    english, others = Says("large", 0.9), Says("small", 0.2)
    scorer = ByLanguage("default", "en", english, others)
    assert isinstance(scorer, Scorer)
    answers = scorer.assess([pair(GERMAN), pair(ENGLISH), pair(GERMAN)])
    assert [answer.score for answer in answers] == [0.2, 0.9, 0.2]
    assert {answer.scorer for answer in answers} == {"default"}
    assert english.asked == [ENGLISH]
    scorer.close()
    assert english.closed
    assert others.closed


@pytest.mark.parametrize(
    ("asked", "english"),
    [
        (pair(ENGLISH), True),
        (pair(GERMAN), False),
        (pair(GERMAN, language="en"), True),
        (pair(ENGLISH, language="de"), False),
        (pair("1,250.00"), True),
        (pair("£900"), True),
        (pair("Müller"), False),
        (pair("日本語能力試験N1合格"), False),
    ],
)
def test_the_document_says_its_language_else_the_passage_does(asked, english):
    assert is_in(asked, "en") is english


def test_the_revision_changes_with_either_scorer():
    made = {
        ByLanguage("default", "en", Says("a", 1, one), Says("b", 1, other)).revision
        for one, other in (("1", "1"), ("2", "1"), ("1", "2"))
    }
    assert len(made) == 3


def test_what_nobody_knows_of_one_is_not_known_of_both():
    assert ByLanguage("default", "en", Says("a", 1), Says("b", 1)).learnt_from is None


def test_the_other_scorer_is_loaded_once_when_a_pair_is_for_it():
    english, others, loads = Says("large", 0.9), Says("small", 0.2), []

    def load():
        loads.append(1)
        return others

    scorer = ByLanguage("default", "en", english, NotLoaded("small", "1", None, load))
    assert scorer.revision == ByLanguage("default", "en", english, others).revision
    scorer.assess([pair(ENGLISH)])
    assert not loads
    assert [answer.score for answer in scorer.assess([pair(GERMAN)] * 2)] == [0.2, 0.2]
    scorer.assess([pair(GERMAN)])
    assert loads == [1]
    scorer.close()
    assert others.closed


def test_a_scorer_that_was_altered_before_its_first_pair_judges_nothing():
    altered = NotLoaded("small", "1", None, lambda: Says("small", 0.9, revision="2"))
    scorer = ByLanguage("default", "en", Says("large", 0.9), altered)
    with pytest.raises(ModelError, match="restart this process"):
        scorer.assess([pair(GERMAN)])
    scorer.close()
