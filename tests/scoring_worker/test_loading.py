"""Loading: names, folders, verification; no code of a model is run, clear errors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from safepassage.scoring_worker import ModelError, Scorer, load_scorer
from safepassage.scoring_worker.encoders.devices import place, usable_cores
from safepassage.scoring_worker.encoders.weight_folders import base_digest
from safepassage.scoring_worker.manifest import (
    PlattCalibration,
    ScorerManifest,
    Thresholds,
    TypeThreshold,
)
from safepassage.scoring_worker.scorers import by_language, folders, installed_models
from safepassage.scoring_worker.scorers.cross_encoders import EncoderScorer
from safepassage.scoring_worker.scorers.default import DefaultScorer

from . import tiny


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return tiny.bert(tmp_path_factory.mktemp("original") / "tiny-nli")


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "tiny-nli")


@pytest.fixture
def based(folder, tmp_path):
    """A model directory that calibrates the weights of the base beside it."""
    out = tmp_path / "scorer"
    out.mkdir()
    (out / "MODEL_CARD.md").write_text("# based\n")
    ScorerManifest(
        name="based",
        kind="encoder",
        base="../tiny-nli",
        base_digest=base_digest(folder),
        labels=1,
        max_length=64,
        calibration=PlattCalibration(a=1.0, b=0.5),
        thresholds=Thresholds(default=0.3, by_type={"Date": TypeThreshold(value=0.9, n=50)}),
    ).save(out)
    return out


def encode(folder, pair):
    """A pair as transformers tokenises it."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_plain_folder_is_a_scorer(folder):
    """A folder as transformers writes it: threshold .5, entailment by name, its own trail."""
    scorer = load_scorer(folder)
    assert isinstance(scorer, Scorer)
    assert scorer.name == "tiny-nli"
    (assessment,) = scorer.assess([tiny.pair()])
    assert assessment.threshold == 0.5
    assert 0 < assessment.score < 1
    assert assessment.trail[0].score == assessment.score
    assert assessment.trail[0].revision == scorer.revision == assessment.revision


def test_the_entailment_logit_is_found_by_its_name(original, folder):
    """Whatever its position; and not-entailment is not entailment."""
    first = load_scorer(original).assess([tiny.pair()])[0].score
    labels = {"0": "Contradiction", "1": "neutral", "2": "ENTAILMENT"}
    edit(folder / "config.json", id2label=labels, label2id={v: int(k) for k, v in labels.items()})
    assert load_scorer(folder).encoder._entailment == 2
    assert load_scorer(folder).assess([tiny.pair()])[0].score != first
    labels = {"0": "LABEL_0", "1": "not_entailment", "2": "LABEL_2"}
    edit(folder / "config.json", id2label=labels, label2id={v: int(k) for k, v in labels.items()})
    with pytest.raises(ModelError, match="cannot tell which of the labels"):
        load_scorer(folder)


def test_a_single_logit_is_a_sigmoid(tmp_path):
    """Cross-encoders with one logit score by its sigmoid."""
    folder = tiny.bert(tmp_path / "one", labels={0: "LABEL_0"})
    (assessment,) = load_scorer(f"one-logit={folder}").assess([tiny.pair()])
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    encoded = encode(folder, tiny.pair())
    with torch.inference_mode():
        expected = torch.sigmoid(model(**encoded).logits)[0, 0].item()
    assert assessment.score == pytest.approx(expected, abs=1e-5)


def test_a_manifest_calibrates_the_weights_of_its_base(based):
    """Probabilities are those of transformers, then calibrated; thresholds are per type."""
    scorer = load_scorer(based)
    assert (scorer.name, type(scorer)) == ("based", EncoderScorer)
    pairs = [tiny.pair(), tiny.pair("ottawa, may", "ottawa", "Place")]
    assessments = scorer.assess(pairs)
    assert [assessment.threshold for assessment in assessments] == [0.9, 0.3]
    base = based.parent / "tiny-nli"
    model = AutoModelForSequenceClassification.from_pretrained(base).eval()
    for pair, assessment in zip(pairs, assessments, strict=True):
        with torch.inference_mode():
            raw = model(**encode(base, pair)).logits.softmax(-1)[0, 1].item()
        odds = np.log(raw / (1 - raw)) + 0.5
        assert assessment.score == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-4)


def damage_missing(out):
    (out / "MODEL_CARD.md").unlink()


def damage_altered(out):
    path = out / "MODEL_CARD.md"
    path.write_text(path.read_text() + " ")


def damage_unlisted(out):
    (out / "extra.py").write_text("print('never run')")


def damage_manifest(out):
    (out / "scorer.json").write_text('{"name": "x"}')


