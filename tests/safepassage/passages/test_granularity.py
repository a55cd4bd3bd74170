"""The way from windows to claims to responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepassage.passages.granularity import (
    aggregate,
    claims,
    over_claims,
    over_windows,
)

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)
thresholds = st.floats(0.01, 0.99)


@given(scores, thresholds)
def test_a_claim_is_out_of_context_only_where_it_is_so_in_every_window(grounded, threshold):
    claim = over_windows(grounded)
    assert claim is not None
    assert (claim < threshold) == all(score < threshold for score in grounded)


@given(scores, thresholds)
def test_a_response_is_out_of_context_where_any_of_its_claims_is(grounded, threshold):
    response = over_claims(grounded)
    assert response is not None
    assert (response < threshold) == any(score < threshold for score in grounded)


@given(scores, st.floats(0, 1))
def test_a_further_window_never_makes_a_claim_less_grounded(grounded, another):
    assert over_windows([*grounded, another]) >= over_windows(grounded)


@given(scores, st.floats(0, 1))
def test_a_further_claim_never_makes_a_response_more_grounded(grounded, another):
    assert over_claims([*grounded, another]) <= over_claims(grounded)


@given(scores)
def test_the_order_of_windows_and_claims_does_not_matter(grounded):
    for how in ("min", "max"):
        assert aggregate(how, grounded) == aggregate(how, grounded[::-1])


@pytest.mark.parametrize("how", ["min", "max", "mean"])
def test_nothing_is_undetermined_and_never_grounded(how):
    assert aggregate(how, []) is None


@pytest.mark.parametrize("how", ["min", "max", "mean"])
@given(grounded=scores, at=st.integers(0, 8))
def test_an_unknown_score_makes_the_whole_unknown(how, grounded, at):
    at = min(at, len(grounded))
    assert aggregate(how, [*grounded[:at], None, *grounded[at:]]) is None


def test_claims_are_the_sentences_of_a_response():
    text = "It began in May. It ended in June."
    assert [text[start:end] for start, end in claims(text)] == [
        "It began in May.",
        "It ended in June.",
    ]
