"""Every command that README and the site show is one that a program takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

import research.cli
from safepassage.streams.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "deploy/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "commands.md"),
]
PROGRAMS = {
    "safepassage": typer.main.get_command(app),
    "python -m research": typer.main.get_command(research.cli.app),
}
PROGRAM = "|".join(PROGRAMS)
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINE = re.compile(rf"^[ $]*(?:[A-Z_]+=\S+ +)*({PROGRAM}) ([a-z].*)$", re.MULTILINE)
NAMED = re.compile(rf"`({PROGRAM}) ([a-z][^`]*)`")
BEHIND = re.compile(r"\s+#|\s{2,}| > | \| | && |;")
"""What may stand behind a command: a comment, a redirection, another one."""


def commands_of(page: Path) -> Iterator[tuple[str, str, bool]]:
    """Programs, their commands, and whether these are whole."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    for block in FENCED.findall(text):
        for program, found in LINE.findall(block):
            command = BEHIND.split(re.sub(r" +(?=-)", " ", found))[0]
            yield program, command.replace("…", "ANY"), "…" not in command
    for program, found in NAMED.findall(FENCED.sub("", text)):
        yield program, BEHIND.split(found)[0].replace("…", "ANY"), False


def refusal(text: str, *, whole: bool = True, program: str = "safepassage") -> str | None:
    """Why the program would refuse a command; one that is not ``whole`` may lack words."""
    command = PROGRAMS[program]
    context = command.context_class(command)
    words = shlex.split(re.sub(r"[\[\]]", "", text))
    while hasattr(command, "commands") and words:
        name, *words = words
        if name not in command.commands:
            return f"no command {name!r}"
        command = command.commands[name]
        context = command.context_class(command, parent=context)
    if hasattr(command, "commands") or "--help" in words:
        return None
    if not whole:
        known = {option for one in command.params for option in one.opts + one.secondary_opts}
        unknown = [w for w in words if w.startswith("--") and w.partition("=")[0] not in known]
        return f"no options {unknown}" if unknown else None
    try:
        given, further, _ = command.make_parser(context).parse_args(words)
    except Exception as error:  # noqa: BLE001 - click's own, of the copy that typer carries
        return str(error)
    lacking = [one.name for one in command.params if one.required and not given.get(one.name)]
    return f"too many: {further}" if further else f"lacks {lacking}" if lacking else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_commands_are_ones_that_the_program_takes(page: Path):
    refusals = {
        f"{program} {command}": refusal(command, whole=whole, program=program)
        for program, command, whole in commands_of(page)
    }
    assert not {command: why for command, why in refusals.items() if why}


def test_commands_are_found_and_wrong_ones_refused():
    assert sum(1 for page in PAGES for _ in commands_of(page)) > 150
    assert refusal("check --no-such-option", whole=False)
    assert refusal("chek a.jsonl")
    assert refusal("labels export labels.jsonl")
