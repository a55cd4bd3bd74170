"""Word matching, the baseline."""

from __future__ import annotations

import pytest

from safepassage.scoring_worker import Pair, Scorer, load_scorer
from tests.scoring_worker import tiny


@pytest.mark.parametrize(
    ("premise", "value", "score"),
    [
        ("Tenant: Maria Lopez", "lopez MARIA", 1.0),
        ("Tenant: Maria Lopez", "Mario Lopez", 0.5),
        ("15mg twice", "5mg", 0.0),
        ("no words", "–", 0.0),
        ("2012-01-17", {"yyyy": 2012, "mm": 1, "dd": 17}, 2 / 3),
    ],
)
def test_the_share_of_words_is_the_score(premise, value, score):
    scorer = load_scorer("words")
    assert isinstance(scorer, Scorer)
    (assessment,) = scorer.assess([Pair(premise, f"A: {value}", "A", value)])
    assert assessment.score == score
    assert (assessment.score >= assessment.threshold) == (score == 1.0)
    assert assessment.trail[0].revision == assessment.revision == scorer.revision


def test_it_does_not_read_the_type():
    """Why it is a baseline: the landlord passes as the tenant."""
    (assessment,) = load_scorer("words").assess(
        [tiny.pair("landlord: ann lee. tenant: joe poe", "ann lee", "Tenant")]
    )
    assert assessment.score == 1.0
