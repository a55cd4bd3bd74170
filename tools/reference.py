"""Writes what README and documentation take from the code and from the measured files.

``make reference`` rewrites every generated block; a test fails when one differs.
"""

import sys
from typing import Any, get_args

import typer.main

from safepassage.schemas.verdict import Reason
from safepassage.streams.cli import app
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, Topic
from tools.blocks import Makers, filled, pages
from tools.measured import MEASURED_TABLES


def settings() -> str:
    """The default of every setting."""
    rows = ["| environment variable | default |", "|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        text = "unset" if default in (None, (), "") else str(default)
        rows.append(f"| `{_variable(name)}` | {text} |")
    return "\n".join(rows)


def _variable(name: str) -> str:
    alias = Settings.model_fields[name].validation_alias
    choices = getattr(alias, "choices", None)
    return str(choices[0]) if choices else f"SAFEPASSAGE_{name.upper()}"


def topics() -> str:
    """Every topic with its event and its retention."""
    rows = ["| topic | event | keeps |", "|---|---|---|"]
    for topic in ALL_TOPICS:
        purpose = (topic.model.__doc__ or "").strip().partition("\n")[0].replace("``", "`")
        kept = _kept(topic)
        rows.append(f"| `{topic.name}` | `{topic.model.__name__}`: {purpose} | {kept} |")
    return "\n".join(rows)


def _kept(topic: Topic) -> str:
    if topic.compacted:
        return "latest of each key"
    return "for ever" if topic.kept_days is None else f"{topic.kept_days} days"


def reasons() -> str:
    """Every reason that a verdict may carry, in the order of the contract."""
    return ", ".join(f"`{reason}`" for reason in get_args(Reason))


def commands() -> str:
    """Every command with its help, arguments and options."""
    parts = []
    for name, command in _walk(typer.main.get_command(app), "safepassage"):
        arguments = [_argument(p) for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
        rows = [f"## `{' '.join([name, *arguments])}`\n", (command.help or "").strip(), ""]
        rows += [f"- `{', '.join(option.opts)}`: {option.help or ''}" for option in options]
        parts.append("\n".join(rows).rstrip())
    return "\n\n".join(parts)


def _walk(command: Any, name: str) -> list[tuple[str, Any]]:
    """Every command below ``command``. Typer brings its own click, so types cannot tell."""
    if not hasattr(command, "commands"):
        return [(name, command)]
    children = sorted(command.commands.items())
    own = [(name, command)] if command.invoke_without_command else []
    return own + [found for child, sub in children for found in _walk(sub, f"{name} {child}")]


def _argument(parameter: Any) -> str:
    return str(parameter.name).upper() + ("…" if parameter.nargs == -1 else "")


MAKERS: Makers = {
    "commands": commands,
    "reasons": reasons,
    "settings": settings,
    "topics": topics,
    **MEASURED_TABLES,
}


def main() -> None:
    """Rewrite every page whose blocks differ."""
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, MAKERS)
        if after != before:
            page.write_text(after, encoding="utf-8")
            sys.stdout.write(f"wrote {page}\n")


if __name__ == "__main__":
    main()
