"""``rollback``: back to the scorer before."""

from __future__ import annotations

import asyncio

from streams.cli.output import print_line
from streams.cli.signature import By, Reason, named, signature
from streams.settings import settings

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def rollback(by: By = None, reason: Reason = "") -> None:
    """Make the scorer live again that was live before the last promotion."""
    from streams.release.promotion import rollback as roll_back

    release = asyncio.run(roll_back(settings(), signature(by, reason)))
    print_line(f"live: {named(release)}")