def damage_base(out):
    edit(out.parent / "tiny-nli" / "config.json", hidden_dropout_prob=0.2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_missing, "is missing"),
        (damage_altered, "was changed"),
        (damage_unlisted, "not in scorer.json"),
        (damage_manifest, "no scorer manifest: kind"),
        (damage_base, "not those it was trained on"),
    ],
)
def test_a_model_that_is_not_what_it_says_does_not_load(based, damage, message):
    """Every file is verified, the base too: fail closed."""
    damage(based)
    with pytest.raises(ModelError, match=message):
        load_scorer(based)


class Explosive:
    def __reduce__(self):
        return (print, ("a pickle was run",))


def test_a_pickle_of_code_is_never_run(folder, capsys):
    """Pickled weights are read as weights only: a call in one is refused."""
    (folder / "model.safetensors").unlink()
    torch.save({"classifier.bias": Explosive()}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot load its model"):
        load_scorer(folder)
    assert "a pickle was run" not in capsys.readouterr().out


def test_a_folder_without_weights_is_refused(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="holds no weights"):
        load_scorer(folder)


def test_code_of_a_model_is_never_run(folder, capsys):
    """``auto_map`` asks for remote code; it stays where it is."""
    (folder / "evil.py").write_text("print('code was run')")
    edit(
        folder / "config.json",
        model_type="evil",
        auto_map={"AutoConfig": "evil.C", "AutoModelForSequenceClassification": "evil.M"},
    )
    with pytest.raises(ModelError, match="tiny-nli"):
        load_scorer(folder)
    assert "code was run" not in capsys.readouterr().out


def test_weights_that_are_missing_or_broken_are_said(folder):
    """No silently random layer, and no trace of a library's."""
    path = folder / "model.safetensors"
    whole = load_file(path)
    kept = {name: weight for name, weight in whole.items() if "layer.1" not in name}
    save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(ModelError, match="its weights lack"):
        load_scorer(folder)
    path.write_bytes(b"not safetensors at all")
    with pytest.raises(ModelError, match="cannot load its model"):
        load_scorer(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-scorer", "none of default, small, large, words, "),
        ("./no/such/folder", "no scorer"),
        ("/nowhere", "no scorer"),
        ("", "no scorer"),
    ],
)
def test_unknown_names_are_explained(name, message):
    """The error lists what there is."""
    with pytest.raises(ModelError, match=message):
        load_scorer(name)


@pytest.mark.parametrize("name", ["cascade", "llm+hallugraph"])
def test_what_has_no_folder_is_not_called_unknown(name):
    """A copy of it is asked for, to calibrate or train; its name alone is right."""
    with pytest.raises(ModelError, match="has no folder"):
        folders.open_manifest(name)


def test_a_file_is_not_a_model(folder):
    """The folder is wanted, not the weights in it."""
    with pytest.raises(ModelError, match="give the folder"):
        load_scorer(folder / "model.safetensors")


def test_without_the_hub_a_hub_id_says_what_to_do(monkeypatch):
    """Offline is an error in one line."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="give the path of a folder"):
        load_scorer("nobody/has-this-model")


def test_the_revision_changes_with_weights_and_thresholds(tmp_path):
    """The same folder has the same revision; another threshold or weight has another."""
    folder = tiny.reader_scorer(tmp_path)
    first = load_scorer(folder).revision
    assert load_scorer(folder).revision == first
    manifest = ScorerManifest.load(folder)
    manifest.model_copy(update={"thresholds": Thresholds(default=0.31)}).save(folder)
    second = load_scorer(folder).revision
    path = folder / "reader.safetensors"
    weights = {name: weight + 0.01 for name, weight in load_file(path).items()}
    save_file(weights, path, metadata={"format": "pt"})
    manifest.save(folder)
    assert len({first, second, load_scorer(folder).revision}) == 3


def test_a_reader_over_the_shipped_words_needs_these_very_words(tmp_path, monkeypatch):
    """Trained from the default, it brings its own layers and nothing else."""
    default, other = tiny.reader_scorer(tmp_path / "default"), tmp_path / "other"
    monkeypatch.setattr(folders, "DEFAULT_MODEL", default)
    other.mkdir()
    shutil.copy(default / "reader.safetensors", other)
    manifest = ScorerManifest.load(default)
    manifest.model_copy(update={"name": "other", "base": "default"}).save(other)
    scores = [load_scorer(name).assess([tiny.pair()])[0].score for name in (default, other)]
    assert scores[0] == scores[1]
    edit(default / "config.json", hidden_dropout_prob=0.2)
    with pytest.raises(ModelError, match="not those it was trained on"):
        load_scorer(other)


def test_a_reader_rests_on_its_own_folder_or_on_the_shipped_words(tmp_path):
    folder = tiny.reader_scorer(tmp_path)
    manifest = ScorerManifest.load(folder)
    manifest.model_copy(update={"base": "somebody/else"}).save(folder)
    with pytest.raises(ModelError, match="cannot rest on 'somebody/else'"):
        load_scorer(folder)


@pytest.mark.parametrize("precision", ["auto", "fp32", "bf16"])
def test_a_large_reader_is_a_scorer_in_every_precision(tmp_path, precision):
    """As it ships: 8-bit layers, 4-bit words, languages that it does not cover left alone."""
    scorer = load_scorer(tiny.large_scorer(tmp_path), device="cpu", precision=precision)
    english, greek = scorer.assess([tiny.pair(), tiny.pair("η απόφαση ήταν σωστή", "σωστή")])
    assert english.failure is None
    assert 0 < english.score < 1
    assert greek.failure == "language_not_covered"
    in_company = scorer.assess([tiny.pair("a much longer passage, of may 4", "may"), tiny.pair()])
    assert in_company[1].score == english.score or precision == "bf16"


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A tiny small reader, and a tiny large one in a distribution of its own."""
    monkeypatch.setattr(folders, "DEFAULT_MODEL", tiny.reader_scorer(tmp_path / "default"))
    large = tiny.large_scorer(tmp_path / "large")
    monkeypatch.setattr(folders, "installed_model", lambda _name: large)
    monkeypatch.setattr(by_language, "is_installed", lambda name: name == "large")


