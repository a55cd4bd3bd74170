"""The scale model, where its answer is known without it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scale_model import (
    EXTRACTIONS,
    SHARE,
    Deployment,
    calibrated,
    checked,
    for_day,
    most_per_second,
    simulate,
    spread,
    variants,
)

MEASURED = Path(__file__).resolve().parents[2] / "docs" / "measured"
SMALL = Deployment(partitions=64, extract=4, align=4, score=4, llm_seconds=0.5)


@pytest.mark.parametrize(
    ("slow", "changes"),
    [
        ("extract", {"llm_seconds": 20.0}),
        ("align", {"align_seconds": 0.5}),
        ("score", {"score_seconds": 0.5}),
    ],
)
def test_the_slow_role_saturates_at_its_capacity(slow: str, changes: dict[str, float]):
    deployment = replace(SMALL, **changes)
    most = most_per_second(deployment, 3_000)
    assert most.bottleneck == slow
    assert most.per_second == pytest.approx(deployment.capacity(slow), rel=0.3)
    assert most.per_second < 1.05 * deployment.capacity(slow)


def test_a_document_alone_takes_its_service_times():
    alone = simulate(SMALL, 0.01, 200)
    service = EXTRACTIONS * (SMALL.align_seconds + SMALL.score_seconds) + SMALL.batch_seconds
    assert alone.p50 == pytest.approx(service + SMALL.llm_seconds, rel=0.2)


def test_workers_beyond_the_partitions_do_nothing():
    few = replace(SMALL, partitions=2, align=2, align_seconds=0.2)
    many = replace(few, align=16)
    assert most_per_second(many, 1_000).per_second == pytest.approx(
        most_per_second(few, 1_000).per_second, rel=0.05
    )


def test_one_seed_gives_one_answer():
    assert simulate(SMALL, 5, 500) == simulate(SMALL, 5, 500)


def test_the_page_has_what_the_model_says_today():
    told = json.loads((MEASURED / "scale.json").read_text())
    base = Deployment(**told["deployment"])
    for row in told["variants"]:
        most = most_per_second(variants(base)[row["name"]])
        assert most.per_second == pytest.approx(row["documents_per_second"])
        assert most.bottleneck == row["bottleneck"]


def test_other_seeds_say_much_the_same():
    for name, under in spread(Deployment(), minutes=0, documents=2_000).items():
        one = most_per_second(variants(Deployment())[name], 2_000)
        assert [f.per_second for f in under] == pytest.approx([one.per_second], rel=0.15), name


def test_a_run_of_bench_gives_the_service_times():
    times = {"extract": (0.1, 0.1), "align": (0.01, 0.02), "score": (0.2, 0.25)}
    run = {
        "roles": [
            {
                "role": role,
                "cpu_seconds_per_record": cpu,
                "seconds_per_record": clock,
                "records_per_second": 3.5,
            }
            for role, (cpu, clock) in times.items()
        ],
    }
    deployment = calibrated(run)
    assert (deployment.align_seconds, deployment.score_seconds) == (0.01, 0.2)
    check = checked(run)
    assert check["modelled"] == pytest.approx(4.0, rel=0.1)  # `score` makes four a second
    assert check["error"] == pytest.approx(4.0 / 3.5 - 1, abs=0.1)
    three = checked(run | {"score": 3, "partitions": 12})
    assert three["modelled"] == pytest.approx(12.0, rel=0.1)


def test_a_load_gets_workers_that_are_busy_for_the_share_that_was_asked():
    day = for_day(Deployment(llm_calls=64), 1e7)
    assert day["per_second"] == pytest.approx(1e7 / 86_400, rel=0.1)
    assert all(0.4 < share <= 1.1 * SHARE for share in day["busy"].values())
