"""Weights in fewer bits: how far they are from what they were, and what is refused."""

from __future__ import annotations

import pytest
import torch

from safepassage.scoring_worker.encoders.stored_weights import (
    SCALES,
    BlockWords,
    StoredWeights,
    blocks_of,
    bytes_of,
)
from safepassage.scoring_worker.manifest import ModelError


def matrix(rows=6, width=128):
    """Rows and halves of very different sizes, one row empty."""
    made = torch.randn(rows, width, generator=torch.manual_seed(0))
    made[:, width // 2 :] *= 100
    return made * torch.logspace(-6, 1, rows)[:, None] * (torch.arange(rows) != 2)[:, None]


def stored(weight):
    integers, scales = bytes_of(weight)
    return {"a.weight": integers, f"a.weight{SCALES}": scales}


def expanded(state):
    return dict(StoredWeights(state, state.__getitem__))


def test_a_group_is_off_by_half_a_step_of_its_own_at_most():
    weight = matrix()
    found = expanded(stored(weight))["a.weight"]
    off, groups = (of.unflatten(1, (2, 64)).abs().amax(-1) for of in (found - weight, weight))
    assert (off <= groups / 127 * 0.51).all()
    assert (found[2] == 0).all()


def test_groups_that_came_from_eight_bits_are_stored_again_as_they_are():
    for seed in range(20):
        weight = torch.randn(50, 192, generator=torch.manual_seed(seed))
        once = expanded(stored(weight))["a.weight"]
        assert torch.equal(expanded(stored(once))["a.weight"], once)


@pytest.mark.parametrize(
    "scales",
    [
        None,
        torch.ones(6),
        torch.ones(6, 1),
        torch.ones(1, 2),
        torch.ones(6, 128),
        torch.ones(6, 2, dtype=torch.int8),
        torch.ones(6, 2, dtype=torch.int64),
    ],
)
def test_integers_without_a_scale_for_each_group_are_refused(scales):
    """Taken for weights as they are, or spread over other rows, they would be silent nonsense."""
    state = stored(matrix())
    if scales is None:
        del state[f"a.weight{SCALES}"]
    else:
        state[f"a.weight{SCALES}"] = scales
    with pytest.raises(ModelError, match=r"a\.weight"):
        expanded(state)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.bool])
def test_other_integers_are_no_weights(dtype):
    with pytest.raises(ModelError, match="not stored as"):
        expanded({"a.bias": torch.ones(3).to(dtype)})


@pytest.mark.parametrize(
    ("numbers", "scales"),
    [
        (torch.zeros(4, 32, dtype=torch.uint8), torch.ones(4, 3)),
        (torch.zeros(4, 32, dtype=torch.uint8), torch.ones(3, 2)),
        (torch.zeros(4, 24, dtype=torch.uint8), torch.ones(4, 1)),
        (torch.zeros(4, 32), torch.ones(4, 2)),
        (torch.zeros(4, 32, dtype=torch.uint8), torch.ones(4, 2, dtype=torch.int64)),
        (torch.zeros(32, dtype=torch.uint8), torch.ones(2)),
    ],
)
def test_words_that_are_no_blocks_are_refused(numbers, scales):
    with pytest.raises(ModelError, match="4-bit blocks"):
        BlockWords(numbers, scales)


def test_words_that_came_from_blocks_are_stored_again_as_they_are():
    once = BlockWords(*blocks_of(matrix()))(torch.arange(6))
    assert torch.equal(BlockWords(*blocks_of(once))(torch.arange(6)), once)
