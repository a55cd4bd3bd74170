"""``up``: the demo's stack, left running."""

from __future__ import annotations


def up() -> None:
    """Start an embedded broker, Redis, every role and the review console, and keep them running."""
    from safepassage.streams.demo.run import run_up

    run_up()
