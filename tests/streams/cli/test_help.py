"""The help is whole on a narrow terminal: what is cut off cannot be typed."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from safepassage.streams.cli import app
from safepassage.streams.settings import unknown_variables


def commands(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


@pytest.mark.parametrize("path", commands(typer.main.get_command(app)), ids=" ".join)
def test_nothing_is_cut_at_80_columns(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, [*path, "--help"])
    assert shown.exit_code == 0
    cut = [line for line in shown.stdout.splitlines() if "…" in line]
    assert all("--tau," in line for line in cut), cut  # its longer name is beside it


def test_version_is_told():
    shown = CliRunner().invoke(app, ["--version"])
    assert shown.stdout.startswith("safepassage ")
    assert shown.exit_code == 0


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(monkeypatch: pytest.MonkeyPatch):
    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "safepassage.streams.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "safepassage.streams.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("safepassage", run_name="__main__")
    assert ended.value.code == 130


def test_a_variable_that_is_no_setting_is_named_with_the_nearest_one():
    given = ("SAFEPASSAGE_SCORRER", "SAFEPASSAGE_SCORER", "SAFEPASSAGE_GRADER_MODEL", "PATH")
    assert list(unknown_variables([*given, "SAFEPASSAGE_X"])) == [
        "SAFEPASSAGE_SCORRER is no setting; is SAFEPASSAGE_SCORER meant?",
        "SAFEPASSAGE_X is no setting",
    ]


def test_every_command_warns_of_a_misspelt_variable(tmp_path: Path):
    result = CliRunner().invoke(app, ["files", str(tmp_path)], env={"SAFEPASSAGE_PARTITION": "3"})
    assert "is SAFEPASSAGE_PARTITIONS meant?" in result.output
