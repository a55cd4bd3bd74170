"""The packed forward pass of encoders: transformers' numbers, whatever stands beside a sequence."""

from __future__ import annotations

import random

import pytest
import torch
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

from safepassage.scoring_worker.encoders.architectures import architecture_of
from safepassage.scoring_worker.encoders.batching import Piece, tiles
from safepassage.scoring_worker.encoders.devices import one_thread_each
from safepassage.scoring_worker.encoders.packed import TILE_TOKENS, PackedTrunk
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny

LENGTHS = (2, 5, 5, 9, 17, 31, 64, 140, 256)
"""From nearly nothing to the longest sequence; distances of every bucket of a position bias."""


@pytest.fixture(params=["bert", "mpnet"])
def encoder(request):
    made = tiny.reader(kind=request.param).encoder
    if request.param == "mpnet":  # drawn as all weights are, it is too small to be missed
        torch.nn.init.normal_(made.encoder.relative_attention_bias.weight, std=0.5)
    return made


def pieces(count=40, seed=0):
    """Sequences without token 1, which MPNet takes for padding."""
    rng = random.Random(seed)
    lengths = [*LENGTHS, *rng.choices(LENGTHS, k=count - len(LENGTHS))]
    return [
        Piece(at, [rng.randrange(2, tiny.SIZES["vocab_size"]) for _ in range(n)], [0] * n)
        for at, n in enumerate(lengths)
    ]


def test_hidden_states_are_those_of_transformers(encoder):
    packed = PackedTrunk(architecture_of(encoder))
    with torch.inference_mode():
        for tile in tiles(pieces(), TILE_TOKENS, packed=True):
            rows = iter(packed.hidden(tile))
            for piece in tile:
                found = torch.stack([next(rows) for _ in piece.ids])
                expected = encoder(input_ids=torch.tensor([piece.ids])).last_hidden_state[0]
                torch.testing.assert_close(found, expected, atol=3e-5, rtol=3e-5)


@pytest.mark.parametrize("int8", [False, True])
def test_hidden_states_do_not_depend_on_the_batch(encoder, int8):
    """Alone or in any tile: equal to the last bit."""
    every = pieces()
    with one_thread_each(), torch.inference_mode():
        typical = tiles(every[:20], TILE_TOKENS, packed=True) if int8 else ()
        packed = PackedTrunk(architecture_of(encoder), typical)
        alone = {piece.pair: packed.hidden([piece])[: len(piece)] for piece in every}
        for seed in range(3):
            mixed = random.Random(seed).sample(every, 30)
            for tile in tiles(mixed, TILE_TOKENS, packed=True):
                rows = iter(packed.hidden(tile))
                for piece in tile:
                    found = torch.stack([next(rows) for _ in piece.ids])
                    assert torch.equal(found, alone[piece.pair])


def test_only_what_fits_a_tile_is_packed():
    """MPNet's first position is its third: 514 positions are 512 tokens."""
    sizes = {**tiny.SIZES, "num_hidden_layers": 1}
    for fit in (
        BertModel(BertConfig(**sizes, max_position_embeddings=512)),
        MPNetModel(MPNetConfig(**sizes, max_position_embeddings=514)),
    ):
        assert PackedTrunk.fits(architecture_of(fit))
    longer = MPNetModel(MPNetConfig(**sizes, max_position_embeddings=515))
    assert not PackedTrunk.fits(architecture_of(longer))
    with pytest.raises(ModelError, match="no packed forward pass"):
        PackedTrunk(architecture_of(longer))
    decoder = BertModel(BertConfig(**sizes, is_decoder=True))
    relu = BertModel(BertConfig(**sizes, hidden_act="relu"))
    for unfit in (decoder, relu, torch.nn.Linear(2, 2)):
        assert architecture_of(unfit) is None
