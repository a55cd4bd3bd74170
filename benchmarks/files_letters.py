"""Thirty-odd files with truth: letters, scans, columns, tables and forms whose words are invented.

The truth is the ink: a page is drawn with a piece of evidence and without it, and where the two
differ is the evidence. Nothing of the importer takes part in it.
"""

from __future__ import annotations

import io
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

A5 = (420.0, 595.0)
TRUTH_DOTS = 216
_INK = 40  # of 255: where two drawings differ

PEOPLE = ("Ann Lee", "Ivo Marek", "Ruth Okafor", "Jonas Lind", "Mei Tanaka", "Clara Bruno")
STREETS = ("Harbour Street", "Mill Lane", "Station Road", "Orchard Row", "Castle Hill")
MONTHS = ("January", "March", "May", "July", "September", "November")

FILLER = (
    "The parties have read this letter and agree to what it says.",
    "Nothing in it changes what the law gives to either of them.",
    "The house is let with the garden and the shed behind it.",
    "Repairs of the roof and of the outer walls are for the landlord.",
    "Anyone who leaves a window open in winter pays for the damage.",
    "A copy of this letter is kept in the office at the harbour.",
)

Box = tuple[float, float, float, float]
"""Left, top, right, bottom as shares of the page's width and height."""


@dataclass(frozen=True)
class Evidence:
    """What an LLM would have extracted, and where it is: boxes by page number."""

    entity_type: str
    value: str
    quote: str
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class File:
    """A file with its evidence. ``part`` is the id of the attachment that holds it."""

    name: str
    kind: str
    raw: bytes
    evidence: tuple[Evidence, ...]
    part: str = ""


@dataclass
class Sheet:
    """A page to be drawn: words with the evidence that they belong to, and lines."""

    font: tuple[str, float]
    size: tuple[float, float] = A5
    words: list[tuple[str, float, float, str, float, str]] = field(default_factory=list)
    rules: list[tuple[float, float, float, float]] = field(default_factory=list)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    form: bool = False

    def put(self, text: str, x: float, y: float, key: str = "", larger: float = 0) -> float:
        """Words from ``x`` on; returns where the next one would begin."""
        font, size = self.font[0], self.font[1] + larger
        for word in text.split(" "):
            self.words.append((word, x, y, font, size, key))
            x += stringWidth(word + " ", font, size)
        return x

    def runs(self) -> dict[str, list[str]]:
        """The pieces that each evidence is in, by line and neighbourhood."""
        found: dict[str, list[str]] = defaultdict(list)
        for number, (_, _, _, _, _, key) in enumerate(self.words):
            if key and self._piece(number) not in found[key]:
                found[key].append(self._piece(number))
        return found

    def _piece(self, number: int) -> str:
        """Words of one evidence that follow each other on a line without a wide gap."""
        while number:
            word, x, y, font, size, key = self.words[number - 1]
            end = x + stringWidth(word + " ", font, size)
            here = self.words[number]
            if key != here[5] or y != here[2] or abs(here[1] - end) > 1:
                break
            number -= 1
        return f"{self.words[number][5]}@{number}"

    def pdf(self, without: str = "") -> bytes:
        """The page, or the page without one piece."""
        written = io.BytesIO()
        canvas = Canvas(written, pagesize=self.size)
        for number, (word, x, y, font, size, key) in enumerate(self.words):
            if without and key and self._piece(number) == without:
                continue
            if self.form and key:
                continue
            canvas.setFont(font, size)
            canvas.drawString(x, y, word)
        for x1, y1, x2, y2 in self.rules:
            canvas.line(x1, y1, x2, y2)
        if self.form:
            self._fields(canvas, without)
        canvas.save()
        return written.getvalue()

    def _fields(self, canvas: Canvas, without: str) -> None:
        texts: dict[str, list[str]] = defaultdict(list)
        places: dict[str, tuple[float, float]] = {}
        for number, (word, x, y, _, _, key) in enumerate(self.words):
            if key:
                piece = self._piece(number)
                texts[piece].append(word)
                places.setdefault(piece, (x, y))
        for piece, words in texts.items():
            x, y = places[piece]
            value = "" if piece == without else " ".join(words)
            canvas.acroForm.textfield(
                name=piece,
                value=value,
                x=x - 3,
                y=y - 5,
                width=180,
                height=18,
                fontSize=10,
                borderWidth=0,
                fillColor=None,
            )


