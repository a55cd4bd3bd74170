"""Word, web pages and e-mail: what a reader of them sees, tables that can be looked up."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from typing import Any

import pytest

from safepassage.agents.intake.docx import read_docx
from safepassage.agents.intake.html import read_html
from safepassage.agents.intake.limits import Limits, Refused
from safepassage.agents.intake.mail import attachment, read_mail
from safepassage.agents.intake.reading import read_file
from safepassage.passages.surroundings import DocumentLayout
from safepassage.schemas import Span

docx = pytest.importorskip("docx", reason="needs the extra `files`")
LIMITS = Limits(ocr="never")
ROWS = [["Charge", "Amount", "Due"], ["Rent", "£1,250", "1 May"], ["Deposit", "£2,500", "1 June"]]


def names(text: str, cell: str) -> tuple[str, str]:
    """The label of the row and the head of the column of ``cell``."""
    at = text.index(cell)
    (around,) = DocumentLayout(text).around([Span(start=at, end=at + len(cell), text=cell)])
    assert around.label is not None
    assert around.column is not None
    return around.label.text, around.column.text


def word_file(build: Any) -> bytes:
    document = docx.Document()
    build(document)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def test_word_gives_paragraphs_and_tables_in_order() -> None:
    def build(document: Any) -> None:
        document.add_heading("The lease", 1)
        document.add_paragraph("The tenant is Ann Lee.")
        table = document.add_table(3, 3)
        for row, cells in zip(table.rows, ROWS, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
        document.add_paragraph("Signed in Leeds.")

    text, omitted = read_docx(word_file(build), LIMITS)
    assert text.splitlines() == [
        *("The lease", "", "The tenant is Ann Lee.", ""),
        *("Charge\tAmount\tDue", "Rent\t£1,250\t1 May", "Deposit\t£2,500\t1 June", ""),
        "Signed in Leeds.",
    ]
    assert names(text, "£2,500") == ("Deposit", "Amount")
    assert not omitted


def test_word_leaves_out_what_it_hides() -> None:
    def build(document: Any) -> None:
        paragraph = document.add_paragraph("The rent is £1,250.")
        hidden = paragraph.add_run(" No: £9,999.")
        hidden.font.hidden = True
        white = paragraph.add_run(" Or £8,888.")
        white.font.color.rgb = docx.shared.RGBColor(255, 255, 255)
        tiny = paragraph.add_run(" Or £7,777.")
        tiny.font.size = docx.shared.Pt(1)

    text, omitted = read_docx(word_file(build), LIMITS)
    assert text == "The rent is £1,250."
    assert omitted["hidden"] == 34


def test_word_merges_name_every_row_they_span() -> None:
    def build(document: Any) -> None:
        table = document.add_table(3, 2)
        cells = [["Charge", "Amount"], ["Rent", "£1,250"], ["", "£2,500"]]
        for row, texts in zip(table.rows, cells, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
        table.cell(1, 0).merge(table.cell(2, 0))

    text, _ = read_docx(word_file(build), LIMITS)
    assert names(text, "£2,500") == ("Rent", "Amount")


def test_a_word_bomb_is_refused_unopened() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 30_000_000)
    with pytest.raises(Refused, match="bomb"):
        read_docx(written.getvalue(), LIMITS)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted"),
        (b"PK\x03\x04 word/ and then nothing", "damaged"),
    ],
)
def test_what_is_no_word_file_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read_docx(raw, LIMITS)


PAGE = """<!doctype html><html><head><title>x</title><style>
.gone { display: none } p > em { visibility:hidden } /* .kept{display:none} */
</style></head><body><h1>Offer</h1><p class="kept">The rent is <b>£1,250</b>.</p>
%s
<table><tr><th>Charge</th><th>Amount</th></tr><tr><td rowspan=2>Rent</td><td>£1,250</td></tr>
<tr><td>£2,500</td></tr></table><script>alert(1)</script></body></html>"""


def test_a_web_page_gives_what_a_browser_shows() -> None:
    text, omitted = read_html((PAGE % "").encode(), LIMITS)
    assert text == "Offer\n\nThe rent is £1,250.\n\nCharge\tAmount\nRent\t£1,250\nRent\t£2,500"
    assert names(text, "£2,500") == ("Rent", "Amount")
    assert not omitted


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>9,999</p>",
        "<p class='gone'>9,999</p>",
        "<p><em>9,999</em></p>",
        "<p style='display:none'>9,999</p>",
        "<p style='DISPLAY : none !important'>9,999</p>",
        "<p style='visibility:hidden'>9,999</p>",
        "<p style='opacity:0'>9,999</p>",
        "<p style='font-size:0'>9,999</p>",
        "<p style='font-size: 1px;'>9,999</p>",
        "<p style='position:absolute; left:-9999px'>9,999</p>",
        "<p style='color:#fff'>9,999</p>",
        "<p style='color: white'>9,999</p>",
        "<p><font color='#FFFFFF'>9,999</font></p>",
        "<div class='gone'><p style='display:none'>9,999</p></div>",
    ],
)
def test_a_web_page_does_not_give_what_it_hides(hidden: str) -> None:
    text, omitted = read_html((PAGE % hidden).encode(), LIMITS)
    assert "9,999" not in text
    assert "£2,500" in text
    assert omitted["hidden"] == 5


@pytest.mark.parametrize(
    "shown", ["<p style='opacity:0.9'>9,999</p>", "<p style='color:#fff;background:#000'>9,999</p>"]
)
def test_a_web_page_gives_what_only_looks_hidden(shown: str) -> None:
    text, _ = read_html((PAGE % shown).encode(), LIMITS)
    assert "9,999" in text


def test_elements_without_end_are_refused() -> None:
    with pytest.raises(Refused, match="nested"):
        read_html(b"<div>" * 3_000, LIMITS)


def mail(*attachments: tuple[str, bytes]) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "ann@example.com"
    message["To"] = "ben@example.com"
    message["Subject"] = "The lease"
    message.set_content("The rent is £1,250.\n")
    for name, raw in attachments:
        message.add_attachment(raw, maintype="application", subtype="octet-stream", filename=name)
    return message


def test_an_e_mail_and_each_attachment_is_a_document() -> None:
    inner = mail(("deep.html", b"<html><p>Deep: 7.</p>"))
    outer = mail(("page.html", b"<html><p>Price: 5.</p>"), ("bad.pdf", b"%PDF-1.4 cut"))
    outer.add_attachment(inner)
    found = read_file("a.eml", outer.as_bytes(), LIMITS)
    assert [(p.name, p.part) for p in found.parts] == [
        ("", ()),
        ("page.html", (2,)),
        ("message.eml", (4,)),
        ("message.eml/deep.html", (4, 2)),
    ]
    assert found.parts[0].text.startswith("From: ann@example.com\nTo: ben@example.com\nSubject: ")
    assert found.parts[0].text.endswith("\n\nThe rent is £1,250.")
    assert found.parts[3].text == "Deep: 7."
    assert [(r.name, r.reason) for r in found.refused] == [
        ("bad.pdf", "is cut short: the PDF has no end")
    ]
    name, raw = attachment(outer.as_bytes(), (4, 2), LIMITS)
    assert (name, raw) == ("deep.html", b"<html><p>Deep: 7.</p>")


def test_of_two_versions_of_a_body_the_one_that_is_shown_counts() -> None:
    message = mail()
    message.add_alternative("<p>The rent is <b>£9</b>.</p>", subtype="html")
    assert read_mail(message.as_bytes(), LIMITS).text.endswith("The rent is £9.")


def test_e_mails_inside_each_other_end_somewhere() -> None:
    message = mail()
    for _ in range(9):
        outer = mail()
        outer.add_attachment(message)
        message = outer
    found = read_file("a.eml", message.as_bytes(), LIMITS)
    assert len(found.parts) == LIMITS.depth
    assert [r.reason for r in found.refused] == ["is nested more than 5 deep"]


def test_more_parts_than_allowed_are_refused_one_by_one() -> None:
    many = mail(*((f"{n}.txt", b"text") for n in range(8)))
    assert read_file("a.eml", many.as_bytes(), Limits(parts=4)).refused


def test_text_that_is_no_e_mail_is_refused() -> None:
    with pytest.raises(Refused, match="no e-mail"):
        read_mail(b"just a text", LIMITS)
