"""The commands of a clone: ``python -m research``."""

import typer

from .answers import answers
from .detectors import detectors
from .experiments import experiments_app
from .groundedness import groundedness_app
from .ragulator import ragulator_app
from .regime import regime

app = typer.Typer(
    name="python -m research",
    help="What measures the papers, on labelled data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (answers, regime, detectors):
    app.command()(command)
for group in (experiments_app, groundedness_app, ragulator_app):
    app.add_typer(group)