def drawn(raw: bytes, dots: float, turn: int = 0) -> Image.Image:
    """The first page of a PDF, in grey."""
    document = pypdfium2.PdfDocument(raw)
    document.init_forms()
    page = document[0]
    page.set_rotation(turn)
    return page.render(scale=dots / 72, may_draw_forms=True).to_pil().convert("L")


Scanner = Callable[[Image.Image], Image.Image]


def as_it_is(image: Image.Image) -> Image.Image:
    """A scanner that moves nothing."""
    return image


def truth(sheet: Sheet, turn: int = 0, scanner: Scanner = as_it_is) -> tuple[Evidence, ...]:
    """The sheet's evidence with the boxes of its ink, after ``scanner`` moved the page."""
    whole = np.asarray(scanner(drawn(sheet.pdf(), TRUTH_DOTS, turn)), dtype=int)
    height, width = whole.shape
    found = []
    for key, pieces in sheet.runs().items():
        boxes = []
        for piece in pieces:
            rest = np.asarray(scanner(drawn(sheet.pdf(piece), TRUTH_DOTS, turn)), dtype=int)
            rows, columns = np.nonzero(np.abs(whole - rest) > _INK)
            boxes.append(
                (
                    columns.min() / width,
                    rows.min() / height,
                    (columns.max() + 1) / width,
                    (rows.max() + 1) / height,
                )
            )
        given = sheet.evidence[key]
        found.append(Evidence(given.entity_type, given.value, given.quote, tuple(boxes)))
    return tuple(found)


Fact = tuple[str, str, str, str, str]
"""Type, value, the words before, the quote, the words after."""


def facts(rng: random.Random) -> list[Fact]:
    """What a letter says."""
    amount = f"£{rng.randint(1, 9)},{rng.randint(100, 999)}"
    deposit = f"£{rng.randint(1, 9)},{rng.randint(100, 999)}"
    date = f"{rng.randint(1, 28)} {rng.choice(MONTHS)} 20{rng.randint(10, 24)}"
    name, street = rng.choice(PEOPLE), f"{rng.randint(2, 98)} {rng.choice(STREETS)}"
    paid = f"a deposit of {deposit} is paid"
    return [
        ("Tenant", name, "The tenant of the house is", f"{name} of {street},", "and nobody else."),
        ("Monthly Rent", amount, "The tenant pays a", f"monthly rent of {amount}", "in advance."),
        ("Deposit", deposit, "Before the keys are handed over", paid, "to the agent."),
        ("Start Date", date, "The lease", f"begins on {date}", "and runs for three years."),
    ]


def letter(rng: random.Random, font: str = "Times-Roman", size: float = 10.5) -> Sheet:
    """A letter in one column; quotes wrap where the line ends."""
    sheet = Sheet((font, size))
    sheet.put("LETTER OF THE LANDLORD", 45, 545, larger=2)
    _paragraphs(sheet, rng, (45, 375), 515, facts(rng))
    return sheet


def columns(rng: random.Random, font: str = "Times-Roman", size: float = 9.5) -> Sheet:
    """Two columns below a title."""
    sheet = Sheet((font, size), size=(595.0, 595.0))
    sheet.put("CONDITIONS OF THE LEASE FOR BOTH OF ITS PARTIES", 120, 545, larger=3)
    said = facts(rng)
    _paragraphs(sheet, rng, (45, 280), 510, said[:2])
    _paragraphs(sheet, rng, (315, 550), 510, said[2:])
    return sheet


