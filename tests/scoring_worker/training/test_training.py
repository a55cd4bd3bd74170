"""Training, end to end on models made on the spot."""

from __future__ import annotations

import gzip
import json
import math
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.splits import split_by_group
from safepassage.scoring_worker.loading import load_scorer
from safepassage.scoring_worker.manifest import (
    ModelError,
    PlattCalibration,
    ScorerManifest,
    Thresholds,
    TypeThreshold,
)
from safepassage.scoring_worker.scorers import by_language, folders
from safepassage.scoring_worker.threshold_fitting import Target
from safepassage.scoring_worker.training import (
    Recipe,
    StackSettings,
    TrainingLabels,
    TuningSettings,
    corpora,
    recipe,
    starting_point,
    train,
)
from safepassage.scoring_worker.training.judged_pairs import Judged, refitted
from safepassage.scoring_worker.training.stacking import (
    ADVERSE,
    SUPPORTIVE,
    LabelledOpinion,
    fit_stack,
    stack_scores,
)
from safepassage.scoring_worker.weighing.opinion import Opinion
from safepassage.scoring_worker.weighing.stack import Stack
from tests.scoring_worker import tiny

STAGE = TuningSettings(
    epochs=1, batch_size=8, learning_rate=1e-3, rehearsal=0.1, rehearsal_least=4, layers=1
)
RECIPE = Recipe(name="learnt", silver=STAGE, gold=STAGE)
HEAD_ONLY = replace(RECIPE, head_only=True)
READER = "reader.safetensors"


def pairs(count: int, seed: int = 0, kind: str = "gold") -> list[LabelledPair]:
    """Two years in a passage, of which one answers; ten documents."""
    rng = random.Random(seed)
    made = []
    for at in range(count):
        signed, ended = rng.sample(range(1990, 2020), 2)
        label = 1 if rng.random() < 0.5 else 0
        value = str(signed if label else ended)
        passage = f"signed {signed}, ended {ended}"
        made.append(LabelledPair(passage, "Signed", value, label, kind, f"d{at % 10}"))
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
    return tiny.reader_scorer(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory) -> Path:
    """A scorer after silver and gold."""
    folder = tmp_path_factory.mktemp("trained") / "scorer"
    labels = TrainingLabels(gold=pairs(60), silver=pairs(80, 1, "silver"), sources=("ours (MIT)",))
    train(base, labels, folder, RECIPE)
    return folder


def test_progress_counts_every_label_that_the_reader_reads(base, tmp_path):
    seen = []
    labels = TrainingLabels(gold=pairs(60), silver=pairs(80, 1, "silver"))
    train(base, labels, tmp_path / "s", RECIPE, on_progress=lambda *told: seen.append(told))
    ((stage, total),) = {(stage, total) for stage, _, total in seen}
    done = [read for _, read, _ in seen]
    assert stage == "reading labels"
    assert done == sorted(done)
    assert 0 < done[0] < done[-1] == total


def test_a_trained_folder_loads_and_scores(trained):
    scorer = load_scorer(trained, device="cpu")
    shown = LabelledPair("signed 1999", "Signed", "1999", 1, "gold")
    good, bad = scorer.assess([shown.pair, replace(shown, value="1901").pair])
    assert good.score > bad.score
    assert {finding.code for finding in bad.findings} == {"number_differs"}


def test_the_manifest_and_card_say_what_it_rests_on(trained):
    manifest = ScorerManifest.load(trained)
    card = (trained / "MODEL_CARD.md").read_text("utf-8")
    assert manifest.trained_on == ("nothing", "ours (MIT)")
    assert manifest.metrics["validation"]["n"] > 0
    for said in ("# learnt", "ours (MIT)", "## Thresholds", "f1", "| gold | 60 |"):
        assert said in card


