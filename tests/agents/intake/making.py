"""Files for the tests, made here: nothing of others stands in the repository."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("pypdfium2", reason="needs the extra `files`")
canvas = pytest.importorskip("reportlab.pdfgen.canvas", reason="needs reportlab")

A4 = (595.0, 842.0)
Draw = Callable[[Any], None]


def pdf(*pages: Draw, size: tuple[float, float] = A4, **options: Any) -> bytes:
    """A PDF whose pages are drawn by ``pages``, each on a fresh canvas state."""
    written = io.BytesIO()
    drawn = canvas.Canvas(written, pagesize=size, **options)
    for draw in pages:
        drawn.setFont("Helvetica", 11)
        draw(drawn)
        drawn.showPage()
    drawn.save()
    return written.getvalue()


def lines(*texts: str, left: float = 60, top: float = 780, step: float = 16) -> Draw:
    """Draws each text on a line of its own."""

    def draw(page: Any) -> None:
        for number, text in enumerate(texts):
            page.drawString(left, top - number * step, text)

    return draw


def table(
    rows: Sequence[Sequence[str]], lefts: Sequence[float], top: float = 700, step: float = 18
) -> Draw:
    """Draws rows of cells at fixed columns."""

    def draw(page: Any) -> None:
        for number, row in enumerate(rows):
            for left, cell in zip(lefts, row, strict=True):
                page.drawString(left, top - number * step, cell)

    return draw


def scan(raw: bytes, *, dots: int = 150, turn: float = 0) -> bytes:
    """The first page of a PDF as a PNG, turned anticlockwise."""
    pypdfium2 = pytest.importorskip("pypdfium2")
    page = pypdfium2.PdfDocument(raw)[0]
    image = page.render(scale=dots / 72).to_pil().convert("L")
    image = image.rotate(turn, expand=True, fillcolor=255, resample=3 if turn % 90 else 0)
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
