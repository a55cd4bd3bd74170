"""Pairs of sentence and context out of sets made for other tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.curation import (
    PAPER_BOUNDS,
    Bounds,
    SimilarPair,
    Summary,
    from_similar,
    from_summaries,
    read_similar,
    read_summary,
    tokens,
)

LOOSE = Bounds(sentence=(1, 100), context=(1, 5_000))
SUMMARIES = [
    Summary(str(n), f"Article {n} tells about {n} dogs.", f"It has {n} dogs. They bark {n} times.")
    for n in range(6)
]
PAIRS = [
    SimilarPair(str(n), f"Dog {n} barks loudly at night.", f"Dog {n} is loud.", n % 2 == 0)
    for n in range(8)
]


def test_every_abstract_sentence_is_with_its_own_article_and_with_another():
    made = list(from_summaries(SUMMARIES, "bbc", 0, LOOSE))
    own = [one for one in made if one.grounded]
    foreign = [one for one in made if not one.grounded]
    assert len(own) == 12
    articles = {one.id: one.article for one in SUMMARIES}
    for one in own:
        assert one.context == articles[one.group.removeprefix("bbc-")]
    for one in foreign:
        assert one.context in articles.values()
        assert one.context != articles[one.group.removeprefix("bbc-")]
    assert {one.sentence for one in foreign} <= {one.sentence for one in own}


def test_a_set_with_one_article_has_no_unrelated_one():
    assert all(one.grounded for one in from_summaries(SUMMARIES[:1], "bbc", 0, LOOSE))


def test_the_first_sentence_stands_in_noise_and_the_label_stays():
    made = list(from_similar(PAIRS, "mrpc", 0, Bounds(context=(40, 200))))
    assert [one.grounded for one in made] == [pair.grounded for pair in PAIRS]
    for one, pair in zip(made, PAIRS, strict=True):
        assert one.sentence == pair.second
        assert one.context.count(pair.first) == 1
        assert 40 <= tokens(one.context) <= 200


def test_neutral_pairs_are_left_out():
    rows = [{"premise": "A dog.", "hypothesis": "An animal.", "label": label}
            for label in ("entailment", "neutral", "contradiction")]  # fmt: skip
    read = [read_similar(row, n) for n, row in enumerate(rows)]
    assert [pair.grounded for pair in read if pair] == [True, None, False]
    made = list(from_similar([pair for pair in read if pair], "snli", 0, LOOSE))
    assert [one.grounded for one in made] == [True, False]


@pytest.mark.parametrize(
    ("sentence", "context", "within"),
    [
        (5, 100, True),
        (4, 100, False),
        (101, 100, False),
        (100, 5_000, True),
        (5, 99, False),
        (5, 5_001, False),
    ],
)
def test_the_papers_bounds_hold_at_both_ends(sentence, context, within):
    assert PAPER_BOUNDS.admits("word " * context, "word " * sentence) is within


@given(st.integers(0, 50))
def test_the_same_seed_draws_the_same(seed):
    one, other = (list(from_summaries(SUMMARIES, "bbc", seed, LOOSE)) for _ in range(2))
    assert one == other
    assert list(from_similar(PAIRS, "x", seed)) == list(from_similar(PAIRS, "x", seed))


def test_groups_never_part_a_document():
    made = list(from_summaries(SUMMARIES, "bbc", 0, LOOSE))
    assert len({one.group for one in made}) == len(SUMMARIES)
    assert len({one.id for one in made}) == len(made)


def test_rows_of_other_shapes_are_none():
    assert read_summary({"context": ["a", "b"], "conclusion": "c"}, 3) == Summary("3", "a b", "c")
    assert read_summary({"context": "a"}, 0) is None
    assert read_similar({"s1": "a", "s2": " "}, 0) is None
