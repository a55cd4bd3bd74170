"""``up``: the demo's stack, left running."""

from __future__ import annotations

# ruff: noqa: PLC0415 - each command imports what it uses: `--help` must not wait for models


def up() -> None:
    """Start the same stack and leave it running, with the review console."""
    from safepassage.streams.demo.run import run_up

    run_up()
