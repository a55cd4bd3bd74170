"""The ``safepassage`` command: `main`, and a module for each command or a few."""

import os
import sys
from importlib import import_module, metadata
from typing import Annotated

import typer
from pydantic import ValidationError
from typer import Option

from safepassage.extras import MissingExtra, missing_extra
from safepassage.schemas.jsonl import validation_summary

from ..runtime import tracing
from ..runtime.errors import OperatorError
from ..runtime.logs import configure_command_logging
from ..runtime.threads import leave
from ..settings import settings, unknown_variables
from .output import complain, print_line

app = typer.Typer(
    name="safepassage",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = {
    **{"demo": "demo up recorded_llm", "worker": "worker doctor", "submit": "submit files"},
    **{"check": "check", "verdicts": "verdicts realignments watch compare schemas"},
    **{"evaluate": "evaluate curve", "train": "train learn", "calibrate": "calibrate"},
    **{"replay": "replay", "promote": "promote rollback shadow scorers_app"},
    **{"serve": "serve mcp", "bench": "bench"},
    **{"erase": "erase keys_app", "graph": "graph_app", "labels": "labels_app"},
    **{"audit": "audit_app", "dead_letters": "dead_letters_app"},
}
"""The commands, and groups of commands, of each module."""
for _module, _names in _COMMANDS.items():
    for _name in _names.split():
        _command = getattr(import_module(f".{_module}", __package__), _name)
        if isinstance(_command, typer.Typer):
            app.add_typer(_command)
        else:
            app.command()(_command)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print_line(f"safepassage {metadata.version('safepassage')}")
        raise typer.Exit


@app.callback()
def before_every_command(
    context: typer.Context,
    _version: Annotated[
        bool, Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decides, live, which facts an LLM extracted from documents can be trusted."""
    configure_command_logging(settings())
    for line in unknown_variables(os.environ):
        complain.print(line, soft_wrap=True)
    if settings().traces:
        from ..runtime.otel import OtelTracing

        tracing.use(OtelTracing())
        context.call_on_close(tracing.stop)


_EXTRAS = {
    **dict.fromkeys(("demo", "up", "bench"), "demo"),
    **dict.fromkeys(("evaluate", "curve", "train", "learn"), "training"),
    **dict.fromkeys(("calibrate", "graph"), "training"),
    **{"serve": "serve", "mcp": "mcp", "check": "llm"},
}
"""The extra that a command needs, where it is not "stream"."""


def main(commands: typer.Typer = app) -> None:
    """Run the command line. Expected failures are one line on stderr and exit code 1."""
    try:
        commands()
    except SystemExit as end:  # typer's own, of every command
        leave(end.code if isinstance(end.code, int) else int(end.code is not None))
    except Exception as error:
        message = _for_operator(error)
        if message is None:
            raise
        sys.stderr.write(f"safepassage: {message}\n")
        leave(1)


def _for_operator(error: Exception) -> str | None:
    """The line to print for an expected failure, or None for a defect of ours."""
    if isinstance(error, ModuleNotFoundError):
        missing = missing_extra(error, _EXTRAS.get("".join(sys.argv[1:2]), "stream"))
        return str(missing) if missing else None
    if isinstance(error, ValidationError):
        return f"a setting is wrong: {_variable(error)}{validation_summary(error)}"
    kafka = sys.modules.get("aiokafka.errors")  # which raised nothing where it was not imported
    if kafka and isinstance(error, kafka.KafkaError):
        from ..kafka.refusals import refusal

        asked = f"{error}; is KAFKA_BOOTSTRAP_SERVERS right? (`safepassage doctor` says more)"
        return f"Kafka: {refusal(error) or asked}"
    # A KeyError is a slip of ours: the errors that mean "not found" are of other types.
    expected = OperatorError | MissingExtra | OSError | ValueError | LookupError
    if isinstance(error, expected) and not isinstance(error, KeyError | IndexError):
        return " ".join(_said(error).split()) or type(error).__name__
    return None


def _said(error: Exception) -> str:
    """Its message; of a file that cannot be had the file, then why, without a number."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _variable(error: ValidationError) -> str:
    """The environment variable of a field without an alias; pydantic names aliases itself."""
    field = str(error.errors()[0]["loc"][0]) if error.title == "Settings" else ""
    return f"SAFEPASSAGE_{field.upper()}: " if field.islower() else ""
