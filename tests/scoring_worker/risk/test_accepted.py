"""The risk of what passes: bounds that hold, what lacks, and no certificate by other labels."""

from __future__ import annotations

import random

from safepassage.schemas import Draw
from safepassage.scoring_worker.risk.accepted import ACCEPTED, STOPPED, AcceptedRisk
from safepassage.scoring_worker.risk.bounds import clopper_pearson
from safepassage.scoring_worker.risk.draws import draw
from safepassage.scoring_worker.risk.strata import DrawnLabel


def checks(right: int, wrong: int = 0) -> list[DrawnLabel]:
    """Spot checks of values that pass."""
    return [
        DrawnLabel(ACCEPTED, at < wrong, accepted=True, draw=Draw(probability=0.01, among=100))
        for at in range(right + wrong)
    ]


def of(labels: list[DrawnLabel], newly: int = 0, asked: float = 0.05) -> AcceptedRisk:
    return AcceptedRisk.of(labels, newly, confidence=0.95, asked=asked)


def test_spot_checks_of_what_passes_are_bounded_exactly():
    found = of(checks(58, 2))
    assert (found.low, found.high) == clopper_pearson(2, 60, 0.95)
    assert not found.certified
    assert found.wanted is not None
    assert found.wanted > 60
    assert of(checks(59)).certified
    assert not of(checks(58)).certified
    assert of(checks(58)).wanted == 1


def test_what_is_no_longer_accepted_does_not_count():
    stopped = [DrawnLabel(STOPPED, True, accepted=True, draw=None) for _ in range(30)]
    assert of([*checks(59), *stopped]) == of(checks(59))


def test_it_says_what_lacks():
    assert "no spot check" in str(of([]))
    assert "no spot check" in str(of([DrawnLabel(STOPPED, True, accepted=True, draw=None)] * 9))
    newly = of(checks(300), newly=7)
    assert not newly.certified
    assert "7 values pass that were stopped" in str(newly)
    assert of(checks(10, 90)).wanted is None


def test_values_that_pass_newly_are_certified_by_draws_of_stopped_ones():
    """A stream of 400 accepted and 100 stopped values; the candidate accepts 80 of the stopped."""
    chance = random.Random(7)
    broken, certified = 0, 0
    for _ in range(60):
        wrong_newly = 24  # of 480 that pass: 5%, exactly what is asked
        wrong = [True] * wrong_newly + [False] * (80 - wrong_newly)
        chance.shuffle(wrong)
        stopped = [*((ACCEPTED, one) for one in wrong), *[(STOPPED, True)] * 20]
        chance.shuffle(stopped)
        labels = []
        for before in range(60):
            drawn = draw(range(min(20, len(stopped))), len(stopped), chance)
            score, is_wrong = stopped.pop(drawn.position)
            said = Draw(probability=drawn.probability, among=drawn.among, before=before)
            labels.append(DrawnLabel(score, is_wrong, accepted=False, draw=said))
        passed = [
            DrawnLabel(ACCEPTED, False, accepted=True, draw=Draw(probability=0.0025, among=400))
            for _ in range(200)
        ]
        found = of([*passed, *labels], newly=80)
        broken += found.certified
        certified += of([*passed, *labels], newly=80, asked=0.2).certified
    assert broken <= 6
    assert certified > 30
