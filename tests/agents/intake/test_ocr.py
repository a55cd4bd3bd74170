"""Scans: however they lie, the words and their boxes are those of the page."""

from __future__ import annotations

import io
from typing import Any

import pytest

from safepassage.agents.intake.composition import compose
from safepassage.agents.intake.images import read_image
from safepassage.agents.intake.limits import Limits, Refused
from safepassage.agents.intake.ocr import Reader
from safepassage.agents.intake.pdf import read_pdf
from safepassage.schemas import Layout
from tests.agents.intake.making import lines, pdf, scan

TEXT = ["The tenant is Ann Lee of Harbour Street.", "The monthly rent is £1,250."]
SMALL = (300.0, 90.0)
LIMITS = Limits()


def typed() -> bytes:
    return pdf(lines(*TEXT, left=25, top=60, step=22), size=SMALL)


def words_of(layout: Layout, text: str) -> dict[str, tuple[float, ...]]:
    return {text[r.start : r.end]: (r.left, r.top, r.right, r.bottom) for r in layout.regions}


@pytest.mark.parametrize("turn", [0, pytest.param(3, marks=pytest.mark.long)])
def test_words_of_a_scan_stand_where_the_page_has_them(turn: float) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    limits = Limits(ocr="never")
    truth = compose(read_pdf(typed(), limits, Reader(limits)), limits)
    found = compose(read_image(scan(typed(), turn=turn), LIMITS, Reader(LIMITS)), LIMITS)
    assert found.text == truth.text
    expected, read = words_of(truth.layout, truth.text), words_of(found.layout, found.text)
    if turn == 0:
        for word, box in expected.items():
            assert read[word] == pytest.approx([edge * 150 / 72 for edge in box], abs=2.5)
    assert min(r.confidence or 0 for r in found.layout.regions) > 0.8


@pytest.mark.long
@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_scan_that_lies_on_its_side_or_head_reads_as_upright(turn: int) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    found = compose(read_image(scan(typed(), turn=turn), LIMITS, Reader(LIMITS)), LIMITS)
    assert found.text == "\n".join(TEXT)


def image(**options: Any) -> bytes:
    pillow = pytest.importorskip("PIL.Image")
    written = io.BytesIO()
    pillow.new("1", options.pop("size", (40, 40)), 1).save(written, options.pop("format", "PNG"))
    return written.getvalue()


def refusal(raw: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(Refused) as caught:
        compose(read_image(raw, limits, Reader(limits)), limits)
    return str(caught.value)


def test_an_image_of_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    assert "more than 1000 pixels" in refusal(image(), Limits(page_pixels=1000))


def test_a_damaged_image_is_refused() -> None:
    assert "damaged" in refusal(image()[:40])


def test_ocr_that_is_off_is_said() -> None:
    assert "SAFEPASSAGE_OCR" in refusal(image(), Limits(ocr="never"))


def test_more_pages_than_allowed_are_refused() -> None:
    with pytest.raises(Refused, match="more than 0 pages need OCR"):
        Reader(Limits(ocr_pages=0)).read(None, None, "page 1")  # type: ignore[arg-type]