def _paragraphs(
    sheet: Sheet, rng: random.Random, edges: tuple[float, float], y: float, said: Sequence[Fact]
) -> None:
    left, right = edges
    step = sheet.font[1] * 1.35
    for entity_type, value, before, quote, after in said:
        sheet.evidence[entity_type] = Evidence(entity_type, value, quote)
        words = [(w, "") for w in f"{rng.choice(FILLER)} {before}".split(" ")]
        words += [(w, entity_type) for w in quote.split(" ")]
        words += [(w, "") for w in f"{after} {rng.choice(FILLER)}".split(" ")]
        x = left
        for word, key in words:
            if x + stringWidth(word, *sheet.font) > right:
                x, y = left, y - step
            x = sheet.put(word, x, y, key)
        y -= 2 * step


def table(rng: random.Random, grid: bool, font: str = "Helvetica", size: float = 10.0) -> Sheet:
    """A schedule of charges; a quote is the label and the amount of a row."""
    sheet = Sheet((font, size))
    sheet.put("Schedule of charges", 45, 545, larger=3)
    rows = [("Charge", "Amount", "Due on")]
    for name in ("Ground rent", "Service charge", "Insurance", "Parking space", "Water"):
        amount = f"£{rng.randint(100, 999)}.{rng.randint(10, 99)}"
        rows.append((name, amount, f"{rng.randint(1, 28)} {rng.choice(MONTHS)}"))
    lefts, top, step = (50, 190, 300), 510.0, 22.0
    for number, row in enumerate(rows):
        key = row[0] if number in (1, 2, 4) else ""
        if key:
            sheet.evidence[key] = Evidence(row[0], row[1], f"{row[0]} {row[1]}")
        for left, cell, own in zip(lefts, row, (key, key, ""), strict=True):
            sheet.put(cell, left, top - number * step, own)
    if grid:
        above, bottom = top + 15, top + 15 - len(rows) * step
        lines = (above - number * step for number in range(len(rows) + 1))
        sheet.rules += [(45, y, 395, y) for y in lines]
        sheet.rules += [(x - 5, above, x - 5, bottom) for x in (*lefts, 400)]
    return sheet


def form(rng: random.Random, fields: bool, font: str = "Helvetica", size: float = 10.0) -> Sheet:
    """Labels and values; with ``fields`` the values are those of form fields."""
    sheet = Sheet((font, size), form=fields)
    sheet.put("Application for a lease", 45, 545, larger=3)
    values = {
        "Applicant:": rng.choice(PEOPLE),
        "Date of birth:": f"{rng.randint(1, 28)} {rng.choice(MONTHS)} 19{rng.randint(50, 99)}",
        "Address:": f"{rng.randint(2, 98)} {rng.choice(STREETS)}",
        "Yearly income:": f"£{rng.randint(20, 90)},{rng.randint(100, 999)}",
    }
    for number, (label, value) in enumerate(values.items()):
        y = 500.0 - 34 * number
        key = label.strip(":")
        sheet.evidence[key] = Evidence(key, value, value)
        sheet.put(label, 50, y)
        sheet.put(value, 170, y, key)
        if not fields:
            sheet.rules.append((165, y - 4, 370, y - 4))
    return sheet


def files(seed: int = 0) -> Iterator[File]:
    """All of them, from a seed."""
    rng = random.Random(seed)
    typed = [
        ("letter-times", letter(rng)),
        ("letter-helvetica", letter(rng, "Helvetica", 10)),
        ("letter-courier", letter(rng, "Courier", 9)),
        ("letter-small", letter(rng, "Times-Roman", 8.5)),
        ("letter-large", letter(rng, "Helvetica-Bold", 12)),
        ("columns-1", columns(rng)),
        ("columns-2", columns(rng, "Helvetica", 9)),
        ("table-grid", table(rng, True)),
        ("table-plain", table(rng, False, "Times-Roman", 10.5)),
        ("form-lines", form(rng, False)),
        ("form-fields", form(rng, True)),
    ]
    for name, sheet in typed:
        yield File(f"{name}.pdf", "typed", sheet.pdf(), truth(sheet))
    for turn in (90, 180, 270):
        sheet, name = letter(rng), f"rotated-{turn}.pdf"
        yield File(name, "typed, rotated", _rotated(sheet, turn), truth(sheet, turn))
    yield from _scans(rng)
    yield from _others(rng)


