"""``up``: the demo's stack, left running."""

from __future__ import annotations


def up() -> None:
    """Start the same stack and leave it running, with the review console."""
    from safepassage.streams.demo.run import run_up

    run_up()
