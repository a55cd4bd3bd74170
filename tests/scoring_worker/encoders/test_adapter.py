"""Adapters: a frozen base, low-rank updates to it, and how both come together again."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from safepassage.scoring_worker import ModelError, load_scorer
from safepassage.scoring_worker.encoders.adapter import ADAPTER_FILE, LowRank, adapt, load_adapted
from safepassage.scoring_worker.encoders.pinned import WEIGHTS_FILE, pinned_weights
from safepassage.scoring_worker.manifest import MANIFEST_NAME, ScorerManifest, file_digest
from safepassage.scoring_worker.scorers import folders
from tests.scoring_worker import tiny


@pytest.fixture
def base(tmp_path):
    return tmp_path / "base"


@pytest.fixture
def made(tmp_path, base):
    (tmp_path / "large").mkdir()
    return tiny.adapted_scorer(tmp_path / "large", base)


@pytest.fixture
def folder(made, base, monkeypatch):
    monkeypatch.setenv("SAFEPASSAGE_LARGE_BASE", str(base))
    return made[0]


def inputs(length=9):
    ids = torch.arange(5, 5 + length).unsqueeze(0)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def test_an_untrained_update_changes_nothing():
    linear = torch.nn.Linear(6, 3)
    rows = torch.randn(4, 6)
    assert torch.equal(LowRank(linear, 2)(rows), linear(rows))


def test_only_updates_and_heads_are_trained():
    model = tiny.reader()
    adapt(model, 2)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert {name.rpartition(".")[2] for name in trained if name.startswith("encoder")} == {
        "up",
        "down",
    }
    assert {name for name in trained if not name.startswith("encoder")} == {
        f"{head}.{own}" for head in ("tokens", "claim", "founded") for own in ("weight", "bias")
    }
    before = model.encoder.encoder.layer[0].output.dense.linear.weight.clone()
    optimizer = torch.optim.SGD([w for w in model.parameters() if w.requires_grad], lr=0.1)
    torch.autograd.backward(model(**inputs()).square().sum())
    optimizer.step()
    layer = model.encoder.encoder.layer[0].output.dense
    assert torch.equal(layer.linear.weight, before)
    assert layer.up.abs().sum() > 0


def test_what_is_loaded_reads_as_what_was_saved(made, base):
    """Added to the weights once, the updates say what they said beside them (in float16)."""
    folder, model = made
    loaded = load_adapted(folder, base / WEIGHTS_FILE)
    assert not any(isinstance(part, LowRank) for part in loaded.modules())
    with torch.inference_mode():
        assert torch.allclose(loaded(**inputs()), model(**inputs()), atol=0.05)
        unadapted = tiny.adapted_scorer(folder, base, seed=1)[1]
        assert not torch.allclose(loaded(**inputs()), unadapted(**inputs()), atol=0.5)


def test_a_scorer_over_a_base_that_lies_apart(folder):
    scorer = load_scorer(folder, device="cpu")
    english, greek = scorer.assess([tiny.pair(), tiny.pair("η απόφαση ήταν σωστή", "σωστή")])
    assert english.failure is None
    assert 0 < english.score < 1
    assert greek.failure == "language_not_covered"
    in_company = scorer.assess([tiny.pair("a much longer passage, of may 4", "may"), tiny.pair()])
    assert in_company[1].score == pytest.approx(english.score, abs=1e-3)


def test_another_base_is_refused(folder, base):
    """The weights are believed by their digest, wherever they came from."""
    path = base / WEIGHTS_FILE
    tensors = load_file(path)
    save_file({n: t + 1e-3 for n, t in tensors.items()}, path)
    with pytest.raises(ModelError, match="not the base that the adapter was trained on"):
        load_scorer(folder)


@pytest.mark.parametrize("change", ["a layer more", "a layer less", "other rank", "no safetensors"])
def test_a_damaged_adapter_is_refused(folder, change):
    path = folder / ADAPTER_FILE
    tensors = load_file(path)
    name = next(name for name in tensors if name.endswith(".up"))
    if change == "a layer more":
        tensors["encoder.nowhere.up"] = tensors[name].clone()
    elif change == "a layer less":
        del tensors[name]
    else:
        tensors[name] = tensors[name][:, 1:].contiguous()
    save_file(tensors, path)
    if change == "no safetensors":
        path.write_bytes(b"PK pickled")
    ScorerManifest.model_validate_json((folder / MANIFEST_NAME).read_bytes()).save(folder)
    with pytest.raises(ModelError, match="adapter"):
        load_scorer(folder)


def test_weights_that_lack_a_layer_are_refused(made, base):
    """Nothing is left at random."""
    path = base / WEIGHTS_FILE
    tensors = load_file(path)
    save_file({n: t for n, t in tensors.items() if "layer.1" not in n}, path)
    with pytest.raises(ModelError, match="its base lacks"):
        load_adapted(made[0], path)


def test_without_the_hub_it_says_what_to_set(made, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="SAFEPASSAGE_LARGE_BASE"):
        load_scorer(made[0])


def test_the_file_itself_may_be_named(base, made, monkeypatch):
    path = base / WEIGHTS_FILE
    monkeypatch.setenv("SAFEPASSAGE_LARGE_BASE", str(path))
    assert pinned_weights(tiny.BASE, file_digest(path)) == path
    monkeypatch.setenv("SAFEPASSAGE_LARGE_BASE", str(base / "nowhere"))
    with pytest.raises(ModelError, match="there is no file"):
        pinned_weights(tiny.BASE, file_digest(path))


@pytest.mark.parametrize("name", ["large", "cascade-large"])
def test_without_an_adapter_it_says_how_to_make_one(name, monkeypatch, tmp_path):
    monkeypatch.setattr(folders, "LARGE_MODEL", tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"training\.large_scorer"):
        load_scorer(name)


def test_the_cascade_asks_large_where_default_is_unsure(folder, tmp_path, monkeypatch):
    """Both by name, from the folders where they ship."""
    monkeypatch.setattr(folders, "DEFAULT_MODEL", tiny.reader_scorer(tmp_path / "default"))
    monkeypatch.setattr(folders, "LARGE_MODEL", folder)
    assert load_scorer("large", device="cpu").name == "adapted"
    cascade = load_scorer("cascade-large", device="cpu")
    unsure, sure = cascade.assess([tiny.pair(), tiny.pair(value="1999")])
    assert unsure.scorer == "cascade-large"
    assert [step.scorer for step in unsure.trail] == ["tiny", "adapted"]
    assert [step.scorer for step in sure.trail] == ["tiny"], "another year is no question"


@pytest.mark.parametrize("pinned", ["owner/name", "owner/name@main", "../name@" + "0" * 40, "name"])
def test_a_base_without_a_commit_is_refused(pinned):
    with pytest.raises(ModelError, match="owner/name@commit"):
        pinned_weights(pinned, "0" * 64)
    with pytest.raises(ModelError, match="with its digest"):
        pinned_weights(tiny.BASE, None)
