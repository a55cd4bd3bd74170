"""Windows of whole sentences, and the way from windows to claims to responses."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from safepassage.passages.granularity import (
    aggregate,
    claims,
    over_claims,
    over_windows,
    windows,
)
from safepassage.passages.sentence_splitting import sentences

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)
thresholds = st.floats(0.01, 0.99)
texts = st.text(st.sampled_from("ab é.\n!•-1🙂\u0301"), max_size=200)
prose = st.lists(
    st.sampled_from(["The rent is 900.", "It began in May.", "Ms. Roe left!", "Why?"]), max_size=30
).map(" ".join)


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


@pytest.mark.parametrize("how", ["min", "max", "mean", "any", "all"])
def test_nothing_is_undetermined_and_never_grounded(how):
    assert aggregate(how, []) is None


@pytest.mark.parametrize("how", ["min", "max", "mean"])
@given(grounded=scores, at=st.integers(0, 8))
def test_an_unknown_score_makes_the_whole_unknown(how, grounded, at):
    at = min(at, len(grounded))
    assert aggregate(how, [*grounded[:at], None, *grounded[at:]]) is None


@pytest.mark.parametrize(
    ("how", "decisions", "whole"),
    [
        ("any", [0, None], None),
        ("any", [1, None], 1),
        ("any", [0, 0], 0),
        ("all", [1, None], None),
        ("all", [0, None], 0),
        ("all", [1, 1], 1),
    ],
)
def test_an_unknown_decision_matters_only_where_it_could_change_the_outcome(how, decisions, whole):
    assert aggregate(how, decisions) == whole


def test_any_and_all_refuse_what_is_no_decision():
    with pytest.raises(ValueError, match="decisions"):
        aggregate("any", [0.4])


@given(st.lists(texts, max_size=3), st.integers(1, 80), st.integers(0, 3))
def test_every_letter_of_the_context_stands_in_a_window_and_no_window_is_too_long(
    context, room, overlap
):
    made = windows(context, room, overlap=overlap)
    covered = {(w.passage, at) for w in made for at in range(w.start, w.end)}
    for number, text in enumerate(context):
        for start, end in sentences(text):
            missing = [at for at in range(start, end) if (number, at) not in covered]
            assert not any(text[at].strip() for at in missing)
    assert all(0 < window.end - window.start <= room for window in made)
    assert made == sorted(made, key=lambda w: (w.passage, w.start))
    assert len(set(made)) == len(made)


@given(prose, st.integers(20, 200))
def test_windows_begin_and_end_with_whole_sentences(text, room):
    edges = list(sentences(text))
    assume(all(end - start <= room for start, end in edges))
    starts, ends = {start for start, _ in edges}, {end for _, end in edges}
    assert all(w.start in starts and w.end in ends for w in windows([text], room))


def test_windows_share_a_sentence_where_it_fits_and_never_span_passages():
    context = ["Ann left. Ben came. Carol stayed there.", "Dan slept."]
    found = [context[w.passage][w.start : w.end] for w in windows(context, 31)]
    assert found == ["Ann left. Ben came.", "Ben came. Carol stayed there.", "Dan slept."]


def test_a_window_needs_room():
    with pytest.raises(ValueError, match="room"):
        windows(["a"], 0)


def test_claims_are_the_sentences_of_a_response():
    text = "It began in May. It ended in June."
    assert [text[start:end] for start, end in claims(text)] == [
        "It began in May.",
        "It ended in June.",
    ]