def test_the_manifest_tells_every_document_it_learnt_from_and_those_of_its_base(
    base, trained, tmp_path
):
    learnt = ScorerManifest.load(trained).learnt_from
    assert all(learnt.knows(pair.group, [pair.premise]) for pair in pairs(60))
    assert learnt.knows("another id", [pairs(1)[0].premise])
    assert not learnt.knows("d10", ["another passage"])
    other = [replace(pair, group="later") for pair in pairs(30, 2)]
    again = train(trained, TrainingLabels(head=other, gold=other), tmp_path / "s", HEAD_ONLY)
    assert again.learnt_from.knows("later")
    assert again.learnt_from.knows("d1")


def test_what_a_base_learnt_from_stays_unknown(base, tmp_path):
    silent = tmp_path / "silent"
    shutil.copytree(base, silent)
    ScorerManifest.load(silent).model_copy(update={"learnt_from": None}).save(silent)
    manifest = train(silent, TrainingLabels(gold=pairs(30)), tmp_path / "s", HEAD_ONLY)
    assert manifest.learnt_from is None


def test_training_changes_the_reader_and_leaves_the_words(base, trained):
    before, after = ScorerManifest.load(base), ScorerManifest.load(trained)
    assert before.files[READER] != after.files[READER]
    assert before.files["words.safetensors"] == after.files["words.safetensors"]
    assert before.base_digest == after.base_digest
    assert not (trained / "stages").exists()


def test_over_the_shipped_words_only_the_reader_is_kept(base, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "DEFAULT_MODEL", base)
    monkeypatch.setattr(by_language, "is_installed", lambda _: False)
    manifest = train("default", TrainingLabels(gold=pairs(30)), tmp_path / "s", RECIPE)
    assert manifest.base == "default"
    names = {path.name for path in (tmp_path / "s").iterdir()}
    assert names == {"scorer.json", "MODEL_CARD.md", READER}
    further = train(tmp_path / "s", TrainingLabels(gold=pairs(30, 2)), tmp_path / "t", RECIPE)
    assert further.base == "default"
    (assessment,) = load_scorer(tmp_path / "t", device="cpu").assess([pairs(1)[0].pair])
    assert assessment.score is not None


def test_a_scorer_goes_on_learning_and_the_head_alone_can_be_refitted(trained, tmp_path):
    labels = TrainingLabels(gold=pairs(120, 5), sources=("reviews",))
    manifest = train(trained, labels, tmp_path / "head", replace(RECIPE, head_only=True))
    assert manifest.trained_on == ("nothing", "ours (MIT)", "reviews")
    before, after = ScorerManifest.load(trained), ScorerManifest.load(tmp_path / "head")
    assert before.files[READER] == after.files[READER]
    assert before.stack != after.stack
    further = train(trained, labels, tmp_path / "further", RECIPE)
    assert further.files[READER] != before.files[READER]


def test_twenty_labels_teach_the_reader_and_move_no_threshold(base, tmp_path):
    before = ScorerManifest.load(base)
    manifest = train(base, TrainingLabels(gold=pairs(20)), tmp_path / "few", RECIPE)
    assert manifest.files[READER] != before.files[READER]
    assert manifest.thresholds == before.thresholds
    assert manifest.metrics["learnt"]["reader"] == "learnt"
    assert "more supported" in manifest.metrics["learnt"]["thresholds"]


def test_labels_of_one_class_teach_nothing_and_are_told_apart_from_a_training(base, tmp_path):
    supported = [pair for pair in pairs(60) if pair.label]
    manifest = train(base, TrainingLabels(gold=supported), tmp_path / "one", RECIPE)
    before = ScorerManifest.load(base)
    assert Stack.of(manifest) == tiny.STACK
    assert manifest.files[READER] == before.files[READER]
    assert manifest.thresholds == before.thresholds
    said = manifest.metrics["learnt"]
    assert said["reader"] == "kept: 5 more unsupported labels are wanted"
    assert all(line.startswith("kept") for line in said.values())


