"""Seeds of the simulation: the promises hold, a seed repeats, and each broken rule is found.

``python -m tests.simulation --minutes 60`` runs others for an hour.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest

from .loop import VirtualLoop
from .mutations import MUTATIONS, mutated
from .run import run
from .schedule import Fault, schedule, shrunk

SEEDS = range(12)
LONG = range(12, 400)
FOUR_EYES_SEEDS = range(4)
FOUND_WITHIN = range(1, 9)

# Seeds that found a defect, with their faults of then.
FOUND: dict[str, tuple[int, Sequence[Fault]]] = {
    "a clock set back after a decision": (37, schedule(37)),
    "a worker that speaks for a decision that was taken back": (119, schedule(119)),
}


def test_a_seed_repeats_its_run_to_the_byte():
    first, second = run(5), run(5)
    assert first.steps > 1_000
    assert first == second


@pytest.mark.long
def test_a_seed_repeats_its_run_in_another_process():
    command = [sys.executable, "-m", "tests.simulation", "--seed", "5", "--runs", "1"]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    lines = [
        subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()[0]
        for _ in range(2)
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_promise_holds(seed: int):
    assert run(seed).broken == ()


@pytest.mark.parametrize("seed", FOUR_EYES_SEEDS)
def test_no_single_person_lets_a_stopped_value_pass(seed: int):
    assert run(seed, approvals=2).broken == ()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", LONG[::20])
def test_every_promise_holds_under_more_seeds(first: int):
    broken = {seed: result.broken for seed in range(first, first + 20) if (result := run(seed))}
    assert not any(broken.values()), broken


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended(name: str):
    seed, faults = FOUND[name]
    assert run(seed, faults).broken == ()


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_rule_is_found(name: str):
    promise = MUTATIONS[name][0]
    for seed in FOUND_WITHIN:
        with mutated(name):
            broken = run(seed, approvals=2 if promise == "four eyes" else 1).broken
        if any(found == promise for found, _ in broken):
            return
    pytest.fail(f"no seed of {FOUND_WITHIN} finds it")


def test_a_schedule_shrinks_to_the_faults_that_matter():
    faults = schedule(2)
    guilty = {faults[1], faults[-1]}
    assert len(faults) > 2
    assert set(shrunk(faults, lambda kept: guilty <= set(kept))) == guilty


def test_nothing_of_a_killed_process_runs_and_a_paused_one_goes_on():
    loop = VirtualLoop(random.Random(1), disorder=1.0, most_steps=10_000)
    said: list[tuple[str, float]] = []

    async def speak(name: str) -> None:
        try:
            while True:
                await asyncio.sleep(1)
                said.append((name, loop.time()))
        finally:
            said.append((f"end of {name}", loop.time()))

    async def story() -> None:
        killed, paused = (loop.spawn(n, lambda n=n: speak(n)) for n in ("killed", "paused"))
        await asyncio.sleep(1.5)
        loop.kill(killed)
        loop.pause(paused, 10)
        await asyncio.sleep(20)

    loop.run_until_complete(story())
    before_the_end = list(said)
    loop.close()
    assert [at for name, at in before_the_end if name == "killed"] == [pytest.approx(1, abs=0.1)]
    times = [at for name, at in before_the_end if name == "paused"]
    assert times[:2] == [pytest.approx(1, abs=0.1), pytest.approx(11.5, abs=0.1)]
    assert not any(name.startswith("end") for name, _ in before_the_end)
