"""`submit` says where fonts were taken at their word, and is silent where they were not."""

from __future__ import annotations

import pytest

from safepassage.agents.intake import limits
from safepassage.schemas import Document, Layout, Original, PageSize, Region
from safepassage.streams.cli import output
from safepassage.streams.cli.output import has_fonts, tell_uncompared

PDF = "application/pdf"


def document(media_type: str = PDF, confidence: float | None = None) -> Document:
    region = Region(0, 4, 0, 1, 1, 2, 2, confidence)
    return Document(
        id="a",
        text="Rent",
        layout=Layout(pages=(PageSize(10, 10),), regions=(region,)),
        original=Original(uri="a", digest="0" * 64, media_type=media_type),
    )


def test_only_a_pdf_with_text_of_its_own_has_fonts() -> None:
    assert has_fonts(document())
    assert not has_fonts(document(confidence=0.9))
    assert not has_fonts(document("image/png"))
    assert not has_fonts(document().model_copy(update={"layout": None}))
    assert not has_fonts(Document(id="a", text="Rent"))


@pytest.mark.parametrize(
    ("installed", "use", "pdfs", "said"),
    [
        (False, "needed", 2, "in 2 PDF: pip install 'safepassage[ocr]'"),
        (False, "always", 1, "in 1 PDF: pip install 'safepassage[ocr]'"),
        (True, "never", 1, "in 1 PDF: SAFEPASSAGE_OCR is `never`"),
        (True, "needed", 2, ""),
        (False, "needed", 0, ""),
    ],
)
def test_fonts_that_were_not_compared_are_said_with_the_way_to_compare_them(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    installed: bool,
    use: limits.OcrUse,
    pdfs: int,
    said: str,
) -> None:
    monkeypatch.setattr(limits, "ocr_is_installed", lambda: installed)
    monkeypatch.setattr(output, "complain", output.Console(stderr=True, markup=False))
    tell_uncompared(pdfs, use)
    told = capsys.readouterr().err
    assert told.endswith(f"{said}\n") if said else not told