def test_no_threshold_is_fitted_on_what_was_stopped_alone(base, tmp_path):
    stopped = [replace(pair, kind="review") for pair in pairs(150)]
    before = ScorerManifest.load(base)
    manifest = train(base, TrainingLabels(gold=stopped), tmp_path / "s", HEAD_ONLY)
    assert manifest.thresholds == before.thresholds
    assert "judge spot checks too" in manifest.metrics["learnt"]["thresholds"]
    mixed = [*stopped[:75], *(replace(pair, kind="spot_check") for pair in stopped[75:])]
    manifest = train(base, TrainingLabels(gold=mixed), tmp_path / "t", HEAD_ONLY)
    assert manifest.metrics["learnt"]["thresholds"] == "learnt"


def test_where_nothing_passed_quarantine_is_the_whole_stream(base, tmp_path):
    strict = tmp_path / "strict"
    shutil.copytree(base, strict)
    changes = {"thresholds": Thresholds(default=1.0)}
    ScorerManifest.load(strict).model_copy(update=changes).save(strict)
    stopped = [replace(pair, kind="review") for pair in pairs(150)]
    fitted = train(strict, TrainingLabels(gold=stopped), tmp_path / "fitted", HEAD_ONLY)
    assert fitted.thresholds.default < 1.0


def test_labels_of_values_leave_the_threshold_of_claims(base, tmp_path):
    """Of the new scale too, where the base was calibrated."""
    start = tmp_path / "start"
    shutil.copytree(base, start)
    known = Thresholds(by_type={CLAIM_TYPE: TypeThreshold(value=0.18, n=591)})
    ScorerManifest.load(start).model_copy(update={"thresholds": known}).save(start)
    fitted = train(start, TrainingLabels(gold=pairs(150)), tmp_path / "fitted", HEAD_ONLY)
    assert fitted.metrics["learnt"]["thresholds"] == "learnt"
    assert fitted.thresholds.of(CLAIM_TYPE) == 0.18
    shutil.copytree(start, tmp_path / "calibrated")
    calibrated = PlattCalibration(a=1.0, b=1.0)
    ScorerManifest.load(start).model_copy(update={"calibration": calibrated}).save(
        tmp_path / "calibrated"
    )
    few = train(tmp_path / "calibrated", TrainingLabels(gold=pairs(20)), tmp_path / "few", RECIPE)
    assert few.calibration is None
    assert few.thresholds.of(CLAIM_TYPE) == pytest.approx(0.18 / (0.18 + 0.82 * math.e), abs=1e-4)


def test_an_interrupted_run_goes_on_after_the_stages_that_are_done(base, tmp_path, monkeypatch):
    begun = []
    tune = recipe.tune

    def failing(model, tokenizer, labelled, folder, settings, **more):
        begun.append(folder.name)
        if begun == ["silver", "fold-0", "silver", "fold-1"]:
            raise KeyboardInterrupt
        return tune(model, tokenizer, labelled, folder, settings, **more)

    monkeypatch.setattr(recipe, "tune", failing)
    labels = TrainingLabels(gold=pairs(40), silver=pairs(40, 1))
    with pytest.raises(KeyboardInterrupt):
        train(base, labels, tmp_path / "s", RECIPE)
    done = (tmp_path / "s" / "stages" / "silver" / READER).stat().st_mtime_ns
    with pytest.raises(ModelError, match="resume"):
        train(base, labels, tmp_path / "s", RECIPE)
    with pytest.raises(ModelError, match="other labels"):
        train(base, TrainingLabels(gold=pairs(39)), tmp_path / "s", RECIPE, resume=True)
    assert (tmp_path / "s" / "stages" / "silver" / READER).stat().st_mtime_ns == done
    begun.clear()
    resumed = train(base, labels, tmp_path / "s", RECIPE, resume=True)
    assert "fold-0" not in begun
    monkeypatch.setattr(recipe, "tune", tune)
    at_once = train(base, labels, tmp_path / "t", RECIPE)
    assert resumed.files[READER] == at_once.files[READER]
    with pytest.raises(ModelError, match="already holds"):
        train(base, labels, tmp_path / "s", RECIPE, resume=True)


