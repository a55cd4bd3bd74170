"""``demo``: the whole flow, once, on embedded servers."""

from typing import Annotated

from typer import Option


def demo(
    keep: Annotated[
        bool, Option("--keep", help="Leave the verdicts as JSON lines in ./var/demo.")
    ] = False,
) -> None:
    """Run the whole flow on an embedded broker and Redis, with bundled documents."""
    from ..demo.run import run_demo

    run_demo(keep=keep)


def up(
    empty: Annotated[
        bool, Option("--empty", help="Without the bundled documents, for yours and for your LLM.")
    ] = False,
) -> None:
    """Start an embedded broker, Redis, every role and the review console, and keep them running."""
    from ..demo.run import run_up

    run_up(empty=empty)
