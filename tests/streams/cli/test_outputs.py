"""Commands that pay or take long refuse an output that cannot be written before they begin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safepassage.streams.cli import app
from safepassage.streams.cli.output import open_outputs
from safepassage.streams.runtime.errors import OperatorError

# Their inputs are missing and nothing listens where Kafka should be: what a command asked first
# would be another error.
COMMANDS = [
    "evaluate missing.jsonl --json {}/figures.json",
    "evaluate missing.jsonl --report {}",
    "curve missing.jsonl --keep {}",
    "calibrate missing.jsonl --out scorer --json {}/figures.json",
    "train {}/scorer --grade missing.jsonl",
    "check -d missing.jsonl -e missing.jsonl --out {}/verdicts.jsonl",
    "check -d missing.jsonl -e missing.jsonl --boxes {}/boxes.jsonl",
    "graph draw missing.jsonl --out {}/graph.svg",
    "replay --report {}",
    "shadow --report {}",
    "compare --json {}/figures.json",
    "labels export --out {}/labels.jsonl",
    "labels export --out labels.jsonl --documents-out {}/documents.jsonl",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_cannot_be_written_fails_first(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "nice", lambda _by: 0)
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "folder"
    ended = CliRunner().invoke(app, command.format(below).split())
    assert isinstance(ended.exception, OSError | OperatorError)
    assert "Not a directory" in str(ended.exception)


def test_a_file_that_is_there_keeps_its_content_and_none_is_left_behind(tmp_path: Path) -> None:
    there, new = tmp_path / "there.json", tmp_path / "a" / "new.json"
    there.write_text("kept")
    os.mkfifo(tmp_path / "pipe")
    open_outputs(files=(there, new, None, tmp_path / "pipe"), folders=(tmp_path / "b", None))
    assert there.read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "pipe", "there.json"]
    assert [*(tmp_path / "a").iterdir(), *(tmp_path / "b").iterdir()] == []
