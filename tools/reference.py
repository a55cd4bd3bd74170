"""Writes what README and documentation take from the code and from the measured files.

``make reference`` rewrites every generated block; a test fails when one differs.
"""

import ast
import json
import re
import sys
import tomllib
from importlib import metadata
from typing import Any, get_args

import typer.main
from pydantic import SecretStr

from safepassage.schemas.alignment import Scatter
from safepassage.schemas.finding import Contradiction, Doubt
from safepassage.schemas.verdict import Reason
from safepassage.streams.asyncapi import asyncapi_document
from safepassage.streams.cli import app
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALL_TOPICS, OF_DOCUMENTS, PERSONAL_DATA, Topic
from tools.blocks import ROOT, Makers, filled, pages
from tools.measured import MEASURED_TABLES


def settings() -> str:
    """The default of every setting."""
    rows = ["| environment variable | default |", "|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        value = default.get_secret_value() if isinstance(default, SecretStr) else default
        text = "unset" if value in (None, (), "") else str(value)
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
        kept = _kept(topic)
        rows.append(f"| `{topic.name}` | `{topic.model.__name__}`: {_purpose(topic)} | {kept} |")
    return "\n".join(rows)


def personal_data() -> str:
    """What of people lies on every topic, for how long, and what an erasure does to it."""
    rows = ["| topic | holds of people | keeps | with keys |", "|---|---|---|---|"]
    for topic in ALL_TOPICS:
        held = PERSONAL_DATA[topic] or "nothing"
        sealed = "sealed" if topic in OF_DOCUMENTS else "plain"
        rows.append(f"| `{topic.name}` | {held} | {_kept(topic)} | {sealed} |")
    return "\n".join(rows)


def _purpose(topic: Topic) -> str:
    """The first sentence of the event's docstring, without the topics that it names."""
    sentence = " ".join((topic.model.__doc__ or "").split()).partition(". ")[0]
    return sentence.partition(": ")[2].rstrip(".").replace("``", "`")


def _kept(topic: Topic) -> str:
    if topic.compacted:
        return "latest of each key"
    return "for ever" if topic.kept_days is None else f"{topic.kept_days} days"


def reasons() -> str:
    """Every reason that a verdict may carry, in the order of the contract."""
    return _codes(Reason)


def contradictions() -> str:
    """Every code that stops a value."""
    return _codes(Contradiction)


def doubts() -> str:
    """Every code that stops nothing by itself."""
    return _codes(Doubt, Scatter)


def _codes(*literals: Any) -> str:
    return ", ".join(f"`{code}`" for literal in literals for code in get_args(literal))


def commands() -> str:
    """Every command with its help, arguments and options."""
    parts = []
    for name, command in _walk(typer.main.get_command(app), "safepassage"):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
        rows = [f"## `{' '.join([name, *map(_argument, arguments)])}`\n"]
        rows += [(command.help or "").strip(), ""]
        rows += [f"- `{_argument(argument)}`: {argument.help}" for argument in arguments]
        rows += [f"- {_names(option)}: {option.help}" for option in options]
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
    name = str(parameter.name).upper() + ("…" if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))


def floors() -> str:
    """The floors of `streams`, from the contract that `make imports` checks, highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [streams] = [one for one in contracts if one.get("containers") == ["safepassage.streams"]]
    rows = [re.split(r"\s*[|:]\s*", floor) for floor in streams["layers"]]
    told = [", ".join(f"`{name}`: {_about(name)}" for name in row) for row in rows]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(told, 1))


def _about(name: str) -> str:
    """What a package or module of `streams` says of itself, in its first sentence."""
    folder = ROOT / "streams" / name
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    said = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
    first = re.split(r"(?<=\.)\s|:\s", " ".join(said.split("\n\n")[0].split()))[0].rstrip(".:")
    return first.replace("``", "`")


ASYNCAPI = ROOT / "docs" / "reference" / "asyncapi.json"
RELEASED = ROOT / "tests" / "streams" / "released_events.json"

MAKERS: Makers = {
    "commands": commands,
    "contradictions": contradictions,
    "doubts": doubts,
    "floors": floors,
    "personal-data": personal_data,
    "reasons": reasons,
    "settings": settings,
    "topics": topics,
    **MEASURED_TABLES,
}


def asyncapi() -> str:
    """The AsyncAPI document of all topics, as `safepassage schemas` prints it."""
    made = asyncapi_document(metadata.version("safepassage"))
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Rewrite every page whose blocks differ, and the AsyncAPI document. With ``--released``, take
    the schemas of the events as those that every later version has to read."""
    ASYNCAPI.write_text(asyncapi(), encoding="utf-8")
    if "--released" in sys.argv:
        schemas = json.loads(asyncapi())["components"]["schemas"]
        RELEASED.write_text(json.dumps(schemas, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, MAKERS)
        if after != before:
            page.write_text(after, encoding="utf-8")
            sys.stdout.write(f"wrote {page}\n")


if __name__ == "__main__":
    main()
