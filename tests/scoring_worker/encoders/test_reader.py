"""The reader at work over either encoder: the same reading in every batch and precision."""

from __future__ import annotations

import random

import numpy as np
import pytest
from transformers import RobertaConfig, RobertaModel

from safepassage.scoring_worker.encoders.devices import place
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


def reader_of(model, precision="fp32"):
    made = tiny.tokenizer(tiny.READER_LENGTH).backend_tokenizer
    placement = place("cpu", precision)
    length = tiny.READER_LENGTH
    return Reader(model.to(placement.dtype), made, max_length=length, placement=placement)


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
