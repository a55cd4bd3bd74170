"""Where commands write: results to stdout, complaints to stderr."""

from __future__ import annotations

import sys

from rich.console import Console

complain = Console(stderr=True, highlight=False)


def print_line(text: str) -> None:
    """One line of a command's result on stdout."""
    sys.stdout.write(text + "\n")
