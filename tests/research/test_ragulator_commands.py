"""``ragulator``: data set, labels and models from the command line."""

import json

import pytest
from typer.testing import CliRunner

from research.cli import app
from research.ragulator_training import fit
from safepassage.scoring_worker.forest import Forest
from tests.scoring_worker.detectors.doubles import WordScorer

WORDS = " ".join(f"word{n} is here." for n in range(40))


def run(*words: str):
    result = CliRunner().invoke(app, ["ragulator", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def curated(tmp_path):
    summaries = tmp_path / "abstracts.jsonl"
    rows = [
        {"id": str(n), "article": f"{WORDS} Dog {n} barks.", "abstract": f"Dog {n} barks out loud."}
        for n in range(12)
    ]
    summaries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "curated.jsonl"
    result = run("curate", "--summaries", str(summaries), "--out", str(out))
    assert "out of context" in result.output
    return out


def test_curated_rows_are_answers_that_evaluate_reads(curated):
    rows = [json.loads(line) for line in curated.read_text().splitlines()]
    assert {row["label"] for row in rows} == {0, 1}
    assert {row["source"] for row in rows} == {"abstracts"}
    from research.answers.sets import read_sets

    [read] = read_sets([curated])
    assert len(read.cases) == len(rows)


def test_a_forest_is_trained_and_written_as_json(curated, tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "RANDOM_FOREST", {"max_depth": (2,), "n_estimators": (5,)})
    monkeypatch.setattr(
        "safepassage.scoring_worker.loading.load_scorer", lambda _name: WordScorer()
    )
    out = tmp_path / "forest.json"
    result = run("train", str(curated), "--model", "random-forest", "--out", str(out))
    assert "AUROC of the folds" in result.output
    assert Forest.load(out).trained_on == ("abstracts",)


def test_what_is_misspelt_or_missing_is_said(curated, tmp_path):
    out = str(tmp_path / "x")
    assert run("curate", "--out", out).exit_code == 2
    assert run("label", str(curated), "--variant", "2-shot", "--out", out).exit_code == 2
    assert run("train", str(curated), "--model", "svm", "--out", out).exit_code == 2
    assert run("train", str(curated), "--model", "encoder", "--out", out).exit_code == 2
