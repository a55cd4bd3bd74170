"""Who releases a scorer, and how a release is told."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from safepassage.schemas import ScorerRelease
    from safepassage.streams.release.promotion import Signature

By = Annotated[str | None, typer.Option("--by", help="Who releases; your login if omitted.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for those who read it later.")]


def signature(by: str | None, reason: str) -> Signature:
    """Who releases and why; the login where no name is given."""
    from safepassage.streams.release.promotion import Signature

    return Signature(by or getpass.getuser(), reason)


def named(release: ScorerRelease) -> str:
    """A release in one line, for the operator."""
    if release.scorer is None:
        return "none"
    return f"{release.scorer}, revision {release.revision}, by {release.released_by}"
