"""Negative controls: with a safeguard switched off, the checker turns red.

Without them a checker that sees nothing would look like a system that loses nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stack import Stack

from .catalogue import sabotaged
from .harness import run_fault
from .scorer import ScorerPlan
from .table import broken, figures_of
from .workers import Sabotage

SOUND = ScorerPlan()
CONTROLS: dict[str, tuple[str, Sabotage | None, ScorerPlan, str]] = {
    "acknowledged before it is out": ("sigkill-align", "ack_before_publish", SOUND, "lost"),
    "dead letters dropped": ("poison-messages", "drop_dead_letters", SOUND, "lost"),
    "a scorer that fails open": (
        "poison-pairs",
        None,
        ScorerPlan(fails_open=True),
        "unevidenced",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("control", CONTROLS)
async def test_without_the_safeguard_the_checker_turns_red(
    stack: Stack, control: str, tmp_path: Path
):
    name, sabotage, scorer, promise = CONTROLS[control]
    fault, shape = sabotaged(name, sabotage, scorer)
    history = await run_fault(stack, fault, shape, seed=10, logs=tmp_path)
    assert promise in broken(figures_of(name, 10, history))
