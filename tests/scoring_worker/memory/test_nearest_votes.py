"""The vote of the nearest reviewed values: bounded, shrunk, and nobody's alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from safepassage.scoring_worker.memory.nearest_votes import NEAREST, Neighbour, vote_features

NEIGHBOURS = st.dictionaries(
    st.sampled_from("abc"),
    st.lists(
        st.builds(
            Neighbour,
            likeness=st.floats(-1, 1),
            reviewer=st.just("a"),
            supported=st.booleans(),
            probability=st.floats(0, 1),
        ),
        max_size=NEAREST,
    ),
)


def near(supported: bool, *, count: int = 1, likeness: float = 1.0) -> list[Neighbour]:
    return [Neighbour(likeness, "", supported, 0.5)] * count


def vote(**reviewers: list[Neighbour]) -> float:
    return vote_features(reviewers, 10)["vote"]


@given(NEIGHBOURS, st.integers(0, 5_000))
def test_features_stay_within_one(neighbours, count):
    assert all(-1 <= value <= 1 for value in vote_features(neighbours, count).values())


def test_nothing_reviewed_is_no_vote():
    assert set(vote_features({}, 0).values()) == {0.0}


def test_what_is_unlike_hardly_votes():
    assert 0 < vote(ana=near(True, likeness=0.2)) < 0.01 < vote(ana=near(True))


def test_one_reviewer_weighs_no_more_for_saying_it_often():
    assert vote(ana=near(False, count=5)) == vote(ana=near(False))


def test_one_reviewer_is_outvoted_by_two():
    alone = vote(eve=near(False, count=5))
    assert alone < 0 < vote(eve=near(False, count=5), ana=near(True), ben=near(True))


def test_reviewers_who_differ_cancel():
    assert vote(ana=near(True), eve=near(False, count=5)) == 0


@given(NEIGHBOURS)
def test_another_rejection_never_raises_the_vote_of_a_new_reviewer(neighbours):
    before = vote_features(neighbours, 10)["vote"]
    after = vote_features({**neighbours, "eve": near(False)}, 10)["vote"]
    assert after <= before + 1e-12 or before < -0.99


def test_labels_that_the_scorer_knew_say_nothing_beyond_it():
    known = [Neighbour(1.0, "", False, 0.0)] * 5
    features = vote_features({"ana": known}, 10)
    assert features["beyond"] == 0.0
    assert features["vote"] < -0.5
