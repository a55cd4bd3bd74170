"""How readers lie in folders: the same weights come out, and nothing malformed goes in."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import (
    BASE_FILES,
    READER_FILE,
    WORDS_FILE,
    load_reader,
    save_compressed,
    save_reader,
    stored_reader,
    trainable,
)
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.encoders.stored_weights import SCALES
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny

MATRIX = "encoder.encoder.layer.1.intermediate.dense.weight"
IDS = torch.arange(5, 45)[None]


def compressed(folder, kind="mpnet"):
    model = tiny.reader(kind=kind)
    save_compressed(model, tiny.tokenizer().backend_tokenizer, folder)
    return model


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_a_compressed_reader_has_nearly_the_same_weights(kind, tmp_path):
    """A word is off by a seventh of the largest weight at most, any other by less."""
    before = compressed(tmp_path, kind).state_dict()
    assert {path.name for path in tmp_path.iterdir()} == {READER_FILE, *BASE_FILES}
    after = trainable(load_reader(tmp_path)).state_dict()
    assert before.keys() == after.keys()
    for name, weight in before.items():
        share = 1 / 7 if "word_embeddings" in name else 1 / 250
        assert torch.allclose(after[name], weight, atol=share * float(weight.abs().max())), name


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_stored_again_a_compressed_reader_is_the_same(kind, tmp_path):
    """Training starts from it, and what training leaves alone comes out as it went in."""
    compressed(tmp_path / "once", kind)
    again = trainable(load_reader(tmp_path / "once"))
    save_compressed(again, tiny.tokenizer().backend_tokenizer, tmp_path / "twice")
    for name in (READER_FILE, WORDS_FILE):
        first, second = (load_file(tmp_path / folder / name) for folder in ("once", "twice"))
        assert first.keys() == second.keys()
        assert all(torch.equal(first[one], second[one]) for one in first)


def test_a_compressed_reader_can_be_trained(tmp_path):
    compressed(tmp_path)
    model = trainable(load_reader(tmp_path)).train()
    torch.autograd.backward(model(input_ids=IDS).square().sum())
    trained = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert MATRIX in trained
    assert not any("word_embeddings" in name for name in trained)


def test_eight_bits_are_half_of_float16(tmp_path):
    """All large matrices are in them, and no other weight is."""
    model = compressed(tmp_path / "int8")
    save_reader(model, tmp_path / "half")
    integers = {
        name: tensor
        for name, tensor in load_file(tmp_path / "int8" / READER_FILE).items()
        if tensor.dtype == torch.int8
    }
    assert len(integers) == 2 * 6, "two layers of six products"
    halves = load_file(tmp_path / "half" / READER_FILE)
    assert all(tensor.dtype == torch.float16 for tensor in halves.values())
    assert halves.keys() >= integers.keys()


def reader(model, precision="fp32"):
    made = tiny.tokenizer(tiny.READER_LENGTH).backend_tokenizer
    placement = place("cpu", precision)
    return Reader(model, made, max_length=tiny.READER_LENGTH, placement=placement)


def packed(folder, precision="fp32"):
    """The reader as it serves: built from its files without transformers."""
    return reader(stored_reader(folder), precision)


def damaged(state, change):
    match change:
        case "no scales":
            del state[MATRIX + SCALES]
        case "other scales":
            state[MATRIX + SCALES] = state[MATRIX + SCALES][:1].clone()
        case "scales alone":
            del state[MATRIX]
        case "other shape":
            state[MATRIX] = state[MATRIX][:, 1:].contiguous()
        case "scales of nothing":
            state["encoder.nowhere" + SCALES] = torch.ones(2)
        case "integers for a bias":
            name = MATRIX.replace("weight", "bias")
            state[name] = state[name].to(torch.int8)
    return state


@pytest.mark.parametrize(
    "change",
    [
        "no scales",
        "other scales",
        "scales alone",
        "other shape",
        "scales of nothing",
        "integers for a bias",
    ],
)
def test_a_malformed_reader_is_refused(change, tmp_path):
    compressed(tmp_path)
    path = tmp_path / READER_FILE
    save_file(damaged(load_file(path), change), path)
    with pytest.raises(ModelError):
        load_reader(tmp_path)
    with pytest.raises(ModelError):
        packed(tmp_path)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_stored_reader_reads_as_one_that_transformers_built(kind, precision, tmp_path):
    """To the last bit, with and without what a config leaves to transformers."""
    compressed(tmp_path, kind)
    task = Task("date", "heard at ottawa on may 4")
    (built,) = reader(load_reader(tmp_path), precision).read([task])
    (stored,) = packed(tmp_path, precision).read([task])
    assert np.array_equal(stored.answers, built.answers)
    assert stored.claim == built.claim
    config = json.loads((tmp_path / "config.json").read_text())
    del config["layer_norm_eps"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (completed,) = packed(tmp_path, precision).read([task])
    assert completed.claim == built.claim


@pytest.mark.parametrize(
    "change", [{"hidden_size": 10**9}, {"num_hidden_layers": 3}, {"model_type": "gpt2"}]
)
def test_a_shape_that_its_files_do_not_have_is_refused(change, tmp_path):
    compressed(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ModelError):
        packed(tmp_path)


@pytest.mark.parametrize("change", ["fewer words", "narrower", "no scales"])
def test_malformed_words_are_refused(change, tmp_path):
    compressed(tmp_path)
    path = tmp_path / WORDS_FILE
    words = load_file(path)
    if change == "fewer words":
        words = {name: tensor[1:].contiguous() for name, tensor in words.items()}
    elif change == "narrower":
        words["nibbles"] = words["nibbles"][:, :8].contiguous()
    else:
        del words["scales"]
    save_file(words, path)
    with pytest.raises(ModelError):
        load_reader(tmp_path)
