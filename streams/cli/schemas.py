"""``schemas``: what the topics carry, for readers in other languages."""

import json
from importlib import metadata
from typing import Annotated

from typer import Argument

from .output import print_line


def schemas(
    event: Annotated[
        str | None, Argument(help="An event, such as Verdict; all topics if left out.")
    ] = None,
) -> None:
    """Print the JSON Schema of one kind of event, or an AsyncAPI 3 document of all topics."""
    from ..asyncapi import asyncapi_document, event_schema

    made = event_schema(event) if event else asyncapi_document(metadata.version("safepassage"))
    print_line(json.dumps(made, indent=2, ensure_ascii=False))