@pytest.mark.parametrize("name", ["large", "cascade-large"])
def test_without_its_weights_large_says_how_to_get_them(name, monkeypatch):
    monkeypatch.setattr(installed_models, "entry_points", lambda **_: ())
    with pytest.raises(ModelError, match=r"safepassage\[large\]"):
        load_scorer(name)


def test_without_the_large_reader_default_is_the_small_one(weights, monkeypatch):
    monkeypatch.setattr(by_language, "is_installed", lambda _: False)
    default, small = load_scorer("default", device="cpu"), load_scorer("small", device="cpu")
    assert isinstance(default, DefaultScorer)
    assert default.assess([tiny.pair()])[0].score == small.assess([tiny.pair()])[0].score


def test_a_large_reader_that_is_broken_is_no_reason_to_read_with_the_small_one(monkeypatch):
    """Or a worker would judge otherwise than its neighbours, and nobody would know."""
    broken = EntryPoint("large", "no_such_module:folder", installed_models.GROUP)
    monkeypatch.setattr(installed_models, "entry_points", lambda **_: (broken,))
    with pytest.raises(ModelError, match="is broken"):
        load_scorer("default", device="cpu")


def test_default_reads_english_with_the_large_reader(weights):
    default = load_scorer("default", device="cpu")
    english, greek = default.assess([tiny.pair(), tiny.pair("η απόφαση ήταν σωστή", "σωστή")])
    assert (english.scorer, english.trail[0].scorer) == ("default", "large")
    assert (greek.scorer, greek.trail[0].scorer) == ("default", "small")
    assert english.revision == greek.revision == default.revision


def test_the_cascade_asks_large_where_the_small_reader_is_unsure(weights):
    """Both by name, from the folders where they ship."""
    assert load_scorer("large", device="cpu").name == "large"
    cascade = load_scorer("cascade-large", device="cpu")
    unsure, sure = cascade.assess([tiny.pair(), tiny.pair(value="1999")])
    assert unsure.scorer == "cascade-large"
    assert [step.scorer for step in unsure.trail] == ["small", "large"]
    assert [step.scorer for step in sure.trail] == ["small"], "another year is no question"


def test_a_bad_pair_is_a_failure_on_its_assessment(folder):
    """The reason stands on the assessment and on the trail, and no score does."""
    good, bad = load_scorer(folder).assess([tiny.pair(), tiny.pair(premise=" ")])
    assert good.failure is None
    assert (bad.score, bad.failure) == (None, "scorer_failed")
    assert bad.trail[0].failure == "the premise is empty"


def test_devices_that_are_not_there_are_said():
    """A clear error instead of torch's."""
    with pytest.raises(ModelError, match="int8"):
        place("cpu", "fp16")
    with pytest.raises(ModelError, match="no device"):
        place("abacus")
    assert place("cpu").precision == "fp32"
    assert usable_cores() >= 1


def test_manifests_refuse_calibrations_that_fall():
    """A higher raw score must never become a lower one."""
    common = {"name": "x", "kind": "encoder", "labels": 0, "max_length": 64}
    for x, y in (([0.2, 0.1], [0, 1]), ([0.1, 0.2], [1, 0]), ([0.1], [0.1, 0.2])):
        with pytest.raises(ValueError, match=r"calibration|lengths"):
            ScorerManifest(**common, calibration={"kind": "isotonic", "x": x, "y": y})
    with pytest.raises(ValueError, match="greater than 0"):
        ScorerManifest(**common, calibration={"kind": "platt", "a": -1.0, "b": 0.0})


def test_what_ships_judges_without_transformers():
    """Its import takes seconds and 180 MB of every process."""
    script = (
        "import sys; from safepassage.scoring_worker import Pair, load_scorer;"
        "load_scorer('small', device='cpu').assess([Pair('Rent: 5', 'Rent: 5', 'Rent', '5')]);"
        "sys.exit('transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
