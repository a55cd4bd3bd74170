"""``rollback``: back to the scorer before."""

import asyncio
from typing import Annotated

import typer

from safepassage.streams.cli.options import By, Reason, named
from safepassage.streams.cli.output import print_line
from safepassage.streams.settings import settings


def rollback(
    *,
    to: Annotated[
        str | None,
        typer.Option(help="Only where the topic has lost which scorer is live: this one."),
    ] = None,
    by: By = "",
    reason: Reason = "",
) -> None:
    """Make the scorer live again that was live before the last promotion."""
    from safepassage.scoring_worker import load_scorer
    from safepassage.streams.release import promotion

    signed = promotion.Signature(by, reason)
    if to is None:
        release = asyncio.run(promotion.rollback(settings(), signed))
    else:
        scorer = promotion.absolute(to)
        release = asyncio.run(promotion.reinstate(settings(), scorer, load_scorer, signed))
    print_line(f"live: {named(release)}")
