"""What labels teach a reader, and that its training can be stopped and taken up again."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from safepassage.scoring_worker.encoders.reader_model import load_reader, save_reader, trainable
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.training import TuningSettings, tuning
from safepassage.scoring_worker.training.reading import fit as fitting
from safepassage.scoring_worker.training.reading.examples import (
    INPUTS,
    collate,
    tokenised,
)
from safepassage.scoring_worker.training.reading.label_questions import (
    LONGEST,
    questions_of,
)
from safepassage.scoring_worker.training.reading.loss import IGNORED
from safepassage.scoring_worker.training.reading.rehearsal import rehearsed
from safepassage.scoring_worker.training.reading.upper_layers import UpperLayers
from safepassage.scoring_worker.training.starting_point import training_tokenizer
from tests.scoring_worker import tiny

LEASE = "Landlord: Peter Hahn. Tenant: Maria Lopez."
RIGHT = LabelledPair(LEASE, "Tenant", "Maria Lopez", 1, "gold", "d")
WRONG = LabelledPair(LEASE, "Tenant", "Peter Hahn", 0, "gold", "d")


def texts(question, places):
    return [question.passage[start:end] for start, end in places]


def test_values_of_one_type_are_one_question_and_each_a_claim():
    question, right, wrong = questions_of([RIGHT, WRONG])
    assert question.asked == ("Tenant",)
    assert texts(question, question.answers) == ["Maria Lopez"]
    assert texts(question, question.wrong) == ["Peter Hahn"]
    assert (right.asked, right.supported, right.unfounded) == (("Tenant: Maria Lopez",), 1, ())
    ((start, end),) = wrong.unfounded
    assert (wrong.supported, wrong.asked[0][start:end]) == (0, "Peter Hahn")


def test_a_wrong_value_alone_says_nothing_of_the_other_words():
    """One of them may be the answer."""
    question, _ = questions_of([WRONG])
    made = training_tokenizer_of()
    (example,) = tokenised([question], made, 256, 0)
    assert set(example.labels) == {IGNORED, 0.0}
    assert example.labels.count(0.0) == len("peterhahn")
    (example,) = tokenised([questions_of([RIGHT])[0]], made, 256, 0)
    assert example.labels.count(1.0) == len("marialopez")
    assert example.labels.count(0.0) == len("landlord:peterhahn.tenant:.")


def training_tokenizer_of():
    return tiny.tokenizer(tiny.READER_LENGTH)


def test_what_does_not_stand_there_is_taught_as_a_claim():
    absent = LabelledPair(LEASE, "Rent", "850 EUR", 0, "gold", "d")
    (claim,) = questions_of([absent])
    assert (claim.asked, claim.supported) == (("Rent: 850 EUR",), 0)
    sentence = LabelledPair(LEASE, "Claim", "Maria Lopez owns the flat.", 0, "gold", "d")
    (claim,) = questions_of([sentence])
    assert (claim.asked, claim.unfounded) == (("Maria Lopez owns the flat.",), None)


def test_parts_of_a_right_list_are_taught_and_of_a_wrong_one_nothing():
    names = ["Peter Hahn", "Maria Lopez"]
    right = LabelledPair(LEASE, "Parties", names, 1, "gold", "d")
    (question, *claims) = questions_of([right])
    assert texts(question, question.answers) == names
    assert [claim.asked[0] for claim in claims] == ["Parties: Peter Hahn", "Parties: Maria Lopez"]
    assert questions_of([replace(right, label=0)]) == []


def test_of_a_long_passage_what_stands_around_the_value_is_shown():
    pair = replace(RIGHT, premise=f"{'word ' * 400}{LEASE}{' word' * 400}")
    question, claim = questions_of([pair])
    assert texts(question, question.answers) == ["Maria Lopez"]
    assert "Tenant: Maria Lopez." in claim.passage
    assert len(question.passage) <= LONGEST


def test_rehearsal_asks_as_much_as_is_wanted_and_the_same_each_time():
    made = rehearsed(60, 3)
    assert len(made) == 60
    assert made == rehearsed(60, 3) != rehearsed(60, 4)
    assert {question.supported for question in made} == {None, 0, 1}
    assert any("+" in question.source for question in made)
    assert rehearsed(0, 3) == []
    assert len({question.passage for question in rehearsed(3_010, 3)}) > 1_000


def test_few_labels_are_rehearsed_with_a_least_number(tmp_path):
    settings = TuningSettings(epochs=1.5, rehearsal=1.0, rehearsal_least=30)
    labels = [replace(RIGHT, premise=f"{LEASE} {at}") for at in range(4)]
    found = tuning.examples_of(labels, training_tokenizer_of(), settings)
    assert 12 < len(found) <= 12 + 30
    alone = replace(settings, rehearsal=0)
    assert len(tuning.examples_of(labels, training_tokenizer_of(), alone)) == 12


def test_a_reader_reads_the_same_after_a_trip_through_its_folder(tmp_path):
    tiny.reader_scorer(tmp_path)
    ids = torch.arange(5, 45)[None]
    shipped = load_reader(tmp_path)
    with torch.inference_mode():
        before = shipped(input_ids=ids)
        again = trainable(load_reader(tmp_path)).eval()
        assert torch.equal(again(input_ids=ids), before)
        save_reader(again, tmp_path / "again")
        assert torch.equal(load_reader(tmp_path / "again", tmp_path)(input_ids=ids), before)


@pytest.mark.parametrize("layers", [None, 1])
def test_a_stopped_stage_ends_as_if_it_had_not_been_stopped(tmp_path, monkeypatch, layers):
    tiny.reader_scorer(tmp_path / "base")
    settings = TuningSettings(
        epochs=4, batch_size=4, rehearsal=0.1, rehearsal_least=4, layers=layers
    )
    labels = [replace(one, premise=f"{LEASE} {at}") for at in range(4) for one in (RIGHT, WRONG)]
    tokenizer = training_tokenizer(tmp_path / "base")

    def run(folder, stop=lambda: False):
        model = trainable(load_reader(tmp_path / "base"))
        return tuning.tune(model, tokenizer, labels, folder, settings, stop=stop), model

    ended, at_once = run(tmp_path / "once")
    assert ended
    steps = iter([False] * 10 + [True] * 2)
    ended, _ = run(tmp_path / "twice", lambda: next(steps))
    assert not ended
    assert (tmp_path / "twice" / fitting.CHECKPOINT).exists()
    ended, resumed = run(tmp_path / "twice")
    assert ended
    weights = resumed.state_dict()
    for name, weight in at_once.state_dict().items():
        assert torch.equal(weights[name], weight), name
    monkeypatch.setattr(tuning, "fit", None)
    _, loaded = run(tmp_path / "twice")
    assert torch.equal(loaded.claim.weight, resumed.claim.weight)


@pytest.mark.parametrize("made", [tiny.reader_scorer, tiny.large_scorer])
def test_the_last_layers_learn_over_what_the_others_make_of_an_example(tmp_path, made):
    """As if the layers below were computed at every step, but for half precision."""
    folder = made(tmp_path / "base")
    model = trainable(load_reader(folder))
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    examples = tokenised(questions_of([RIGHT, WRONG]), training_tokenizer(folder), 256, 0)
    read = {k: v for k, v in collate(examples, 0).items() if k in INPUTS}
    UpperLayers.freeze(model, 1)
    upper = UpperLayers(model, 1)
    model.eval()
    whole = model(**read)
    words = read["attention_mask"] == 1
    assert torch.allclose(upper.logits(examples, read)[words], whole[words], atol=1e-5)
    upper.keep(examples, 0)
    assert torch.allclose(upper.logits(examples, read)[words], whole[words], atol=5e-3)
    upper.logits(examples, read).sum().backward()
    learnt = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert learnt
    assert all(
        ".layer.1." in name or name.startswith(("tokens", "claim", "founded")) for name in learnt
    )
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())


def test_a_stage_without_anything_to_learn_is_refused(tmp_path):
    nothing = LabelledPair(LEASE, "Parties", ["Ann", "Bob"], 0, "gold", "d")
    with pytest.raises(ValueError, match="teaches the reader"):
        tuning.examples_of([nothing], training_tokenizer_of(), TuningSettings(rehearsal_least=2))
