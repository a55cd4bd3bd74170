"""``demo``: the whole flow, once, on embedded servers."""

from typing import Annotated

import typer


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the verdicts as JSON lines in ./var/demo.")
    ] = False,
) -> None:
    """Run the whole flow on an embedded broker and Redis, with bundled documents."""
    from safepassage.streams.demo.run import run_demo

    run_demo(keep=keep)
