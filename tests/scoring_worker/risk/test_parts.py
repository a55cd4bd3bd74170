"""Which values share a promise."""

from __future__ import annotations

from safepassage.schemas import Draw
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.manifest import Thresholds, TypeThreshold
from safepassage.scoring_worker.risk.certificate import Stratum
from safepassage.scoring_worker.risk.groups import group_of, threshold_of
from safepassage.scoring_worker.risk.parts import certify_parts
from safepassage.scoring_worker.risk.strata import DrawnLabel, strata_of


def test_a_type_with_labels_enough_has_a_promise_of_its_own_and_others_share_one() -> None:
    types = ["Amount"] * 120 + ["Name"] * 120 + [f"rare {at}" for at in range(200)]
    groups = ["figures"] * 120 + ["words"] * 120 + ["words"] * 150 + ["truth"] * 50
    wrong = [False] * 120 + [at % 3 == 0 for at in range(120)] + [False] * 200
    sample = Stratum.of([0.9] * 440, wrong)
    parts = {p.kind + " " + p.name: p for p in certify_parts([sample], [types], [groups], 0.05)}
    assert parts.keys() == {"type amount", "type name", "group words", "rest "}
    assert parts["type amount"].certified
    assert parts["type name"].shortfall
    assert parts["group words"].certified
    assert (parts["group words"].labels, parts["rest "].labels) == (150, 50)
    assert parts["rest "].shortfall
    confidences = {(part.certified or part.shortfall).confidence for part in parts.values()}
    assert confidences == {1 - 0.05 / 4}, "all four hold together with 95%"


def test_a_group_is_known_from_the_question_alone() -> None:
    thresholds = Thresholds(
        default=0.5,
        by_type={"Rent": TypeThreshold(value=0.9, n=1)},
        by_group={"figures, in words, en": TypeThreshold(value=0.7, n=1)},
    )
    found = Pair("It is 1,250 euros.", "Price: 1,250", "Price", "1,250", language="en")
    absent = Pair("It is 1,250 euros.", "Price: 1250", "Price", "1250", language="en")
    assert group_of(found) == "figures, in words, en"
    assert group_of(absent) == "figures, not in words, en"
    assert threshold_of(thresholds, found) == 0.7
    assert threshold_of(thresholds, absent) == 0.5
    assert threshold_of(thresholds, Pair("", "", "rent", "1,250", language="en")) == 0.9


def test_thresholds_without_groups_are_written_as_they_always_were() -> None:
    assert "by_group" not in Thresholds().model_dump(mode="json")


def test_what_was_stopped_counts_for_its_share_of_the_stream() -> None:
    checks = [
        DrawnLabel(
            0.9, False, True, Draw(probability=1 / (40 - n), among=40 - n, before=n, rate=0.1)
        )
        for n in range(20)
    ]
    stopped = [
        DrawnLabel(0.2, True, False, Draw(probability=0.02, among=100 - n, before=n))
        for n in range(10)
    ]
    accepted, rest = strata_of([*stopped, *checks])
    assert accepted.share == 0.8, "400 of 500"
    assert rest.population is not None
    assert set(rest.population) == {100}
    (alone,) = strata_of(checks)
    assert alone.share == 1.0
    (everything,) = strata_of(stopped)
    assert everything.share == 1.0, "nothing was accepted: what was stopped is the whole stream"