def test_what_cannot_be_trained_is_refused(base, tmp_path):
    with pytest.raises(ValueError, match="no labels"):
        train(base, TrainingLabels(), tmp_path / "none", RECIPE)
    encoder, labels = tiny.bert(tmp_path / "bert"), TrainingLabels(gold=pairs(20))
    with pytest.raises(ModelError, match="cross-encoder"):
        train(encoder, labels, tmp_path / "out", RECIPE)
    assert not (tmp_path / "out").exists()


def test_documents_never_stand_on_both_sides_of_a_split():
    made = pairs(100)
    train_side, held = split_by_group(made, 0.2)
    assert {p.group for p in train_side} & {p.group for p in held} == set()
    assert len(train_side) + len(held) == 100
    assert split_by_group(made, 0.2) == (train_side, held)
    one_document = [replace(pair, group="d") for pair in made]
    assert all(split_by_group(one_document, 0.2))


def test_the_head_is_fitted_to_readers_that_have_not_seen_the_documents(
    base, tmp_path, monkeypatch
):
    learnt, judged = {}, {}
    tune, by = recipe.tune, Judged.by

    def noting_tune(model, tokenizer, labelled, folder, settings, **more):
        learnt[folder.name] = {pair.group for pair in labelled}
        return tune(model, tokenizer, labelled, folder, settings, **more)

    def noting_by(scorer, labelled):
        judged.setdefault(len(learnt), {pair.group for pair in labelled})
        return by(scorer, labelled)

    monkeypatch.setattr(recipe, "tune", noting_tune)
    monkeypatch.setattr(Judged, "by", noting_by)
    train(base, TrainingLabels(gold=pairs(60)), tmp_path / "s", RECIPE)
    assert list(learnt) == ["fold-0", "fold-1", "gold"]
    assert not learnt["fold-0"] & judged[1]
    assert not learnt["fold-1"] & judged[2]
    assert judged[1] | judged[2] == learnt["gold"] == {f"d{at}" for at in range(10)}


def test_default_trains_the_reader_that_serves_the_language(base, tmp_path, monkeypatch):
    other = tiny.reader_scorer(tmp_path / "other")
    monkeypatch.setattr(folders, "DEFAULT_MODEL", other)
    monkeypatch.setattr(folders, "installed_model", lambda _: base)
    monkeypatch.setattr(by_language, "is_installed", lambda _: True)
    english = pairs(20)
    said = "Der Vertrag wurde von der Mieterin und dem Vermieter der Wohnung unterschrieben."
    german = [replace(pair, premise=said) for pair in english[:6]]
    start = starting_point.starting_point("default", [*english, *german])
    assert (start.folder, start.manifest.others) == (base, "small")
    assert [start.reads(pair) for pair in (english[0], german[0])] == [True, False]
    start = starting_point.starting_point("default", german)
    assert (start.folder, start.manifest.others) == (other, "large")
    assert [start.reads(pair) for pair in (english[0], german[0])] == [False, True]
    assert starting_point.starting_point(str(base), german).reads(german[0])


def opinions(count: int, *, contrary: bool = False, shape: str = "located"):
    """Opinions whose lead is right."""
    rng = random.Random(0)
    for at in range(count):
        label = at % 2
        lead = rng.uniform(0.1, 1) * (1 if (label == 1) != contrary else -1)
        features = {"lead": lead, "finding_denial_near": float(lead < 0)}
        yield LabelledOpinion(Opinion(shape, features), label, "ours")


def test_the_stack_learns_what_counts_and_keeps_what_it_knew():
    learnt = fit_stack(list(opinions(120)))
    scores = stack_scores(learnt, [(one.opinion,) for one in opinions(120)], [""] * 120)
    assert [score > 0.5 for score in scores] == [one.label == 1 for one in opinions(120)]
    few = list(opinions(60, contrary=True))
    moved = refitted(learnt, few, StackSettings(prior=1e-6))
    assert moved.shapes["claim"] == learnt.shapes["claim"]
    assert moved.shapes["located"] != learnt.shapes["located"]
    firm = refitted(learnt, few, StackSettings(prior=1e5))
    for name, weight in learnt.shapes["located"].weights.items():
        assert firm.shapes["located"].weights[name] == pytest.approx(weight, abs=0.01)


