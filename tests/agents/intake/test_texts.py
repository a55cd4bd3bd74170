"""Word, web pages and e-mail: what a reader of them sees, tables that can be looked up."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from typing import Any

import pytest

from safepassage.agents.intake import css_rules
from safepassage.agents.intake.docx import read_docx
from safepassage.agents.intake.file_import import read_file
from safepassage.agents.intake.html import read_html
from safepassage.agents.intake.limits import Limits, Refused
from safepassage.agents.intake.mail import attachment, read_mail
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


SHOWN = [
    "<p style='opacity:0.9'>9,999</p>",
    "<p style='opacity:.5'>9,999</p>",
    "<p style='opacity:20%'>9,999</p>",
    "<p style='color:#fff;background:#000'>9,999</p>",
    "<p style='font-size:.9em'>9,999</p>",
    "<p style='font-size:1em'>9,999</p>",
    "<p style='font-size:1.5rem'>9,999</p>",
    "<p style='font-size:1.25vw'>9,999</p>",
    "<p style='font-size:100%'>9,999</p>",
    "<p style='font-size:4px'>9,999</p>",
    "<p style='font-size:clamp(1rem, 2vw, 3rem)'>9,999</p>",
    "<p style='font-size:calc(var(--size) * 1)'>9,999</p>",
    "<p style='font: 12px/1 serif'>9,999</p>",
    "<p style='font: 1em/0 serif'>9,999</p>",
    "<p style='font: bold 1.2rem/1.5 sans-serif'>9,999</p>",
    "<p style='font-size:nonsense'>9,999</p>",
    "<ul style='font-size:0'><li style='font-size:14px'>9,999</li></ul>",
    "<div style='font-size:1px'><p style='font-size:1rem'>9,999</p></div>",
    "<div style='visibility:hidden'><p style='visibility:visible'>9,999</p></div>",
    "<p style='display:none;display:block'>9,999</p>",
    "<p style='display:block;display:nonsense'>9,999</p>",
    "<p hidden style='display:block'>9,999</p>",
    "<p style='left:-20px'>9,999</p>",
    "<p style='text-indent:-2em'>9,999</p>",
    "<p style='margin-left:-15px'>9,999</p>",
    "<p style='margin-top:-120px'>9,999</p>",
    "<p style='left:50%;margin-left:-300px'>9,999</p>",
    "<p style='color:#767676'>9,999</p>",
    "<p style='color:#ddd'>9,999</p>",
    "<p style='color:rgba(0,0,0,.3)'>9,999</p>",
    "<div style='background:#000080'><p style='color:white'>9,999</p></div>",
    "<div style='background:url(a.png)'><p style='color:white'>9,999</p></div>",
    "<div style='background:linear-gradient(red, blue)'><p style='color:white'>9,999</p></div>",
    "<div style='background:var(--dark)'><p style='color:white'>9,999</p></div>",
    "<p style='color:var(--text)'>9,999</p>",
    "<table><tr><td bgcolor='000080'><font color='#FFFFFF'>9,999</font></td></tr></table>",
    "<div style='color:white'><input value='9,999'></div>",
    "<p style='clip:rect(0,100px,20px,0)'>9,999</p>",
    "<p style='clip-path:inset(10% 5%)'>9,999</p>",
    "<p style='height:0'>9,999</p>",
    "<p style='max-height:20px;overflow:hidden'>9,999</p>",
    "<p style='min-width:0'>9,999</p>",
    "<p style='background:none'>9,999</p>",
]


@pytest.mark.parametrize("shown", SHOWN)
def test_a_web_page_gives_what_only_looks_hidden(shown: str) -> None:
    text, omitted = read_html((PAGE % shown).encode(), LIMITS)
    assert "9,999" in text
    assert not omitted


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='font-size:.1em'>9,999</p>",
        "<p style='font-size:3px'>9,999</p>",
        "<p style='font: 0/0 a'>9,999</p>",
        "<p style='font-size:calc(0px)'>9,999</p>",
        "<div style='font-size:.4em'><p style='font-size:.4em'>9,999</p></div>",
        "<p style='opacity:.05'>9,999</p>",
        "<div style='opacity:.3'><p style='opacity:.3'>9,999</p></div>",
        "<p style='color:#fefefe'>9,999</p>",
        "<p style='color:rgb(0 0 0 / 5%)'>9,999</p>",
        "<p style='background:#000'>9,999</p>",
        "<div style='background:#123456'><p style='color:#133557'>9,999</p></div>",
        "<p style='color:white;color:nonsense'>9,999</p>",
        "<p style='display:none;display:nonsense'>9,999</p>",
        "<p style='display:none!important;display:block'>9,999</p>",
        "<p style='left:-99em'>9,999</p>",
        "<p style='text-indent:-100%'>9,999</p>",
        "<p style='margin:0 0 0 -9999px'>9,999</p>",
        "<p style='clip:rect(1px,1px,1px,1px)'>9,999</p>",
        "<p style='clip-path:inset(0 100% 0 0)'>9,999</p>",
        "<p style='width:1px;height:1px;overflow:hidden'>9,999</p>",
        "<p style='display:/**/none'>9,999</p>",
        "<p style='d\\69splay:none'>9,999</p>",
        "<p hidden bgcolor='red;display:block'>9,999</p>",
    ],
)
def test_a_web_page_does_not_give_what_is_hidden_less_plainly(hidden: str) -> None:
    text, omitted = read_html((PAGE % hidden).encode(), LIMITS)
    assert "9,999" not in text
    assert omitted["hidden"] == 5


STYLED = (
    "<html><head><style>%s</style></head><body class=a><p id=p class='b c'>9,999</p></body></html>"
)


@pytest.mark.parametrize(
    ("css", "is_shown"),
    [
        ("body{font-size:1rem}", True),
        ("html{font-size:62.5%} body{font-size:1.6rem}", True),
        ("html{font-size:1px} p{font-size:1rem}", False),
        (".b{display:none} .b.c{display:block}", True),
        (".b.c{display:none} .b{display:block}", False),
        ("#p{display:none} body .b.c{display:block}", False),
        (".b{display:none!important} #p{display:block}", False),
        (":where(#p){display:none} p{display:block}", True),
        ("p:hover{display:none}", True),
        ("p::before{font-size:0;visibility:hidden}", True),
        ("q:nonsense, p{display:none}", False),
        ("body{p{display:none}}", False),
        (".b{&.c{display:none}}", False),
        ("@media print{p{display:none}}", True),
        ("@media speech, tty{p{display:none}}", True),
        ("@media not screen{p{display:none}}", True),
        ("@media screen{p{display:none}}", False),
        ("@media all{p{display:none}}", False),
        ("@media only screen and (min-width: 600px){p{display:none}}", False),
        ("@media (max-width: 600px){p{display:none}}", True),
        ("@media print, (min-width: 20em){p{display:none}}", False),
        ("@media (400px <= width < 700px){p{display:none}}", True),
        ("@media (width >= 700px){p{display:none}}", False),
        ("@media (700px < width){p{display:none}}", False),
        ("@media (min-width:1px) and (max-width:2px){p{display:none}}", True),
        ("@media not ((min-width:1px) and (max-width:2px)){p{display:none}}", False),
        ("@media (prefers-color-scheme: dark){p{color:#eee}}", True),
        ("@media (hover) or (width < 1px){p{display:none}}", False),
        ("@media (unheard-of: 1){p{display:none}}", False),
        ("p{display:none} @media (unheard-of: 1){p{display:block}}", False),
        ("p{display:none} @media (min-width: 1px){p{display:block}}", True),
        ("@media print{@media screen{p{display:none}}}", True),
        ("body{@media print{p{display:none}}}", True),
        (".b{@media screen{display:none}}", False),
        ("@supports (display: grid){p{display:none}}", False),
        ("@layer base{p{display:none}}", False),
        ("@font-face{font-size:0} @page{margin:-9999px}", True),
        ("@import 'a.css'; p{color:red}", True),
    ],
)
def test_of_the_rules_of_a_page_those_in_force_count(css: str, is_shown: bool) -> None:
    text, omitted = read_html((STYLED % css).encode(), LIMITS)
    assert (text, omitted["hidden"]) == (("9,999", 0) if is_shown else ("", 5))


def test_a_sheet_for_another_medium_is_not_obeyed() -> None:
    page = STYLED.replace("<style>", "<style media='print'>") % "p{display:none}"
    assert read_html(page.encode(), LIMITS)[0] == "9,999"


def test_a_page_that_is_hidden_whole_has_no_text() -> None:
    for css in ("html{display:none}", "body{display:none}"):
        text, omitted = read_html((STYLED % css).encode(), LIMITS)
        assert (text, omitted["hidden"]) == ("", 5)


@pytest.mark.parametrize(
    ("css", "reason"), [("p{color:red}" * 9, "style rules"), (".a{&&" * 9, "a selector of")]
)
def test_styles_without_end_are_refused(monkeypatch, css: str, reason: str) -> None:
    monkeypatch.setattr(css_rules, "_MAX_RULES", 8)
    monkeypatch.setattr(css_rules, "_MAX_SELECTOR", 50)
    with pytest.raises(Refused, match=reason):
        read_html((STYLED % css).encode(), LIMITS)


def test_a_page_whose_rules_nest_without_end_is_refused() -> None:
    raw = (STYLED % ("p{" * 3_000)).encode()
    assert read_file("a.html", raw, LIMITS).refused[0].reason == "is nested without end"


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
