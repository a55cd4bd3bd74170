"""Where commands write: results to stdout, complaints to stderr."""

from __future__ import annotations

import sys

from rich.console import Console

from schemas import Document, Event

complain = Console(stderr=True, highlight=False)


def print_line(text: str) -> None:
    """One line of a command's result on stdout."""
    sys.stdout.write(text + "\n")


def tell_omissions(document: Event) -> None:
    """What of a document's file is not in its text, by page and kind, never by word."""
    if not isinstance(document, Document) or document.original is None:
        return
    for omission in document.original.omissions:
        place = document.id if omission.page is None else f"{document.id} page {omission.page + 1}"
        unit = "pictures" if omission.kind == "picture" else "characters"
        complain.print(
            f"left out of {place}: {omission.characters} {unit}, {omission.kind}",
            markup=False,
            soft_wrap=True,
        )
