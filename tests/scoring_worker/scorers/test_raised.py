"""Thresholds raised by name."""

from __future__ import annotations

from collections.abc import Sequence

from safepassage.schemas import Assessment
from safepassage.scoring_worker import Pair, load_scorer
from safepassage.scoring_worker.scorer_spec import ScorerSpec
from safepassage.scoring_worker.specified_scorer import SpecifiedScorer

RENT = Pair("The rent is 900 euros.", "Rent: 900 euros", "Rent", "900 euros")
DATE = Pair("It began in May.", "Begin: in May", "Begin", "in May")


class Sure:
    """Scores everything .9 against .5."""

    name, revision = "sure", "1"

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        return [Assessment(scorer="sure", revision="1", score=0.9, threshold=0.5) for _ in pairs]

    def close(self) -> None:
        """Nothing is held open."""


def raised(limit: float) -> SpecifiedScorer:
    return SpecifiedScorer(ScorerSpec("sure", limits={"rent": limit}), Sure())


def test_limits_raise_the_threshold_of_their_type_and_move_no_score() -> None:
    rent, date = raised(0.95).assess([RENT, DATE])
    assert (rent.score, rent.threshold, date.threshold) == (0.9, 0.95, 0.5)
    assert rent.revision != "1"
    (lower,) = raised(0.1).assess([RENT])
    assert lower.threshold == 0.5


def test_at_one_nothing_passes() -> None:
    (assessment,) = load_scorer('words#{"":1}').assess([RENT])
    assert assessment.threshold == 1.0
    assert assessment.score is not None
    assert assessment.score < 1.0


def test_the_same_name_is_the_same_scorer_to_the_byte() -> None:
    """So a replay with the released name repeats the verdicts that it made."""
    spec = ScorerSpec("words").with_limits({"Rent": 0.97})
    first, second = load_scorer(str(spec)), load_scorer(str(spec))
    assert first.revision == second.revision == spec.raised(load_scorer("words").revision)
    assert first.assess([RENT])[0].model_dump_json() == second.assess([RENT])[0].model_dump_json()
