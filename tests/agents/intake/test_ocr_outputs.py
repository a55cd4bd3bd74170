"""What other programs read: the same field from Textract, Azure, hOCR and ALTO."""

from __future__ import annotations

import json
from typing import Any

import pytest

from safepassage.agents.intake.file_import import read_file
from safepassage.agents.intake.file_kinds import Kind, beginning, kind_of
from safepassage.agents.intake.limits import Limits

pytest.importorskip("selectolax", reason="needs the extra `files`")
LIMITS = Limits(pages=3)

# Words of one page of 8.5 by 11 inches, in inches: a line, and a table of two rows.
WORDS = [
    ("Lease", 1.0, 1.0, 1.5, 0.99),
    ("agreement", 1.6, 1.0, 2.5, 0.98),
    ("Charge", 1.0, 2.0, 1.6, 0.97),
    ("Amount", 4.0, 2.0, 4.7, 0.96),
    ("Rent", 1.0, 2.25, 1.4, 0.95),
    ("£1,250", 4.0, 2.25, 4.6, 0.51),
]
TEXT = "Lease agreement\n\nCharge\tAmount\nRent\t£1,250"
HEIGHT = 0.15


def textract() -> bytes:
    blocks: list[dict[str, Any]] = [{"BlockType": "PAGE", "Page": 1}]
    for text, left, top, right, sure in WORDS:
        box = {"Left": left / 8.5, "Top": top / 11, "Width": (right - left) / 8.5}
        box["Height"] = HEIGHT / 11
        blocks.append(
            {
                "BlockType": "WORD",
                "Text": text,
                "Confidence": sure * 100,
                "Page": 1,
                "Geometry": {"BoundingBox": box},
            }
        )
    return json.dumps({"DocumentMetadata": {"Pages": 1}, "Blocks": blocks}).encode()


def azure() -> bytes:
    words = [
        {
            "content": text,
            "polygon": [left, top, right, top, right, top + HEIGHT, left, top + HEIGHT],
            "confidence": sure,
        }
        for text, left, top, right, sure in WORDS
    ]
    page = {"pageNumber": 1, "unit": "inch", "width": 8.5, "height": 11, "words": words}
    return json.dumps({"status": "succeeded", "analyzeResult": {"pages": [page]}}).encode()


def hocr() -> bytes:
    spans = "".join(
        f"<span class='ocrx_word' title='bbox {left * 300:.0f} {top * 300:.0f} "
        f"{right * 300:.0f} {(top + HEIGHT) * 300:.0f}; x_wconf {sure * 100:.0f}'>{text}</span> "
        for text, left, top, right, sure in WORDS
    )
    page = f"<div class='ocr_page' title='image \"a.png\"; bbox 0 0 2550 3300'>{spans}</div>"
    return f"<!DOCTYPE html><html><body>{page}</body></html>".encode()


def alto() -> bytes:
    strings = "".join(
        f'<String CONTENT="{text}" HPOS="{left * 254:.0f}" VPOS="{top * 254:.0f}" '
        f'WIDTH="{(right - left) * 254:.0f}" HEIGHT="{HEIGHT * 254:.0f}" WC="{sure}"/>'
        for text, left, top, right, sure in WORDS
    )
    return (
        '<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">'
        "<Description><MeasurementUnit>mm10</MeasurementUnit></Description>"
        f'<Layout><Page WIDTH="2159" HEIGHT="2794"><PrintSpace><TextBlock><TextLine>{strings}'
        "</TextLine></TextBlock></PrintSpace></Page></Layout></alto>"
    ).encode()


@pytest.mark.parametrize(
    ("name", "raw", "kind", "unit"),
    [
        ("a.json", textract(), Kind.TEXTRACT, 100.0),
        ("a.json", azure(), Kind.AZURE, 72.0),
        ("a.hocr", hocr(), Kind.HOCR, 300.0),
        ("a.xml", alto(), Kind.ALTO, 72.0),
    ],
)
def test_all_four_fill_the_same_layout(name: str, raw: bytes, kind: Kind, unit: float) -> None:
    assert kind_of(name, raw) is kind
    (part,) = read_file(name, raw, LIMITS).parts
    assert part.text == TEXT
    layout = part.layout
    assert layout is not None
    assert tuple(layout.pages[0]) == pytest.approx((8.5 * unit, 11 * unit), rel=0.01)
    (box,) = layout.boxes(TEXT.index("£"), len(TEXT))
    expected = [edge * unit for edge in (4.0, 2.25, 4.6, 2.25 + HEIGHT)]
    assert box[1:] == pytest.approx(expected, abs=0.01 * unit)
    assert layout.confidence(TEXT.index("£"), len(TEXT)) == pytest.approx(0.51, abs=0.01)
    assert layout.confidence(0, 5) == pytest.approx(0.99, abs=0.01)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.json", b'{"Blocks": [{"BlockType": "WORD", "Text": "x"}]}'),
        ("a.json", b'{"Blocks": [], "BlockType": 1}'),
        ("a.json", b'{"pages": [], "words": ' + b"[" * 100_000),
        ("a.json", b'{"Blocks": [{"BlockType": "WORD", "Page": 99999999}]}'),
        ("a.json", b'{"Blocks": [{"BlockType": "WORD", "Page": "one"}]}'),
        ("a.json", b'{"pages": [{"words": [{"content": "x", "polygon": [1, 2, 3]}]}]}'),
        ("a.json", b'{"pages": [{"pageNumber": -5, "width": 1, "height": 1, "words": []}]}'),
        ("a.hocr", b"<html><div class='ocr_page' title='bbox 0 0 nonsense'></div></html>"),
        ("a.hocr", b"<html><div class='ocr_page' title='bbox 0 0 0 0'></div></html>"),
        ("a.xml", b"<alto><Layout></Layout></alto>"),
        ("a.xml", b"<alto><Layout><Page WIDTH='x'/></Layout></alto>"),
        ("a.xml", b"<alto><Layout><Page"),
    ],
)
def test_what_is_no_output_is_refused_and_nothing_raised(name: str, raw: bytes) -> None:
    found = read_file(name, raw, LIMITS)
    assert found.parts == ()
    assert len(found.refused) == 1


def test_entities_of_xml_are_not_unpacked() -> None:
    bomb = b'<!DOCTYPE alto [<!ENTITY a "aaaaaaaaaa">'
    for level in range(1, 9):
        bomb += b'<!ENTITY %c "%s">' % (97 + level, b"&%c;" % (96 + level) * 10)
    bomb += (
        b']><alto><Layout><Page WIDTH="9" HEIGHT="9"><String CONTENT="&i;"/></Page></Layout></alto>'
    )
    assert kind_of("a.xml", bomb) is Kind.ALTO
    found = read_file("a.xml", bomb, LIMITS)
    assert found.parts == ()


@pytest.mark.parametrize(
    ("name", "raw", "size"),
    [
        ("rows.jsonl", b'{"id": "a"}\n' * 9_000, 4_096),
        ("a.pdf", b"%PDF-1.7" + b"x" * 9_000, 4_096),
        ("a.JSON", b'{"pages": [' + b" " * 90_000, 50_000),
        ("a.docx", b"PK\x03\x04" + b"x" * 9_000, 9_004),
        ("short.json", b"{}", 2),
    ],
)
def test_only_as_much_of_a_file_is_read_as_its_kind_takes(tmp_path, name, raw, size):
    (tmp_path / name).write_bytes(raw)
    assert beginning(tmp_path / name, 50_000) == raw[:size]
