"""``evaluate``, ``curve``, ``train`` and ``calibrate``, on tiny models and data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.calibration import carried_over
from safepassage.scoring_worker.manifest import ScorerManifest, Thresholds, TypeThreshold
from safepassage.scoring_worker.scorers import by_language, folders
from safepassage.streams.cli import app
from safepassage.streams.runtime.errors import OperatorError
from tests.scoring_worker import tiny
from tests.scoring_worker.labelled_files import gold_files, pair_file, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(tiny.bert(tmp_path_factory.mktemp("model")))


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A scorer with a reader: what is trained."""
    return str(tiny.reader_scorer(tmp_path_factory.mktemp("reader")))


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    return gold_files(tmp_path_factory.mktemp("gold"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory, model):
    return pair_file(tmp_path_factory.mktemp("pairs"), model)


def invoke(*arguments):
    """The command's result; failures that are not for the operator are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_evaluate_writes_figures_of_every_data_set_and_scorer(model, gold, pairs, tmp_path):
    """Data sets of two kinds, two scorers; a table each, and a report."""
    other = tiny.bert(tmp_path / "other", seed=1)
    out, report = tmp_path / "out.json", tmp_path / "report"
    result = invoke(
        "evaluate",
        gold[0],
        pairs,
        "--documents",
        gold[1],
        "--scorer",
        model,
        "--scorer",
        other,
        "--json",
        out,
        "--report",
        report,
        "--labels",
        "made for a test",
    )
    assert result.exit_code == 0
    assert "finding the 24 unsupported of 48" in result.stdout
    written = json.loads(out.read_text())
    assert written["version"] == 1
    rows = {(row["dataset"], row["scorer"]): row for row in written["results"]}
    assert len(rows) == 4
    row = rows["gold", model]
    assert (row["n"], row["pairs"], row["reasons"]["not_found"]) == (48, 36, 12)
    assert row["labels"] == "made for a test"
    assert row["revision"] == load_scorer(model).revision != rows["gold", str(other)]["revision"]
    assert 0 < row["latency_ms_p50"] <= row["latency_ms_p99"]
    assert row["pairs_per_second"] > 0
    assert (report / "report.md").read_text().count("## ") >= 2


def test_evaluate_goes_on_after_a_bad_row_and_exits_1(model, tmp_path):
    """The good rows are judged; stderr has one line for the bad one."""
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"premise":"a","hypothesis":"b","label":1}\nnonsense\n')
    result = invoke("evaluate", path, "-s", model, "--json", tmp_path / "out.json")
    assert result.exit_code == 1
    assert len([line for line in result.stderr.splitlines() if "pairs.jsonl:2" in line]) == 1
    (row,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert (row["n"], row["refused"], row["auroc"]) == (1, 1, None)


def test_evaluate_on_a_share_of_the_documents(model, pairs, tmp_path):
    """--limit takes whole documents."""
    invoke("evaluate", pairs, "-s", model, "--limit", 10, "--json", tmp_path / "out.json")
    (row,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert row["n"] == 12


def test_answers_and_annotated_documents_go_through_the_real_pipeline(model, tmp_path):
    """A claim is judged as one, an answer by sentences; entities are aligned in their text."""
    answers = [
        {"id": "a", "context": "Ann Lee presided. It rained.", "claim": "Ann. Lee", "label": 1},
        {"id": "b", "context": ["Ann Lee."], "response": "Ann Lee. Zebras.", "label": 0, "x": []},
    ]
    text = "Before: Ann Lee\nCounsel: Bob Ray\n"
    entities = [
        {"type": "JUDGE", "start": 8, "end": 15},
        {"type": "LAWYER", "start": 25, "end": 32},
    ]
    files = [
        write(tmp_path / "answers.jsonl", answers),
        write(tmp_path / "ner.jsonl", [{"id": "d", "text": text, "entities": entities}]),
    ]
    invoke("evaluate", *files, "-s", model, "--json", tmp_path / "out.json")
    one, two = json.loads((tmp_path / "out.json").read_text())["results"]
    assert (one["dataset_kind"], one["n"], one["pairs"]) == ("responses", 2, 2)
    assert (two["dataset_kind"], two["by_kind"]["annotated"]["n"]) == ("entities", 2)
    assert two["reasons"].get("not_found") is None


def test_reviews_show_what_a_field_would_gain_and_a_second_run_learns_nothing_again(
    reader, gold, tmp_path, monkeypatch
):
    """At every size, with what may pass at a certified risk."""
    out = tmp_path / "out.json"
    asked = (
        *("curve", gold[0], "-d", gold[1], "--base", reader),
        *("--sizes", "0,14", "--draws", 1, "--checks", 0.5, "--epochs", 0.5),
        *("--keep", tmp_path / "kept", "--json", out),
    )
    result = invoke(*asked)
    assert result.exit_code == 0
    assert "share accepted without a person" in result.stdout
    written = json.loads(out.read_text())
    assert [point["size"] for point in written["results"]] == [0, 14]
    point = written["results"][1]
    assert {(one["wrong"], one["risk"]) for one in point["certified"]} == {
        (wrong, risk) for wrong in (0.05, 0.1) for risk in (0.01, 0.02, 0.05)
    }
    assert point["learnt"][0]["thresholds"].startswith("kept")
    monkeypatch.setattr("safepassage.scoring_worker.training.reviews.curve.train", None)
    assert invoke(*asked).exit_code == 0
    assert json.loads(out.read_text()) == written


def test_calibrate_writes_a_scorer_that_reaches_its_target(model, pairs, tmp_path):
    """On the labels it was fitted on; the old scorer stays as it was."""
    out = tmp_path / "calibrated"
    result = invoke(
        "calibrate",
        pairs,
        "-s",
        model,
        "-o",
        out,
        "--target",
        "recall=0.9",
        "--name",
        "mine",
        "--json",
        tmp_path / "out.json",
    )
    assert result.exit_code == 0
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["thresholds"][""]["recall"] >= 0.9
    assert report["held_out"]["n"] == report["n"] == 120
    assert (out / "reliability.png").read_bytes().startswith(b"\x89PNG")
    scorer = load_scorer(out)
    assert (scorer.name, scorer.revision) == ("mine", report["revision"])
    manifest = ScorerManifest.load(out)
    assert manifest.thresholds.default == report["thresholds"][""]["value"]
    assert manifest.thresholds.by_type.keys() == {"Judge"}
    assert "Calibrated to recall>=0.9" in (out / "MODEL_CARD.md").read_text()


@pytest.mark.parametrize("configured", ["default", "default+hallugraph"])
def test_a_calibrated_default_shares_the_words_of_the_default(
    configured, reader, tmp_path, monkeypatch
):
    """A hundred megabytes less in every scorer made from it. What draws graphs is no part of it."""
    monkeypatch.setattr(folders, "DEFAULT_MODEL", Path(reader))
    monkeypatch.setattr(by_language, "is_installed", lambda _: False)
    labels = write(tmp_path / "years.jsonl", year_rows())
    invoke("calibrate", labels, "-s", configured, "-o", tmp_path / "out", "--kind", "platt")
    manifest = ScorerManifest.load(tmp_path / "out")
    assert (manifest.base, manifest.base_digest is None) == ("default", False)
    assert not (tmp_path / "out" / "words.safetensors").exists()
    (assessment,) = load_scorer(tmp_path / "out").assess([tiny.pair()])
    assert assessment.score is not None


def test_calibrating_twice_starts_from_the_raw_scores(model, pairs, tmp_path):
    """One calibration is not put upon another."""
    first, second = tmp_path / "first", tmp_path / "second"
    invoke("calibrate", pairs, "-s", model, "-o", first, "--kind", "platt")
    invoke("calibrate", pairs, "-s", first, "-o", second, "--kind", "platt")
    assert ScorerManifest.load(first).calibration == ScorerManifest.load(second).calibration


def test_calibrate_refuses_to_overwrite_and_to_guess(model, pairs, tmp_path):
    """A folder with something in it, labels of one class, a target that is none."""
    with pytest.raises(ValueError, match="exists"):
        invoke("calibrate", pairs, "-s", model, "-o", model)
    row = {"premise": "a", "hypothesis": "b", "label": 1}
    path = write(tmp_path / "one.jsonl", [row] * 5)
    with pytest.raises(ValueError, match="supported and unsupported"):
        invoke("calibrate", path, "-s", model, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(OperatorError, match="recall"):
        invoke("calibrate", pairs, "-s", model, "-o", tmp_path / "out", "--target", "recall")


def test_calibrate_on_values_keeps_what_was_known_of_claims(reader, tmp_path):
    """And on claims what was known of values."""
    known = Thresholds(default=0.4, by_type={"Claim": TypeThreshold(value=0.18, n=591)})
    start, out = tmp_path / "start", tmp_path / "out"
    shutil.copytree(reader, start)
    ScorerManifest.load(start).model_copy(update={"thresholds": known}).save(start)
    invoke("calibrate", write(tmp_path / "values.jsonl", year_rows()), "-s", start, "-o", out)
    written = ScorerManifest.load(out)
    moved = carried_over(known, None, written.calibration)
    assert written.thresholds.of("Claim") == moved.of("Claim") != moved.default
    assert written.thresholds.default != moved.default
    rows = [
        {"premise": row["premise"], "hypothesis": row["hypothesis"], "label": row["label"]}
        | {"entity_type": "Claim", "value": row["hypothesis"], "doc_id": row["doc_id"]}
        for row in year_rows()
    ]
    again = tmp_path / "again"
    labels = write(tmp_path / "claims.jsonl", rows)
    invoke("calibrate", labels, "-s", start, "-o", again, "--kind", "isotonic")
    written = ScorerManifest.load(again)
    moved = carried_over(known, None, written.calibration)
    assert written.thresholds.default == moved.default
    assert written.thresholds.of("Claim") != moved.of("Claim")


def year_rows():
    return [
        {
            "premise": f"{at}: from {1990 + at} on",
            "hypothesis": f"Start: {year}",
            "entity_type": "Start",
            "value": str(year),
            "doc_id": f"d{at}",
            "label": int(year < 2090),
        }
        for at in range(20)
        for year in (1990 + at, 2090 + at)
    ]


def judged_rows(count, *, wrong=0, **fields):
    return [
        {
            "premise": f"{at}: the panel sat with {at} chairs",
            "hypothesis": f"Chairs: {at}",
            "entity_type": "Chairs",
            "value": str(at),
            "doc_id": f"d{at}",
            "label": int(at >= wrong),
            **fields,
        }
        for at in range(count)
    ]


@pytest.mark.parametrize("risk", [(), ("--risk", 0.05)])
def test_the_calibrated_default_is_the_reader_of_the_labels_language(
    risk, reader, tmp_path, monkeypatch
):
    """English goes to the large one. Of other languages nothing is promised."""
    monkeypatch.setattr(folders, "installed_model", lambda _: Path(reader))
    monkeypatch.setattr(by_language, "is_installed", lambda _: True)
    labels = write(tmp_path / "labels.jsonl", judged_rows(200) if risk else year_rows())
    invoke("calibrate", labels, "-s", "default", "-o", tmp_path / "out", *risk)
    manifest = ScorerManifest.load(tmp_path / "out")
    assert manifest.others == (None if risk else "small")
    assert (tmp_path / "out" / "words.safetensors").exists(), "its words are no other reader's"


@pytest.mark.parametrize("risk", [(), ("--risk", 0.05)])
def test_calibrate_exits_1_where_a_row_could_not_be_read(risk, reader, tmp_path):
    """The scorer is written from the others."""
    rows = [*(judged_rows(200) if risk else year_rows()), {"premise": "no hypothesis", "label": 1}]
    labels, out = write(tmp_path / "labels.jsonl", rows), tmp_path / "out"
    assert invoke("calibrate", labels, "-s", reader, "-o", out, *risk).exit_code == 1
    assert ScorerManifest.load(out).thresholds.by_type


def test_calibrate_writes_thresholds_that_keep_a_promise(reader, tmp_path):
    """Probabilities stay as they are; the report says what holds, and with what bounds."""
    labels = write(tmp_path / "labels.jsonl", judged_rows(200))
    out, figures = tmp_path / "promised", tmp_path / "out.json"
    result = invoke("calibrate", labels, "-s", reader, "-o", out, "--risk", 0.05, "--json", figures)
    assert "At most 5.0% of what is accepted is wrong" in result.output
    report = json.loads(figures.read_text())
    (own,) = [part for part in report["parts"] if part["kind"] == "type"]
    assert own["name"] == "chairs"
    assert own["certified"]["observed_ci"][1] <= 0.05
    after = ScorerManifest.load(out)
    assert after.calibration is None, "nothing is fitted to the labels of a promise"
    assert after.thresholds.of("Chairs") == own["certified"]["value"]
    assert after.thresholds.of("Never Seen") == 1.0, "of what nobody labelled nothing passes"
    assert after.learnt_from.knows("d7")
    again = tmp_path / "again"
    with pytest.raises(ValueError, match="drawn by chance"):
        invoke("calibrate", labels, "-s", out, "-o", again, "--risk", 0.05)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (judged_rows(40), "at least 1[89] more labels"),
        (judged_rows(200, wrong=100), "no number of labels would do.*at least 47.4% must go"),
        (judged_rows(200, kind="review"), "drawn by chance"),
        (judged_rows(100, kind="spot_check") + judged_rows(100), "cannot be certified together"),
        (
            judged_rows(200, kind="review", draw={"probability": 0.5, "among": 2}),
            "every label is of a value that was stopped",
        ),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(model, rows, why, tmp_path):
    labels, out = write(tmp_path / "labels.jsonl", rows), tmp_path / "out"
    with pytest.raises(ValueError, match=f"(?s){why}"):
        invoke("calibrate", labels, "-s", model, "-o", out, "--risk", 0.05)
    assert not out.exists()


def test_calibrate_says_how_many_labels_of_which_class_are_wanted(model, tmp_path):
    labels = write(tmp_path / "few.jsonl", judged_rows(30, wrong=27))
    with pytest.raises(ValueError, match="7 more supported"):
        invoke("calibrate", labels, "-s", model, "-o", tmp_path / "out")


def test_train_writes_a_scorer_that_loads(reader, gold, pairs, tmp_path):
    """Silver pairs, then gold extractions: weights, thresholds and a model card."""
    folder = tmp_path / "trained"
    result = invoke(
        "train",
        folder,
        "--gold",
        gold[0],
        "-d",
        gold[1],
        "--silver",
        pairs,
        "--base",
        reader,
        "--epochs",
        0.3,
        "--gold-epochs",
        0.5,
        "--rehearsal",
        0,
        "--name",
        "mine",
        "--source",
        "made for a test (CC0)",
    )
    assert result.exit_code == 0
    assert "gold.jsonl: 36 pairs, 24 supported" in result.stderr
    scorer = load_scorer(folder)
    assert scorer.name == "mine"
    assert scorer.revision.split("-")[0] in result.stdout
    assert "reader learnt" in result.stdout
    assert "thresholds kept: of 36 labels" in result.stdout
    assert "made for a test (CC0)" in (folder / "MODEL_CARD.md").read_text()


def test_train_without_labels_says_so(tmp_path):
    """In one line, before anything is loaded or written."""
    with pytest.raises(OperatorError, match="--gold"):
        invoke("train", tmp_path / "out")
    assert not (tmp_path / "out").exists()
