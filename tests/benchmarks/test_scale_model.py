"""The scale model, where its answer is known without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scale_model import EXTRACTIONS, Deployment, most_per_second, simulate

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
