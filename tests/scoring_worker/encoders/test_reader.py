"""The reader at work over either encoder: the same reading in every batch and precision."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from transformers import RobertaConfig, RobertaModel

from safepassage.scoring_worker.encoders.devices import place
from safepassage.scoring_worker.encoders.prepared_layers import MOST_FILES
from safepassage.scoring_worker.encoders.reader import Reader
from safepassage.scoring_worker.encoders.reader_model import ReaderModel
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.manifest import ModelError
from tests.scoring_worker import tiny

WORDS = ["the", "panel", "of", "may", "4", "2015", "heard", "counsel", "john", "at", "ottawa"]


def tasks(count=60):
    chooser = random.Random(0)
    passages = (" ".join(chooser.choices(WORDS, k=chooser.randint(1, 12))) for _ in range(count))
    return [Task(chooser.choice(["date", "name of the panel"]), passage) for passage in passages]


def reader_of(model, precision="fp32", identity=None):
    made = tiny.tokenizer(tiny.READER_LENGTH).backend_tokenizer
    placement = place("cpu", precision)
    length = tiny.READER_LENGTH
    placed = model.to(placement.dtype)
    return Reader(placed, made, max_length=length, placement=placement, identity=identity)


def logits(readings):
    return [np.array([one.claim, *one.answers, *one.founded]) for one in readings]


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_reading_does_not_depend_on_its_batch(kind, precision):
    """Equal bits alone, in any order, beside any others, and beside a passage in windows."""
    reader = reader_of(tiny.reader(kind=kind), precision)
    asked = [*tasks(), Task("date", "heard at ottawa " * 40 + "may 4")]
    together = logits(reader.read(asked))
    order = random.Random(1).sample(range(len(asked)), len(asked))
    for part in ([0], order[:7], order):
        for at, found in zip(part, logits(reader.read([asked[at] for at in part])), strict=True):
            assert np.array_equal(found, together[at])


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_layers_are_made_once_and_read_to_the_last_bit(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = reader_of(tiny.reader(kind=kind), "int8", "these weights")
    (kept,) = tmp_path.rglob("*.safetensors")
    assert kept.stat().st_mode & 0o777 == 0o600

    def again(*_):
        raise AssertionError("the layers were made again")

    with monkeypatch.context() as once:
        once.setattr("safepassage.scoring_worker.encoders.packed.Int8Linear.__init__", again)
        read = reader_of(tiny.reader(kind=kind), "int8", "these weights")
        with pytest.raises(AssertionError, match="made again"):
            reader_of(tiny.reader(kind=kind), "int8", "other weights")
        kept.chmod(0o666)
        with pytest.raises(AssertionError, match="made again"):
            reader_of(tiny.reader(kind=kind), "int8", "these weights")
    for one, other in zip(logits(made.read(tasks())), logits(read.read(tasks())), strict=True):
        assert np.array_equal(one, other)
    kept.chmod(0o600)
    kept.write_bytes(kept.read_bytes()[:100])
    damaged = reader_of(tiny.reader(kind=kind), "int8", "these weights")
    assert np.array_equal(logits(damaged.read(tasks()))[0], logits(made.read(tasks()))[0])


def test_what_cannot_be_kept_costs_time_alone(monkeypatch, tmp_path):
    (tmp_path / "safepassage").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert reader_of(tiny.reader(), "int8", "these weights").read(tasks(1))


def test_only_the_latest_files_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number in range(MOST_FILES + 2):
        reader_of(tiny.reader(), "int8", f"weights {number}")
    assert len(list(tmp_path.rglob("*"))) == MOST_FILES + 2  # and two folders


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_packed_and_padded_readings_are_the_same(kind, monkeypatch):
    packed = logits(reader_of(tiny.reader(kind=kind)).read(tasks()))
    monkeypatch.setattr(
        "safepassage.scoring_worker.encoders.reader.PackedTrunk.fits", lambda _: False
    )
    padded = logits(reader_of(tiny.reader(kind=kind)).read(tasks()))
    for one, other in zip(packed, padded, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)  # four decimals are kept


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_int8_reads_nearly_what_fp32_reads(kind):
    exact = np.concatenate(logits(reader_of(tiny.reader(kind=kind)).read(tasks())))
    rough = np.concatenate(logits(reader_of(tiny.reader(kind=kind), "int8").read(tasks())))
    assert not np.array_equal(exact, rough)
    assert np.corrcoef(exact, rough)[0, 1] > 0.95


def test_int8_is_refused_where_it_does_not_exist():
    encoder = RobertaModel(RobertaConfig(**tiny.SIZES), add_pooling_layer=False)
    with pytest.raises(ModelError, match="int8 is for BERT and MPNet"):
        reader_of(ReaderModel(encoder), "int8")


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("packed", [True, False])
def test_the_state_of_words_is_the_mean_of_the_last_layer_over_them(kind, packed, monkeypatch):
    if not packed:
        monkeypatch.setattr(
            "safepassage.scoring_worker.encoders.reader.PackedTrunk.fits", lambda _: False
        )
    model, task = tiny.reader(kind=kind), Task("date", "may 4 2015 heard")
    places = ((0, 3), (6, 10))
    reader = reader_of(model)
    [read] = reader.read([task], {task: {places, ()}})
    encoding = tiny.tokenizer(tiny.READER_LENGTH).backend_tokenizer.encode(*_texts(task))
    ids, types = (torch.tensor([row]) for row in (encoding.ids, encoding.type_ids))
    typed = {"token_type_ids": types} if kind == "bert" else {}
    with torch.inference_mode():
        hidden = model.encoder(input_ids=ids, **typed).last_hidden_state[0].double().numpy()
    for wanted, side in ((places, 1), ((), 0)):
        rows = [
            at
            for at, (own, (start, end)) in enumerate(
                zip(encoding.sequence_ids, encoding.offsets, strict=True)
            )
            if own == side and (not wanted or any(a < end and start < b for a, b in wanted))
        ]
        np.testing.assert_allclose(read.states[wanted], hidden[rows].mean(axis=0), atol=1e-4)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_states_do_not_depend_on_the_batch_and_change_no_logit(precision):
    reader = reader_of(tiny.reader(), precision)
    asked = [*tasks(20), Task("date", "heard at ottawa " * 40 + "may 4")]
    wanted = {task: {((0, 4),), ()} for task in asked}
    plain, together = reader.read(asked), reader.read(asked, wanted)
    for at, (one, other) in enumerate(zip(logits(plain), logits(together), strict=True)):
        assert np.array_equal(one, other)
        [alone] = reader.read([asked[at]], {asked[at]: {((0, 4),)}})
        assert np.array_equal(alone.states[((0, 4),)], together[at].states[((0, 4),)])
    assert not plain[0].states
    beyond = ((10_000, 10_004),)
    assert not reader.read([asked[0]], {asked[0]: {beyond}})[0].states


def _texts(task):
    return task.asked, task.passage
