"""Training, end to end on models made on the spot."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from scoring_worker.corruption import LabelledPair
from scoring_worker.evaluation.metrics import at_threshold, recall_by_kind
from scoring_worker.evaluation.splits import split_by_group
from scoring_worker.loading import load_scorer
from scoring_worker.manifest import ModelError, ScorerManifest
from scoring_worker.scorers.default import Stack
from scoring_worker.thresholds import Target
from scoring_worker.training import (
    EncoderSettings,
    Recipe,
    TrainingLabels,
    corpora,
    train,
    train_encoder,
)
from scoring_worker.training.encoder import best_f1, entailment_log_odds
from scoring_worker.training.stack import (
    ADVERSE,
    SUPPORTIVE,
    StackSettings,
    fit_stack,
    stack_scores,
)
from tests.scoring_worker import tiny

SETTINGS = EncoderSettings(
    epochs=1, batch_size=8, rank=4, max_length=48, evaluations=2, learning_rate=1e-3
)
RECIPE = Recipe(name="learnt", silver=SETTINGS, gold_epochs=1.0, max_length=48)


def pairs(count: int, seed: int = 0, kind: str = "gold") -> list[LabelledPair]:
    """Dates, half of them altered; ten documents."""
    rng = random.Random(seed)
    made = []
    for at in range(count):
        year = rng.randint(1990, 2020)
        label = 1 if rng.random() < 0.5 else 0
        value = year if label else year + 1
        made.append(
            LabelledPair(f"signed in {year}", "Date", {"yyyy": value}, label, kind, f"d{at % 10}")
        )
    return made


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Tiny models lose more to waiting threads than they gain."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("base") / "bert")


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory) -> Path:
    """A scorer after silver and gold."""
    folder = tmp_path_factory.mktemp("trained") / "scorer"
    labels = TrainingLabels(gold=pairs(60), silver=pairs(80, 1, "silver"), sources=("ours (MIT)",))
    train(base, labels, folder, RECIPE)
    return folder


def test_a_trained_folder_loads_and_scores(trained):
    scorer = load_scorer(trained, device="cpu")
    shown = LabelledPair("signed in 1999", "Date", {"yyyy": 1999}, 1, "gold")
    good, bad = scorer.assess([shown.pair, replace(shown, value={"yyyy": 1901}).pair])
    assert good.score > bad.score
    assert [finding.code for finding in bad.findings] == ["date_differs"]


def test_the_manifest_and_card_say_what_it_rests_on(trained):
    manifest = ScorerManifest.load(trained)
    card = (trained / "MODEL_CARD.md").read_text("utf-8")
    assert manifest.trained_on == ("ours (MIT)",)
    assert manifest.metrics["validation"]["n"] > 0
    for said in ("# learnt", "ours (MIT)", "## Thresholds", "f1", "| gold | 60 |"):
        assert said in card


def test_only_the_adapter_is_kept_and_no_path_inside_it(trained, base):
    names = {path.name for path in trained.rglob("*") if path.is_file()}
    assert names == {
        "scorer.json",
        "MODEL_CARD.md",
        "adapter_config.json",
        "adapter_model.safetensors",
    }


def test_a_scorer_goes_on_learning_and_the_head_alone_can_be_refitted(trained, tmp_path):
    labels = TrainingLabels(gold=pairs(40, 5), sources=("reviews",))
    manifest = train(trained, labels, tmp_path / "head", replace(RECIPE, head_only=True))
    assert manifest.trained_on == ("ours (MIT)", "reviews")
    before, after = ScorerManifest.load(trained), ScorerManifest.load(tmp_path / "head")
    weights = "adapter/adapter_model.safetensors"
    assert before.files[weights] == after.files[weights]
    further = train(trained, labels, tmp_path / "further", RECIPE)
    assert further.files[weights] != before.files[weights]


def test_an_interrupted_run_is_resumed(base, tmp_path, monkeypatch):
    from transformers import Trainer

    steps = []
    step = Trainer.training_step

    def failing(self, *args, **kwargs):
        steps.append(self.state.global_step)
        if len(steps) == 7:
            raise KeyboardInterrupt
        return step(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, "training_step", failing)
    labels = TrainingLabels(gold=pairs(80))
    with pytest.raises(KeyboardInterrupt):
        train(base, labels, tmp_path / "s", RECIPE)
    with pytest.raises(ModelError, match="resume"):
        train(base, labels, tmp_path / "s", RECIPE)
    train(base, labels, tmp_path / "s", RECIPE, resume=True)
    assert steps[7] > 0
    with pytest.raises(ModelError, match="already holds"):
        train(base, labels, tmp_path / "s", RECIPE, resume=True)


def test_all_weights_can_be_trained_from_a_base_without_a_head(tmp_path):
    base = tiny.bert(tmp_path / "bert", labels={0: "LABEL_0"})
    settings = replace(SETTINGS, rank=0)
    found = train_encoder(base, pairs(32), pairs(8, 2), tmp_path / "out", settings)
    assert found.adapter is None
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert 0 <= found.validation_f1 <= 1


def test_training_without_labels_is_refused(base, tmp_path):
    with pytest.raises(ValueError, match="no labels"):
        train(base, TrainingLabels(), tmp_path / "none", RECIPE)
    with pytest.raises(ValueError, match="pairs to train on"):
        train_encoder(base, [], pairs(4), tmp_path / "empty", SETTINGS)


def test_log_odds_of_a_three_way_head_are_those_of_its_softmax():
    logits = torch.tensor([[0.3, 1.2, -0.4], [2.0, -1.0, 0.0]])
    p = torch.softmax(logits, dim=1)[:, 1]
    assert torch.allclose(entailment_log_odds(logits, 1), torch.log(p / (1 - p)), atol=1e-5)


def test_best_f1_is_of_the_unsupported():
    unsupported = np.array([True, True, False, False])
    assert best_f1(unsupported, np.array([0.1, 0.2, 0.8, 0.9])) == pytest.approx(1.0)
    assert best_f1(unsupported, np.array([0.9, 0.8, 0.2, 0.1])) == pytest.approx(2 / 3)


def test_documents_never_stand_on_both_sides_of_a_split():
    made = pairs(100)
    train_side, held = split_by_group(made, 0.2)
    assert {p.group for p in train_side} & {p.group for p in held} == set()
    assert len(train_side) + len(held) == 100
    assert split_by_group(made, 0.2) == (train_side, held)
    one_document = [replace(pair, group="d") for pair in made]
    assert all(split_by_group(one_document, 0.2))


def test_the_stack_learns_which_finding_counts_and_keeps_what_it_knew():
    made = pairs(120)
    stack = fit_stack(made, np.full(120, 0.5))
    scores = stack_scores(stack, made, np.full(120, 0.5))
    assert at_threshold(scores, made, 0.5)["f1"] == 1.0
    assert recall_by_kind(scores, made, 0.5) == {"gold": 1.0}
    contrary = [replace(pair, label=1 - pair.label) for pair in pairs(24, 3)]
    refitted = fit_stack(
        contrary, np.full(24, 0.5), StackSettings(refit_strength=1e-6), start=stack
    )
    assert refitted.shapes["name"] == stack.shapes["name"]
    supported = [pair for pair in made if pair.label]
    with pytest.raises(ValueError, match="supported and unsupported"):
        fit_stack(supported, np.full(len(supported), 0.5))


def test_no_finding_ever_raises_a_score_whatever_the_labels_say():
    """Pairs in which a finding goes with support must not teach that it is praise."""
    contrary = [replace(pair, label=1 - pair.label) for pair in pairs(120)]
    stack = fit_stack(contrary, np.full(120, 0.5))
    for weights in stack.shapes.values():
        assert all(weights.weights.get(name, 0.0) <= 0.0 for name in ADVERSE)
        assert all(weights.weights.get(name, 0.0) >= 0.0 for name in SUPPORTIVE)


def test_a_finding_that_training_never_saw_still_counts():
    stack = fit_stack(pairs(120), np.full(120, 0.5))
    assert stack.shapes["name"].weights["denied"] < -1.0


def test_thresholds_reach_a_stated_target(base, tmp_path):
    recipe = replace(RECIPE, target=Target(measure="recall", value=0.9))
    manifest = train(base, TrainingLabels(gold=pairs(60)), tmp_path / "s", recipe)
    assert manifest.metrics["thresholds"]["all"]["recall"] >= 0.9
    assert isinstance(Stack.of(manifest), Stack)


def test_corpora_are_read_gzipped_and_bad_lines_are_named(tmp_path):
    path = tmp_path / "pairs.jsonl.gz"
    row = {"premise": "a dog runs", "hypothesis": "A cat sleeps.", "label": "contradiction"}
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    (claim,) = corpora.nli_pairs(corpora.read_rows(path))
    assert (claim.entity_type, claim.label) == ("Claim", 0)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\nnot json\n")
    with pytest.raises(corpora.CorpusError, match=r"bad\.jsonl:2"):
        list(corpora.read_rows(bad))


def test_known_fields_of_documents_become_pairs():
    text = "Present: Justice Ann Lee\nThe appeal is dismissed."
    row = {"id": "d", "text": text, "entities": [{"type": "JUDGE", "start": 17, "end": 24}]}
    (document,) = corpora.known_documents([row])
    (known,) = document.fields
    assert (known.entity_types, known.kind, known.value) == (("Judge",), "person", "Ann Lee")
    assert text[known.context_start : known.context_end] == "Present: Justice Ann Lee"
