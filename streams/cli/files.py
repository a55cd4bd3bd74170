"""``files``: the documents of files, by id."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..settings import settings
from .output import complain, print_line

if TYPE_CHECKING:
    from safepassage.files import Rejected


def files(
    paths: Annotated[
        list[Path], Argument(help="Files and folders, as `submit` and `check` take them.")
    ],
    text: Annotated[
        bool,
        Option(
            "--text", help='Print {"id", "text"}, for an LLM of yours and for `check --documents`.'
        ),
    ] = False,
) -> None:
    """Print a JSON line for each document of files: its id, and what it is.

    The ids alone take no OCR. Exits 1 if a file was refused.
    """
    from safepassage.files import Rejected

    refused = 0
    for row in _texts(paths) if text else _ids(paths):
        if isinstance(row, Rejected):
            refused += 1
            complain.print(f"refused {row}", soft_wrap=True)
        else:
            print_line(json.dumps(row, ensure_ascii=False))
    if refused:
        raise typer.Exit(1)


def _ids(paths: list[Path]) -> Iterator[dict[str, str] | Rejected]:
    from ..offline.documents import document_ids

    for found in document_ids(paths, settings()):
        yield {"id": found[0], "media_type": found[1]} if isinstance(found, tuple) else found


def _texts(paths: list[Path]) -> Iterator[dict[str, str] | Rejected]:
    from safepassage.files import Rejected

    from ..offline.documents import read_documents

    for found in read_documents(paths, settings()):
        yield found if isinstance(found, Rejected) else {"id": found.id, "text": found.text}
