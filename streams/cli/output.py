"""Where commands write: results to stdout, complaints to stderr."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from safepassage.schemas import Document, Event

from ..runtime.errors import OperatorError

if TYPE_CHECKING:
    from safepassage.agents.intake.limits import OcrUse

complain = Console(stderr=True, highlight=False, markup=False)
PLAIN_WIDTH = 150  # of tables in files and pipes


def open_outputs(*, files: Iterable[Path | None] = (), folders: Iterable[Path | None] = ()) -> None:
    """See that the outputs of a command can be written, before it pays for a call or computes.

    Makes folders that are missing. A file that is there keeps its content, and none is made."""
    for path in filter(None, files):
        with _for_operator(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if path.is_file():
                path.open("ab").close()
            elif not path.exists():  # a pipe would end with the first who closes it
                _try(path.parent)
    for path in filter(None, folders):
        with _for_operator(path):
            path.mkdir(parents=True, exist_ok=True)
            _try(path)


def _try(folder: Path) -> None:
    tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def _for_operator(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OperatorError(f"cannot write {path}: {error.strerror}") from error


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")


def print_tables(tables: Iterable[Table]) -> None:
    console = Console(markup=False)
    if not console.is_terminal:
        console = Console(markup=False, width=PLAIN_WIDTH)
    for table in tables:
        console.print(table)


def print_table(
    title: str | None,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    texts: Collection[int] = (0,),
) -> None:
    """Print ``rows``; the columns ``texts`` hold words, the others figures."""
    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at in texts else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    print_tables([table])


def file_or_stdout(path: Path | None) -> AbstractContextManager[BinaryIO]:
    return path.open("wb") if path else nullcontext(sys.stdout.buffer)


def write_figures(path: Path | None, figures: BaseModel | Sequence[BaseModel]) -> None:
    if path is None:
        return
    if isinstance(figures, BaseModel):
        text = figures.model_dump_json(indent=2)
    else:
        text = "[" + ",\n".join(one.model_dump_json(indent=1) for one in figures) + "]"
    path.write_text(text + "\n", encoding="utf-8")


def tell_uncompared(pdfs: int, use: OcrUse) -> None:
    """That the fonts of ``pdfs`` documents may lie, where no page was read to compare them."""
    from safepassage.agents.intake.limits import ocr_is_installed

    if not pdfs or (use != "never" and ocr_is_installed()):
        return
    why = "SAFEPASSAGE_OCR is `never`" if use == "never" else "pip install 'safepassage[ocr]'"
    complain.print(f"fonts not compared with what pages show, in {pdfs} PDF: {why}", soft_wrap=True)


def has_fonts(document: Event) -> bool:
    """Whether a document's words are those of a PDF itself, and not an OCR's."""
    return (
        isinstance(document, Document)
        and document.original is not None
        and document.original.media_type == "application/pdf"
        and document.layout is not None
        and any(region.confidence is None for region in document.layout.regions)
    )


def tell_omissions(document: Event) -> None:
    """What of a document's file is not in its text, by page and kind, never by word."""
    if not isinstance(document, Document) or document.original is None:
        return
    for omission in document.original.omissions:
        place = document.id if omission.page is None else f"{document.id} page {omission.page + 1}"
        unit = "pictures" if omission.kind == "picture" else "characters"
        left_out = f"{omission.characters} {unit}, {omission.kind}"
        complain.print(f"left out of {place}: {left_out}", soft_wrap=True)
