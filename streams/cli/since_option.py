"""The option ``--since``."""

from datetime import UTC, datetime
from typing import Annotated

import typer

Since = Annotated[
    datetime | None,
    typer.Option(
        "--since", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="From this time (UTC) on."
    ),
]


def utc(when: datetime | None) -> datetime | None:
    """The same moment with its time zone: the option is in UTC."""
    return when.replace(tzinfo=UTC) if when else None
