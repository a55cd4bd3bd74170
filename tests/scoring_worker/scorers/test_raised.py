"""Thresholds raised by name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.scoring_worker.manifest import ModelError
from safepassage.scoring_worker.scorers.raised_thresholds import (
    Raised,
    parted,
    revision_with,
    with_limits,
)

RENT = Pair("The rent is 900 euros.", "Rent: 900 euros", "Rent", "900 euros")
DATE = Pair("It began in May.", "Begin: in May", "Begin", "in May")


class Sure:
    """Scores everything .9 against .5."""

    name, revision = "sure", "1"

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return [Assessment(scorer="sure", revision="1", score=0.9, threshold=0.5) for _ in pairs]

    def close(self) -> None:
        """Nothing is held open."""


def test_limits_raise_the_threshold_of_their_type_and_move_no_score() -> None:
    rent, date = Raised(Sure(), {"rent": 0.95}).assess([RENT, DATE])
    assert (rent.score, rent.threshold, date.threshold) == (0.9, 0.95, 0.5)
    assert rent.revision != "1"
    (lower,) = Raised(Sure(), {"rent": 0.1}).assess([RENT])
    assert lower.threshold == 0.5


def test_at_one_nothing_passes() -> None:
    (assessment,) = load_scorer('words#{"":1}').assess([RENT])
    assert assessment.threshold == 1.0
    assert assessment.score is not None
    assert assessment.score < 1.0


def test_the_same_name_is_the_same_scorer_to_the_byte() -> None:
    """So a replay with the released name repeats the verdicts that it made."""
    name = with_limits("words", {"Rent": 0.97})
    first, second = load_scorer(name), load_scorer(name)
    assert (
        first.revision
        == second.revision
        == revision_with(load_scorer("words").revision, {"rent": 0.97})
    )
    assert first.assess([RENT])[0].model_dump_json() == second.assess([RENT])[0].model_dump_json()


def test_limits_add_up_and_the_higher_one_counts() -> None:
    name = with_limits(with_limits("words", {"rent": 0.9}), {"rent": 0.8, "": 0.7})
    assert parted(name) == ("words", {"rent": 0.9, "": 0.7})
    once = revision_with("r", {"rent": 0.9})
    assert revision_with(once, {"rent": 0.95}) == revision_with("r", {"rent": 0.95})


@pytest.mark.parametrize("name", ["words#{", 'words#{"a":2}', 'words#{"a":"b"}', 'words#{"a":NaN}'])
def test_what_is_no_limit_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="names no limits"):
        load_scorer(name)
