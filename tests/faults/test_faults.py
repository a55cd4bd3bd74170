"""Every fault under load, on a real broker with real worker processes: the promises are kept.

The default run takes the smallest set that would notice each promise breaking beside the
simulation, which tries many more orders of events; the others, and more seeds, are marked
``long``. ``python -m tests.faults`` runs any of them by name and seed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stack import Stack

from .catalogue import CATALOGUE, names
from .harness import run_fault
from .table import broken, figures_of

SHORT = (
    "sigkill-score",  # P1, P3: what was in flight is delivered again, and counts once
    "rebalance-storm",  # P1, P3: partitions given up at work
    "redis-lies",  # P2: another text under the document's key
    "poison-pairs",  # P1, P2: pairs that cannot be measured, in a batch with others
    "versions",  # P4: versions of a document, in the order they came
)
SEEDS = (11, 12, 13)


async def keeps_its_promises(stack: Stack, name: str, seed: int, logs: Path) -> None:
    fault, shape = CATALOGUE[name]
    history = await run_fault(stack, fault, shape, seed=seed, logs=logs)
    run = figures_of(name, seed, history)
    assert broken(run) == {}
    assert run.recovery_seconds is not None, "not everything ended in time"
    assert run.documents >= shape.documents * shape.copies * 7 // 8
    assert run.extractions > 0


@pytest.mark.parametrize("name", SHORT)
async def test_a_fault_breaks_no_promise(stack: Stack, name: str, tmp_path: Path):
    await keeps_its_promises(stack, name, 10, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", names(several_brokers=False))
async def test_no_fault_breaks_a_promise_under_any_seed(
    stack: Stack, name: str, seed: int, tmp_path: Path
):
    await keeps_its_promises(stack, name, seed, tmp_path)
