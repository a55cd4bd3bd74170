"""Commands that pay or take long refuse an output that cannot be written before they begin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from research.cli import app
from research.cli.groundedness import cache_folder
from safepassage.streams.runtime.errors import OperatorError
from tests.research.recorded import ROWS

# Their inputs are missing and nothing listens where Kafka should be: what a command asked first
# would be another error.
COMMANDS = [
    "groundedness benchmark missing.jsonl --cache {}",
    "groundedness benchmark missing.jsonl --cache cache --report {}/report",
    "groundedness benchmark missing.jsonl --cache cache --json {}/figures.json",
    "groundedness adapt missing.jsonl --out {}/out.jsonl --cache answers.jsonl",
    "groundedness adapt missing.jsonl --out out.jsonl --cache {}/answers.jsonl",
    "groundedness train missing.jsonl --out {}",
    "groundedness types missing.jsonl --json {}/figures.json",
    "groundedness train-types missing.jsonl --out {}/weights.json",
    "regime missing.jsonl --json {}/figures.json",
    "ragulator curate --pairs missing.jsonl --out {}/pairs.jsonl",
    "ragulator label missing.jsonl --out {}/windows.jsonl",
    "answers missing.jsonl --detector quip --keep {}",
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


def test_no_answer_is_paid_for_where_the_figures_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    module = "research.groundedness.benchmark.run_benchmark"
    monkeypatch.setattr(module, lambda *_, **__: called.append(1))
    (tmp_path / "folder").mkdir()
    arguments = ["groundedness", "benchmark", str(ROWS), "--cache", str(tmp_path / "cache")]
    ended = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "folder")])
    assert "Is a directory" in str(ended.exception)
    assert called == []


def test_the_cache_of_the_benchmark_is_the_users_and_not_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ended = CliRunner().invoke(app, ["groundedness", "benchmark", str(ROWS), "-d", "quip"])
    assert ended.exit_code == 0, ended.output
    assert list(work.iterdir()) == []
    assert list((tmp_path / "cache" / "safepassage" / "groundedness" / "judged").iterdir())
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "safepassage" / "groundedness"
