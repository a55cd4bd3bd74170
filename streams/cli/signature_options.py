"""Who does what a command does, and why."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from safepassage.schemas import ScorerRelease

By = Annotated[
    str,
    typer.Option(
        "--by",
        help="Who does it; your login if omitted.",
        callback=lambda given: given or getpass.getuser(),
        show_default=False,
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why, for those who read it later.")]


def named(release: ScorerRelease) -> str:
    """A release in one line, for the operator."""
    if release.scorer is None:
        return "none"
    return f"{release.scorer}, revision {release.revision}, by {release.released_by}"
