"""``graph draw``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from safepassage.streams.cli import app
from safepassage.streams.demo import corpus
from safepassage.streams.runtime.errors import OperatorError


def run(*arguments: object) -> str:
    ended = CliRunner().invoke(app, ["graph", *map(str, arguments)])
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_a_bundled_answer_is_drawn_and_what_is_wrong_with_it_is_said(tmp_path):
    picture = tmp_path / "graph.svg"
    told = run("draw", corpus.RESPONSES, "--id", "rag-corn-exchange", "-o", picture)
    assert "EG 0." in told
    assert "missing_entity: " in told
    assert "30 November 2024" in told
    assert "30 November 2024 (missing)" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--id", "nobody", "-o", "x.svg"), "there is no answer nobody"),
        (("-o", "x.bmp"), r"\.svg, \.png or \.pdf"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OperatorError, match=message):
        run("draw", corpus.RESPONSES, *arguments)


def test_an_answer_without_entities_is_not_drawn_as_if_it_were_right(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "a", "context": "It rained.", "response": "yes."}) + "\n")
    with pytest.raises(OperatorError, match="undetermined"):
        run("draw", rows, "-o", tmp_path / "graph.svg")
