"""Writes `docs/reference.md` from the code: every command's help and every setting.

``make reference`` rewrites it, and a test fails when it no longer says what the code says.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer.main

from safepassage.streams.cli import app
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, Topic

PAGE = Path(__file__).with_name("reference.md")
HEADER = """\
# Reference

Made from the code by `make reference`; do not edit.
"""


def reference() -> str:
    """The page as the code is now."""
    return "\n".join([HEADER, _settings(), _topics(), _commands()])


def _settings() -> str:
    rows = ["## Settings", "", "| environment variable | default |", "|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "unset" if default in (None, (), "") else str(default)
        rows.append(f"| `{_variable(name)}` | {shown} |")
    return "\n".join(rows) + "\n"


def _variable(name: str) -> str:
    alias = Settings.model_fields[name].validation_alias
    choices = getattr(alias, "choices", None)
    return str(choices[0]) if choices else f"SAFEPASSAGE_{name.upper()}"


def _topics() -> str:
    rows = ["## Topics", "", "| topic | event | keeps |", "|---|---|---|"]
    for topic in ALL_TOPICS:
        purpose = (topic.model.__doc__ or "").strip().partition("\n")[0]
        kept = _kept(topic)
        rows.append(f"| `{topic.name}` | `{topic.model.__name__}`: {purpose} | {kept} |")
    return "\n".join(rows) + "\n"


def _kept(topic: Topic) -> str:
    if topic.compacted:
        return "latest of each key"
    return "for ever" if topic.kept_days is None else f"{topic.kept_days} days"


def _commands() -> str:
    parts = ["## Commands"]
    for name, command in _walk(typer.main.get_command(app), "safepassage"):
        arguments = [_argument(p) for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
        rows = [f"\n### `{' '.join([name, *arguments])}`\n", (command.help or "").strip(), ""]
        rows += [f"- `{', '.join(option.opts)}`: {option.help or ''}" for option in options]
        parts.append("\n".join(rows).rstrip())
    return "\n".join(parts) + "\n"


def _walk(command: Any, name: str) -> list[tuple[str, Any]]:
    """Every command below ``command``. Typer brings its own click, so types cannot tell."""
    if not hasattr(command, "commands"):
        return [(name, command)]
    children = sorted(command.commands.items())
    own = [(name, command)] if command.invoke_without_command else []
    return own + [found for child, sub in children for found in _walk(sub, f"{name} {child}")]


def _argument(parameter: Any) -> str:
    return str(parameter.name).upper() + ("…" if parameter.nargs == -1 else "")


if __name__ == "__main__":
    PAGE.write_text(reference())
    sys.stdout.write(f"wrote {PAGE}\n")
