"""``keys create`` and ``keys rewrap``: what seals records about documents."""

import asyncio

import typer

from safepassage.streams.cli.output import print_line
from safepassage.streams.settings import settings

keys_app = typer.Typer(
    help="Keys that seal records, so that deleting them erases.", no_args_is_help=True, name="keys"
)


@keys_app.command("create")
def create() -> None:
    """Make the keys of documents, once, wrapped by the first key of SAFEPASSAGE_KEYS_FILE."""
    from safepassage.streams.privacy.keys import create_keys

    name = asyncio.run(create_keys(settings()))
    print_line(f"keys made, wrapped by {name}: back up the file and the topic keys apart")


@keys_app.command("rewrap")
def rewrap() -> None:
    """Wrap all keys under the first key of SAFEPASSAGE_KEYS_FILE, to retire the others."""
    from safepassage.streams.privacy.keys import rewrap_keys

    count, name = asyncio.run(rewrap_keys(settings()))
    print_line(f"{count} keys wrapped by {name}; the other lines can go after a day")