def _rotated(sheet: Sheet, turn: int) -> bytes:
    document = pypdfium2.PdfDocument(sheet.pdf())
    document[0].set_rotation(turn)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _scans(rng: random.Random) -> Iterator[File]:
    plain = [
        ("scan-letter-1.png", letter(rng), 200, 0.0),
        ("scan-letter-2.jpg", letter(rng, "Helvetica", 10), 150, 0.0),
        ("scan-letter-3.tiff", letter(rng, "Courier", 10), 200, 0.0),
        ("scan-letter-4.pdf", letter(rng), 200, 0.0),
        ("scan-letter-5.pdf", letter(rng, "Helvetica", 9), 300, 0.0),
        ("scan-columns.pdf", columns(rng), 200, 0.0),
        ("scan-table-1.pdf", table(rng, True), 200, 0.0),
        ("scan-table-2.png", table(rng, False), 150, 0.0),
        ("scan-form.jpg", form(rng, False), 200, 0.0),
        ("scan-turned-90.png", letter(rng), 150, 90.0),
        ("scan-turned-180.pdf", letter(rng, "Helvetica", 10), 150, 180.0),
        ("scan-turned-270.jpg", letter(rng), 150, 270.0),
        ("scan-askew-1.png", letter(rng), 200, 1.5),
        ("scan-askew-2.pdf", letter(rng, "Helvetica", 10), 200, -2.0),
    ]
    for name, sheet, dots, angle in plain:
        scanner = _scanner(angle)
        image = _worn(scanner(drawn(sheet.pdf(), dots)), rng)
        kind = "scan" if angle == 0 else "scan, turned" if angle % 90 == 0 else "scan, askew"
        yield File(name, kind, _saved(image, name, dots), truth(sheet, 0, scanner))


def _scanner(angle: float) -> Scanner:
    def move(image: Image.Image) -> Image.Image:
        return image.rotate(angle, expand=True, fillcolor=255, resample=Image.Resampling.BICUBIC)

    return move if angle else as_it_is


def _worn(image: Image.Image, rng: random.Random) -> Image.Image:
    """Blur, grain and a grey paper, as scanners have them."""
    grain = np.random.default_rng(rng.randrange(2**32)).normal(0, 6, (image.height, image.width))
    soft = np.asarray(image.filter(ImageFilter.GaussianBlur(0.6)), dtype=float)
    return Image.fromarray(np.clip(soft * 0.92 + 8 + grain, 0, 255).astype(np.uint8))


def _saved(image: Image.Image, name: str, dots: int) -> bytes:
    written = io.BytesIO()
    kind = {"jpg": "JPEG", "tiff": "TIFF", "png": "PNG", "pdf": "PDF"}[name.rpartition(".")[2]]
    options: dict[str, Any] = {"quality": 80} if kind == "JPEG" else {}
    image.save(written, kind, **(options | {"resolution": dots} if kind == "PDF" else options))
    return written.getvalue()


def _others(rng: random.Random) -> Iterator[File]:
    """An e-mail with a letter attached; Word, a web page and text, which have no pages."""
    sheet = letter(rng, "Helvetica", 10)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "office@example.com", "you@example.com", "Lease"
    mail.set_content("The letter is attached.\n")
    mail.add_attachment(sheet.pdf(), maintype="application", subtype="pdf", filename="attached.pdf")
    yield File("mail.eml", "attached", mail.as_bytes(), truth(sheet), "#2/attached.pdf")
    said = facts(rng)
    evidence = tuple(Evidence(kind, value, quote) for kind, value, _, quote, _ in said)
    sentences = [f"{before} {quote} {after}" for _, _, before, quote, after in said]
    yield File("plain.txt", "no pages", "\n".join(sentences).encode(), evidence)
    page = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    yield File("page.html", "no pages", f"<!doctype html><body>{page}".encode(), evidence)
    yield File("word.docx", "no pages", _word(sentences), evidence)


def _word(sentences: Sequence[str]) -> bytes:
    import docx  # noqa: PLC0415 - the extra `files`

    document = docx.Document()
    for sentence in sentences:
        document.add_paragraph(sentence)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()
