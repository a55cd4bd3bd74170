"""Short quotes: what they keep of a passage, and what they never hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recipes.short_quotes import (
    cut_quotes,
    foreign_questions,
)
from safepassage.scoring_worker.training.reading.questions import (
    ReadingQuestion,
    places_of,
)

PASSAGE = (
    "The rent is £900 a month, and the deposit of £2,500 is held by the agent. "
    "Notice is two months, but the agent may agree to one month in writing."
)


def question(right: str, wrong: tuple[str, ...], group: str = "a", asked: str = "Rent"):
    return ReadingQuestion(
        passage=PASSAGE,
        asked=(asked,),
        answers=tuple(places_of(right, PASSAGE)) if right else (),
        wrong=tuple(place for value in wrong for place in places_of(value, PASSAGE)),
        source="leases",
        group=group,
    )


def test_a_quote_around_a_wrong_value_has_no_right_one():
    """Or the reader would learn that the better of two is right."""
    cut = list(cut_quotes([question("£900", ("£2,500", "two months"))] * 200, 1.0, 0))
    none = [quote for quote in cut if not quote.answers]
    assert none
    assert len(none) < len(cut), "quotes around right values keep the balance"
    for quote in none:
        assert "£900" not in quote.passage
        assert quote.wrong


def test_places_of_a_quote_are_those_of_its_own_text():
    for quote in cut_quotes([question("£900", ("£2,500",))] * 50, 1.0, 1):
        assert {quote.passage[a:b] for a, b in quote.answers} <= {"£900"}
        assert {quote.passage[a:b] for a, b in quote.wrong} <= {"£2,500"}
        assert quote.passage in PASSAGE
        assert quote.passage != PASSAGE


def test_a_value_alone_is_no_quote():
    text = "£900, £2,500"
    lonely = ReadingQuestion(text, ("Rent",), ((0, 4),), ((6, 12),))
    assert not list(cut_quotes([lonely] * 20, 1.0, 0))


def test_a_claim_is_not_cut():
    claim = ReadingQuestion(PASSAGE, ("The rent is £900.",), supported=1)
    assert not list(cut_quotes([claim], 1.0, 0))


@given(st.integers(0, 10_000))
def test_cutting_repeats_with_its_seed(seed):
    asked = [question("£900", ("£2,500", "two months", "one month"))] * 5
    assert list(cut_quotes(asked, 0.5, seed)) == list(cut_quotes(asked, 0.5, seed))


def test_the_question_of_another_document_has_no_answer_here():
    rent = question("£900", ("£2,500",), group="a")
    other = ReadingQuestion("The fee is £75.", ("Fee",), ((11, 14),), (), None, None, "leases", "b")
    made = list(foreign_questions([rent, other] * 40, 1.0, 0))
    assert {q.asked for q in made} == {("Rent",), ("Fee",)}
    assert all(not q.answers for q in made)
    fee_of_the_lease = next(q for q in made if q.asked == ("Fee",))
    assert {PASSAGE[a:b] for a, b in fee_of_the_lease.wrong} == {"£900", "£2,500"}


def test_a_question_whose_answer_stands_here_too_is_not_put():
    rent = question("£900", ())
    same = ReadingQuestion("A fee of £900.", ("Fee",), ((9, 13),), (), None, None, "leases", "b")
    assert not list(foreign_questions([rent, same] * 40, 1.0, 0))
