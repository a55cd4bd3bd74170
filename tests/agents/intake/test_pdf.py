"""PDF: what a person sees, and nothing else."""

from __future__ import annotations

import io
from typing import Any

import pytest

from safepassage.agents.intake.composition import Composition, compose
from safepassage.agents.intake.limits import Limits, Refused
from safepassage.agents.intake.ocr import Reader
from safepassage.agents.intake.pdf import read_pdf
from tests.agents.intake.making import lines, pdf, table

LIMITS = Limits(ocr="never")
SEEN = "The monthly rent is £1,250 for the house."


def imported(raw: bytes, limits: Limits = LIMITS) -> Composition:
    return compose(read_pdf(raw, limits, Reader(limits)), limits)


def omitted(composition: Composition) -> dict[str, int]:
    return {omission.kind: omission.characters for omission in composition.omissions}


def box_of(composition: Composition, words: str) -> tuple[float, ...]:
    at = composition.text.index(words)
    (box,) = composition.layout.boxes(at, at + len(words))
    return box


def test_lines_come_with_boxes_in_points_from_the_top_left() -> None:
    found = imported(pdf(lines(SEEN, "And a second line.")))
    assert found.text == f"{SEEN}\nAnd a second line."
    page, left, top, right, bottom = box_of(found, "monthly rent")
    assert page == 0
    assert 80 < left < 85
    assert right == pytest.approx(left + 61, abs=4)
    assert bottom == pytest.approx(842 - 780 + 3, abs=2)  # the tail of the y
    assert top == pytest.approx(842 - 780 - 8, abs=2)
    assert found.layout.confidence(0, 10) is None


def white(page: Any) -> None:
    page.setFillColorRGB(1, 1, 1)
    page.drawString(60, 700, "white 9,999")


def faint(page: Any) -> None:
    page.setFillColorRGB(0.97, 0.97, 0.97)
    page.drawString(60, 700, "faint 9,999")


def tiny(page: Any) -> None:
    page.setFont("Helvetica", 1)
    page.drawString(60, 700, "tiny 9,999")


def off_page(page: Any) -> None:
    page.drawString(-400, 700, "beside 9,999")


def covered(page: Any) -> None:
    page.drawString(60, 700, "covered 9,999")
    page.setFillColorRGB(1, 1, 1)
    page.rect(50, 690, 300, 30, fill=1, stroke=0)


def on_black(page: Any) -> None:
    page.rect(50, 690, 300, 30, fill=1, stroke=0)
    page.drawString(60, 700, "black on black 9,999")


def without_ink(page: Any) -> None:
    text = page.beginText(60, 700)
    text.setTextRenderMode(3)
    text.textLine("no ink 9,999")
    page.drawText(text)


def clipped(page: Any) -> None:
    path = page.beginPath()
    path.rect(0, 0, 10, 10)
    page.clipPath(path, stroke=0)
    page.drawString(60, 700, "clipped 9,999")


def transparent(page: Any) -> None:
    page.setFillAlpha(0)
    page.drawString(60, 700, "transparent 9,999")


@pytest.mark.parametrize(
    "hide", [white, faint, tiny, off_page, covered, on_black, without_ink, clipped, transparent]
)
def test_what_nobody_sees_is_left_out_and_said(hide: Any) -> None:
    def page(drawn: Any) -> None:
        lines(SEEN)(drawn)
        hide(drawn)

    found = imported(pdf(page))
    assert found.text == SEEN
    assert sum(omitted(found).values()) >= 9
    assert found.omissions[0].page == 0


def test_white_text_on_a_dark_ground_is_seen() -> None:
    def page(drawn: Any) -> None:
        drawn.rect(50, 690, 300, 30, fill=1, stroke=0)
        drawn.setFillColorRGB(1, 1, 1)
        drawn.drawString(60, 700, SEEN)

    assert imported(pdf(page)).text == SEEN


def test_two_texts_in_one_place_are_neither() -> None:
    def page(drawn: Any) -> None:
        lines(SEEN)(drawn)
        drawn.drawString(60, 700, "1,111")
        drawn.drawString(60, 700, "2,222")

    found = imported(pdf(page))
    assert found.text == SEEN
    assert omitted(found).keys() == {"overprinted"}


def test_one_text_printed_twice_is_one() -> None:
    def page(drawn: Any) -> None:
        for shift in (0, 0.3):
            drawn.drawString(60 + shift, 700, SEEN)

    assert imported(pdf(page)).text == SEEN


def test_a_table_is_rows_of_cells() -> None:
    rows = [("Charge", "Amount", "Due"), ("Rent", "£1,250", "1 May"), ("Deposit", "£2,500", "")]
    found = imported(pdf(table(rows, (60, 220, 380))))
    assert found.text == "Charge\tAmount\tDue\nRent\t£1,250\t1 May\nDeposit\t£2,500\t"


