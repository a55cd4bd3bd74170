"""`train --base ENCODER`: a tiny encoder learns, stops early, and is a scorer like any other."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from typer.testing import CliRunner

from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.training import cross_encoder as room
from safepassage.scoring_worker.training.cross_encoder import (
    EncoderRecipe,
    train_cross_encoder,
)
from safepassage.scoring_worker.training.fine_tuning import FineTuning, training_device
from safepassage.scoring_worker.training.recipe import TrainingLabels
from safepassage.scoring_worker.training.starting_point import encoder_base
from safepassage.streams.cli import app
from tests.scoring_worker import tiny

QUICK = FineTuning(batch=8, epochs=8, base_rate=3e-3, head_rate=3e-3, max_length=64, truncate=True)


def pairs(count: int, *, turned: bool = False) -> list[LabelledPair]:
    """Supported where the span says "yes", or with ``turned`` where it says "no"."""
    made = []
    for at in range(count):
        yes = at % 2 == 0
        span = f"it says {'yes yes' if yes else 'no no'}."
        label = int(yes != turned)
        made.append(LabelledPair(span, "Fact", "so", label, "made", group=f"doc-{at}"))
    return made


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("encoder"))


def score(scorer, span):
    [assessment] = scorer.assess([tiny.pair(span, "so", "Fact")])
    return assessment.score


def test_it_learns_the_span_against_type_and_value_and_is_a_scorer(encoder, tmp_path):
    recipe = EncoderRecipe(name="mine", gold=QUICK)
    made = train_cross_encoder(
        (encoder, "tiny"), TrainingLabels(gold=pairs(200), sources=("made",)), tmp_path, recipe
    )
    assert made.metrics["validation"]["f1"] > 0.9
    assert made.metrics["thresholds"]["all"]["n"] == 40
    assert (made.kind, made.trained_on) == ("encoder", ("tiny", "made"))
    assert made.learnt_from is not None
    assert made.learnt_from.knows("doc-0")
    scorer = load_scorer(tmp_path, device="cpu")
    assert scorer.revision == ScorerManifest.load(tmp_path).revision
    assert score(scorer, "it says yes yes.") > made.thresholds.default
    assert score(scorer, "it says no no.") < made.thresholds.default
    assert "cross-encoder" in (tmp_path / "MODEL_CARD.md").read_text("utf-8")
    assert encoder_base(tmp_path) == tmp_path


def test_an_nli_base_keeps_its_head(encoder, tmp_path, monkeypatch):
    """Its three labels were thrown away for a logit drawn at random."""
    monkeypatch.setattr(room, "fine_tune", lambda model, *_, **kept: kept["after_epoch"]())
    before = load_scorer(encoder, device="cpu")
    labels = TrainingLabels(gold=pairs(60))
    made = train_cross_encoder((encoder, "tiny"), labels, tmp_path, EncoderRecipe(gold=QUICK))
    assert made.labels == 1
    assert score(load_scorer(tmp_path, device="cpu"), "it says") == score(before, "it says")


def test_gold_comes_after_silver_and_has_the_last_word(encoder, tmp_path):
    """Silver labels say the opposite: what is kept is what people said."""
    labels = TrainingLabels(gold=pairs(120), silver=pairs(120, turned=True))
    recipe = EncoderRecipe(silver=QUICK, gold=QUICK)
    made = train_cross_encoder((encoder, "tiny"), labels, tmp_path / "both", recipe)
    assert list(made.metrics["validation_f1_by_epoch"]) == ["silver", "gold"]
    both = load_scorer(tmp_path / "both", device="cpu")
    assert score(both, "it says yes yes.") > score(both, "it says no no.")
    silver = TrainingLabels(silver=labels.silver)
    train_cross_encoder((encoder, "tiny"), silver, tmp_path / "silver", recipe)
    alone = load_scorer(tmp_path / "silver", device="cpu")
    assert score(alone, "it says yes yes.") < score(alone, "it says no no.")


def test_it_ends_when_no_better_epoch_follows_and_keeps_the_best(encoder, tmp_path, monkeypatch):
    """F1 on the held-out labels is best after the second epoch, and two worse ones follow."""
    states = []

    def support(model, _tokenizer, examples, _settings):
        states.append({n: t.clone() for n, t in model.state_dict().items()})
        wrong = {1: 2, 2: 0, 3: 3, 4: 4}[len(states)]
        said = [float(one.label) for one in examples]
        return [1 - s if at < wrong else s for at, s in enumerate(said)]

    monkeypatch.setattr(room, "support", support)
    recipe = EncoderRecipe(gold=QUICK, patience=2)
    made = train_cross_encoder((encoder, "tiny"), TrainingLabels(gold=pairs(60)), tmp_path, recipe)
    [curve] = made.metrics["validation_f1_by_epoch"].values()
    assert len(curve) == 4
    assert curve.index(max(curve)) == 1
    from safetensors.torch import load_file

    saved = load_file(tmp_path / "model.safetensors")
    assert all(saved[name].equal(states[1][name]) for name in saved)
    assert any(not saved[name].equal(states[3][name]) for name in saved)


def test_an_epoch_that_calls_everything_supported_is_judged_by_how_it_ranks(
    encoder, tmp_path, monkeypatch
):
    """A new head does so for its first epochs. F1 at .5 is 0 in all of them, and the first one,
    which had learnt least, was kept and ended the stage."""
    states = []

    def support(model, _tokenizer, examples, _settings):
        states.append({n: t.clone() for n, t in model.state_dict().items()})
        wrong = len(examples) - 2 * len(states)  # every epoch ranks two more of them right
        order = [one.label if at >= wrong else not one.label for at, one in enumerate(examples)]
        return [0.9 if first else 0.6 for first in order]

    monkeypatch.setattr(room, "support", support)
    four = replace(QUICK, epochs=4)
    labels = TrainingLabels(gold=pairs(60))
    made = train_cross_encoder((encoder, "tiny"), labels, tmp_path, EncoderRecipe(gold=four))
    [curve] = made.metrics["validation_f1_by_epoch"].values()
    assert len(curve) == 4
    from safetensors.torch import load_file

    saved = load_file(tmp_path / "model.safetensors")
    assert all(saved[name].equal(states[3][name]) for name in saved)


def test_few_labels_are_read_several_times_an_epoch_and_a_new_head_learns_faster(
    tmp_path, monkeypatch
):
    """Eighty labels were five steps an epoch, at a rate that moved no head."""
    assert FineTuning(batch=16, epoch_steps=20).passes(80) == 4
    assert FineTuning(batch=16, epoch_steps=20).passes(4_000) == 1
    assert EncoderRecipe().gold.passes(80) == 4
    rates = []
    teach = room.fine_tune

    def fine_tune(model, tokenizer, examples, settings, *rest, **kept):
        rates.append(settings.head_rate)
        return teach(model, tokenizer, examples, replace(settings, epochs=1), *rest, **kept)

    monkeypatch.setattr(room, "fine_tune", fine_tune)
    labels = TrainingLabels(gold=pairs(40), silver=pairs(40))
    encoder = tiny.bert(tmp_path / "no head for this", labels={0: "positive", 1: "negative"})
    train_cross_encoder((encoder, "tiny"), labels, tmp_path / "trained")
    assert rates == [room.NEW_HEAD_RATE, EncoderRecipe().gold.head_rate]


def test_with_layers_the_lower_ones_and_the_words_stay_as_they_are(encoder, tmp_path):
    from safetensors.torch import load_file

    upper = replace(QUICK, epochs=1, layers=1)
    labels = TrainingLabels(gold=pairs(60))
    train_cross_encoder((encoder, "tiny"), labels, tmp_path, EncoderRecipe(gold=upper))
    before, after = (load_file(folder / "model.safetensors") for folder in (encoder, tmp_path))
    changed = {name for name in before if name in after and not before[name].equal(after[name])}
    last = max(int(name.split("layer.")[1].split(".")[0]) for name in after if "layer." in name)
    assert changed
    assert all(f"layer.{last}." in name or "pooler" in name for name in changed if "bert" in name)


def test_what_it_wrote_goes_on_from_its_head(encoder, tmp_path):
    labels = TrainingLabels(gold=pairs(80))
    train_cross_encoder((encoder, "tiny"), labels, tmp_path / "one", EncoderRecipe(gold=QUICK))
    still = FineTuning(epochs=1, base_rate=0.0, head_rate=0.0, max_length=64, truncate=True)
    first = encoder_base(tmp_path / "one")
    train_cross_encoder((first, "one"), labels, tmp_path / "two", EncoderRecipe(gold=still))
    spans = ["it says yes yes.", "it says no no."]
    one, two = (load_scorer(tmp_path / name, device="cpu") for name in ("one", "two"))
    assert [score(two, s) for s in spans] == pytest.approx([score(one, s) for s in spans], abs=1e-5)


def test_it_trains_on_a_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert training_device().type == "cuda"


def test_a_scorer_with_a_reader_is_no_encoder_to_fine_tune(tmp_path):
    assert encoder_base("default") is None
    assert encoder_base(tiny.reader_scorer(tmp_path)) is None


def test_the_command_trains_an_encoder(encoder, tmp_path):
    rows = [
        {"premise": f"{at}: {p.premise}", "hypothesis": "Fact: so", "label": p.label}
        for at, p in enumerate(pairs(60))
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    out = tmp_path / "out"
    told = ["train", str(out), "--gold", str(gold), "--base", str(encoder), "--gold-epochs", "1"]
    refused = CliRunner().invoke(app, [*told, "--head-only"])
    assert refused.exit_code != 0
    done = CliRunner().invoke(app, told)
    assert done.exit_code == 0, done.output
    assert ScorerManifest.load(out).kind == "encoder"
