"""Arguments that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

LabelledAnswers = Annotated[
    list[Path], typer.Argument(metavar="DATASET...", help="JSON lines (.gz) of labelled answers.")
]