def test_a_filled_form_shows_its_values() -> None:
    def page(drawn: Any) -> None:
        drawn.drawString(60, 700, "Tenant:")
        drawn.acroForm.textfield(
            name="tenant", value="Ann Lee", x=160, y=695, width=120, height=20, borderStyle="solid"
        )

    assert imported(pdf(page)).text == "Tenant: Ann Lee"


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_text_that_runs_another_way_is_read_its_way(degrees: int) -> None:
    def page(drawn: Any) -> None:
        drawn.translate(300, 400)
        drawn.rotate(degrees)
        lines(SEEN, "A second line.", left=-100, top=0)(drawn)

    assert imported(pdf(page)).text == f"{SEEN}\nA second line."


def test_pages_follow_each_other() -> None:
    found = imported(pdf(lines("First page."), lines(), lines("Third page.")))
    assert found.text == "First page.\n\nThird page."
    assert [region.page for region in found.layout.regions] == [0, 0, 2, 2]
    assert len(found.layout.pages) == 3


def picture_page(drawn: Any) -> None:
    image = pytest.importorskip("PIL.Image").new("L", (400, 400), 128)
    reader = pytest.importorskip("reportlab.lib.utils").ImageReader(image)
    drawn.drawImage(reader, 50, 300, 500, 500)


def test_a_scan_without_ocr_is_refused_and_not_empty() -> None:
    with pytest.raises(Refused, match="page 1 is a picture"):
        imported(pdf(picture_page))


def test_a_picture_that_is_not_read_is_said() -> None:
    def page(drawn: Any) -> None:
        picture_page(drawn)
        drawn.drawString(60, 200, SEEN)

    assert omitted(imported(pdf(page))) == {"picture": 1}


def test_an_encrypted_file_is_refused() -> None:
    with pytest.raises(Refused, match="password"):
        imported(pdf(lines(SEEN), encrypt="secret"))


def test_a_file_that_is_cut_short_is_refused() -> None:
    raw = pdf(lines(SEEN))
    for length in (20, len(raw) // 2, len(raw) - 10):
        with pytest.raises(Refused, match=r"cut short|damaged"):
            imported(raw[:length])


def test_too_many_pages_are_refused() -> None:
    with pytest.raises(Refused, match="has 4 pages; at most 3"):
        imported(pdf(*[lines("x")] * 4), Limits(ocr="never", pages=3))


def test_damage_inside_is_refused_or_read_and_raises_nothing_else() -> None:
    raw = pdf(lines(SEEN), pageCompression=1)
    for at in range(0, len(raw) - 40, 97):
        spoiled = raw[:at] + bytes(byte ^ 0x5A for byte in raw[at : at + 12]) + raw[at + 12 :]
        try:
            imported(spoiled)
        except Refused:
            continue


def test_a_page_tree_that_names_itself_ends() -> None:
    raw = b"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>> endobj
trailer <</Root 1 0 R>>
%%EOF"""
    with pytest.raises(Refused):
        imported(raw)


@pytest.mark.long
def test_ten_thousand_pages_are_refused_by_default() -> None:
    with pytest.raises(Refused, match="has 10000 pages"):
        imported(pdf(*[lines("x")] * 10_000))


def lying_font() -> str:
    """DejaVu Sans whose figures show one less than they say."""
    tools = pytest.importorskip("fontTools.ttLib")
    fonts = pytest.importorskip("reportlab.pdfbase.ttfonts")
    metrics = pytest.importorskip("reportlab.pdfbase.pdfmetrics")
    path = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
    try:
        font = tools.TTFont(path)
    except OSError:
        pytest.skip("needs the DejaVu fonts: apt-get install fonts-dejavu-core")
    known = dict(font.getBestCmap())
    for subtable in font["cmap"].tables:
        for figure in range(ord("1"), ord("9") + 1):
            if figure in subtable.cmap:
                subtable.cmap[figure] = known[figure - 1]
    written = io.BytesIO()
    font.save(written)
    written.seek(0)
    metrics.registerFont(fonts.TTFont("Lying", written))
    return "Lying"


def test_a_font_that_shows_other_figures_than_it_says_is_caught() -> None:
    pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    name = lying_font()

    def page(drawn: Any) -> None:
        drawn.drawString(60, 250, "The tenant pays the rent to the landlord.")
        drawn.setFont(name, 11)
        drawn.drawString(60, 230, "The rent is 2,361 pounds.")

    limits = Limits()
    raw = pdf(page, size=(420, 300))
    found = compose(read_pdf(raw, limits, Reader(limits)), limits)
    assert "2,361" not in found.text
    assert "1,250" in found.text
    assert "tenant pays the rent" in found.text
    assert omitted(found)["contradicted"] >= 5