def test_coefficients_with_packs_are_refitted_too(base, tmp_path):
    """Each from where they stood; a feature that no label shows keeps its weight."""
    folder = shutil.copytree(base, tmp_path / "base")
    shapes = {
        shape: own.model_copy(update={"weights": {**own.weights, "legal_kind_differs": -3.0}})
        for shape, own in tiny.STACK.shapes.items()
    }
    stack = tiny.STACK.model_copy(update={"with_packs": {"legal": shapes}})
    update = {"stack": stack.model_dump(mode="json")}
    ScorerManifest.load(folder).model_copy(update=update).save(folder)
    head = replace(RECIPE, head_only=True)
    manifest = train(folder, TrainingLabels(gold=pairs(120)), tmp_path / "s", head)
    assert Stack.of(manifest) != tiny.STACK
    refitted_pack = Stack.of(manifest, ("legal",)).shapes["located"].weights
    assert refitted_pack["legal_kind_differs"] == -3.0
    assert refitted_pack["value_mean"] != shapes["located"].weights["value_mean"]


def test_a_type_moves_the_score_by_the_labels_of_its_values_and_few_move_it_little():
    stack = fit_stack(list(opinions(120)))
    wrong = [replace(one, entity_type="Rent") for one in opinions(40, contrary=True)]
    right = [replace(one, entity_type="Name") for one in opinions(40)]
    lopsided = [one for one in wrong if one.label == 0] + [one for one in right if one.label]
    moved = refitted(stack, lopsided, StackSettings(prior=1e5)).by_type
    assert -2 <= moved["rent"] < -0.3
    assert moved.get("name", 0.0) >= 0
    once = refitted(stack, [*wrong[:1], *right], StackSettings(prior=1e5)).by_type
    assert abs(once.get("rent", 0.0)) < 0.3


def test_no_doubt_ever_raises_a_score_whatever_the_labels_say():
    stack = fit_stack(list(opinions(120, contrary=True)))
    for weights in stack.shapes.values():
        assert all(weights.weights.get(name, 0.0) <= 0.0 for name in ADVERSE)
        assert all(weights.weights.get(name, 0.0) >= 0.0 for name in SUPPORTIVE)


def test_a_stack_needs_labels_of_both_kinds():
    with pytest.raises(ValueError, match="supported and unsupported"):
        fit_stack([one for one in opinions(50) if one.label])


def test_thresholds_reach_a_stated_target(base, tmp_path):
    aimed = replace(RECIPE, head_only=True, target=Target(measure="recall", value=0.9))
    manifest = train(base, TrainingLabels(gold=pairs(150)), tmp_path / "s", aimed)
    assert manifest.metrics["thresholds"]["all"]["recall"] >= 0.9


def test_what_stands_around_a_passage_reaches_the_scorer():
    around = Pair("in 1999", "Signed: 1999", "Signed", "1999", heading="Signed")
    pair = LabelledPair("in 1999", "Signed", "1999", 1, "gold", around=around)
    assert pair.pair == around
    other = replace(pair, value="2001").pair
    assert (other.heading, other.hypothesis) == ("Signed", "Signed: 2001")


def test_corpora_are_read_gzipped_and_bad_lines_are_named(tmp_path):
    path = tmp_path / "pairs.jsonl.gz"
    row = {"premise": "a dog runs", "hypothesis": "A cat sleeps.", "label": "contradiction"}
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    assert list(corpora.read_rows(path)) == [row]
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\nnot json\n")
    with pytest.raises(corpora.CorpusError, match=r"bad\.jsonl:2"):
        list(corpora.read_rows(bad))
