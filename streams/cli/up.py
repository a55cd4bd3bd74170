"""``up``: the demo's stack, left running."""

from typing import Annotated

import typer


def up(
    empty: Annotated[
        bool,
        typer.Option("--empty", help="Without the bundled documents, for yours and for your LLM."),
    ] = False,
) -> None:
    """Start an embedded broker, Redis, every role and the review console, and keep them running."""
    from safepassage.streams.demo.run import run_up

    run_up(empty=empty)
