"""``experiments`` from the command line, on tiny models and data."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from research.cli import app
from safepassage.streams.runtime.errors import OperatorError
from tests.scoring_worker import tiny
from tests.scoring_worker.labelled_files import gold_files, pair_file


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
    result = CliRunner().invoke(app, ["experiments", *(str(one) for one in arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_table1_stands_beside_the_published_figures(model, pairs, tmp_path):
    """Ours and the paper's, which are marked as of other data."""
    out = tmp_path / "out.json"
    result = invoke("table1", pairs, "-s", model, "--json", out)
    assert "Paper, Table 1" in result.stdout
    written = json.loads(out.read_text())
    assert [row["f1"] for row in written["published"]] == [0.364, 0.253, 0.804, 0.822, 0.891, 0.827]
    assert "other data" in written["published_on"]
    assert written["results"][0]["scorer"] == model


def test_figure5_compares_extractor_models(model, gold, tmp_path):
    """Each model's accepted share beside its labels; the plot is written."""
    out = tmp_path / "out.json"
    result = invoke(
        "figure5",
        gold[0],
        "-d",
        gold[1],
        "-s",
        model,
        "--json",
        out,
        "--report",
        tmp_path / "report",
    )
    assert result.exit_code == 0
    (comparison,) = json.loads(out.read_text())["results"]
    rows = {row["model"]: row for row in comparison["rows"]}
    assert rows.keys() == {"small", "large"}
    assert all(row["n"] == 24 and row["labelled"] == 0.5 for row in rows.values())
    assert rows["small"]["score"] <= 0.5  # half of its quotes were never written
    assert (tmp_path / "report" / "gold-figure5.png").exists()


def test_figure5_needs_models_to_compare(model, pairs):
    """Pairs name no extractor."""
    with pytest.raises(ValueError, match="two models"):
        invoke("figure5", pairs, "-s", model)


def test_figure4_judges_each_document_once_at_every_size(reader, gold, tmp_path):
    """From both starts; the silver scorer needs no labels, the other one does."""
    out = tmp_path / "out.json"
    result = invoke(
        "figure4",
        gold[0],
        "-d",
        gold[1],
        "--silver",
        reader,
        "--base",
        reader,
        "--sizes",
        "0,16",
        "--folds",
        2,
        "--epochs",
        0.5,
        "--json",
        out,
        "--report",
        tmp_path / "report",
    )
    assert result.exit_code == 0
    written = json.loads(out.read_text())
    points = {(point["silver"], point["gold"]): point for point in written["results"]}
    assert points.keys() == {(True, 0), (True, 16), (False, 16)}
    assert (written["trained"], written["base"]) == ("reader", reader)
    assert written["absent"] == ["without silver, 0 labels: its base was never taught to read"]
    assert all(point["n"] == 48 for point in points.values())
    assert points[True, 16]["trained_on"] == 16
    assert (tmp_path / "report" / "gold-figure4.png").exists()


def test_figure4_without_a_base_has_the_curve_with_silver(reader, gold, tmp_path):
    """And says what is missing."""
    out = tmp_path / "out.json"
    figure = ("figure4", "--silver", reader, "--sizes", "0", "--folds", 2)
    invoke(*figure, gold[0], "-d", gold[1], "--json", out)
    written = json.loads(out.read_text())
    assert [(point["silver"], point["gold"]) for point in written["results"]] == [(True, 0)]
    assert "name the folder of a base" in written["absent"][0]


def test_figure4_refits_the_head_alone_where_asked(reader, gold, tmp_path):
    """With silver it can judge at once, without it needs labels."""
    out = tmp_path / "out.json"
    head = ("--silver", reader, "--head-only", "--sizes", "0,24", "--folds", 2, "--json", out)
    result = invoke("figure4", gold[0], "-d", gold[1], *head)
    assert result.exit_code == 0
    written = json.loads(out.read_text())
    points = {(point["silver"], point["gold"]): point for point in written["results"]}
    assert points.keys() == {(True, 0), (True, 24), (False, 24)}
    assert (written["trained"], written["base"]) == ("head", "the comparators without a reader")
    assert written["absent"] == [
        "without silver, 0 labels: nothing says how much each comparison counts"
    ]


def test_figure4_refits_no_head_that_is_not_there(model, pairs):
    """An encoder alone has none."""
    with pytest.raises(ValueError, match="cross-encoder"):
        invoke("figure4", pairs, "--silver", model, "--head-only")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "ten"], "no numbers"),
        (["--sizes", "-1,5"], "0 or more"),
        (["--folds", "40"], "30 documents for 40 folds"),
    ],
)
def test_figure4_refuses_what_it_cannot_split(reader, pairs, arguments, message):
    """In one line."""
    with pytest.raises((ValueError, OperatorError), match=message):
        invoke(
            "figure4",
            pairs,
            "--silver",
            reader,
            *arguments,
        )
