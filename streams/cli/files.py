"""``files``: the documents of files, by id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safepassage.streams.cli.output import complain, print_line
from safepassage.streams.settings import settings

if TYPE_CHECKING:
    from safepassage.schemas import Document


def files(
    paths: Annotated[
        list[Path], typer.Argument(help="Files and folders, as `submit` and `check` take them.")
    ],
    text: Annotated[
        bool,
        typer.Option(
            "--text", help='Print {"id", "text"}, for an LLM of yours and for `check --documents`.'
        ),
    ] = False,
) -> None:
    """Print a JSON line for each document of files: its id, and what it is.

    The ids alone take no OCR. Exits 1 if a file was refused.
    """
    from safepassage.schemas import Document
    from safepassage.streams.offline.documents import read_documents
    from safepassage.streams.offline.files import Rejected

    chosen = settings() if text else settings().model_copy(update={"ocr": "never"})
    refused = 0
    for found in read_documents(paths, chosen, empty=not text):
        if isinstance(found, Rejected):
            refused += 1
            complain.print(f"refused {found}", markup=False, soft_wrap=True)
        elif isinstance(found, Document):
            print_line(json.dumps(_row(found, text), ensure_ascii=False))
    if refused:
        raise typer.Exit(1)


def _row(document: Document, text: bool) -> dict[str, object]:
    if text:
        return {"id": document.id, "text": document.text}
    original = document.original
    return {
        "id": document.id,
        "characters": len(document.text),
        "media_type": original.media_type if original else "text/plain",
    }
