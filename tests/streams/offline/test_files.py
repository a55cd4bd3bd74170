"""A folder of files becomes documents that know their originals; whatever is wrong with one."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from safepassage.files import Rejected
from safepassage.schemas import Document, Part, Response
from safepassage.streams.offline.check import read_input
from safepassage.streams.offline.documents import read_documents
from safepassage.streams.offline.evidence_boxes import boxes_line
from safepassage.streams.offline.submit import is_reported
from safepassage.streams.settings import Settings
from tests.agents.intake.making import lines, pdf
from tests.agents.intake.test_ocr_outputs import TEXT as OCR_TEXT
from tests.agents.intake.test_ocr_outputs import azure
from tests.agents.intake.test_texts import mail, word_file
from tests.streams.console.cases import verdict

SEEN = "The monthly rent is £1,250."


def settings(root: Path) -> Settings:
    return Settings(ocr="never", originals=root)


def read(path: Path) -> tuple[dict[str, Document], list[str]]:
    found = list(read_documents([path], settings(path)))
    documents = {d.id: d for d in found if isinstance(d, Document)}
    return documents, [str(r) for r in found if isinstance(r, Rejected)]


def test_a_mixed_folder_goes_in_and_what_is_broken_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lines(SEEN)))
    (tmp_path / "b.docx").write_bytes(word_file(lambda d: d.add_paragraph(SEEN)))
    (tmp_path / "c.html").write_text(f"<html><p>{SEEN}</p></html>")
    (tmp_path / "d.eml").write_bytes(mail(("e.pdf", pdf(lines(SEEN)))).as_bytes())
    (tmp_path / "f.txt").write_text(SEEN)
    (tmp_path / "g.jsonl").write_text('{"id": "row", "text": "A row."}\n')
    (tmp_path / "h.pdf").write_bytes(pdf(lines(SEEN))[:500])
    (tmp_path / "i.bin").write_bytes(b"\x7fELF\0\0\0")
    (tmp_path / ".hidden.pdf").write_bytes(b"%PDF-")
    documents, refused = read(tmp_path)
    names = ["row", *(f"{tmp_path}/{n}" for n in ("a.pdf", "b.docx", "c.html", "d.eml"))]
    assert list(documents) == [*names, f"{tmp_path}/d.eml#2/e.pdf", f"{tmp_path}/f.txt"]
    assert refused == [
        f"{tmp_path}/h.pdf: is cut short: the PDF has no end",
        f"{tmp_path}/i.bin: looks binary (it holds NUL characters), and is of no kind that is read",
    ]
    typed = documents[f"{tmp_path}/a.pdf"]
    assert typed.text == SEEN
    assert typed.layout is not None
    assert typed.original is not None
    assert typed.original.uri == "a.pdf"
    assert typed.original.media_type == "application/pdf"
    raw = (tmp_path / "a.pdf").read_bytes()
    assert typed.original.digest == hashlib.sha256(raw).hexdigest()
    attached = documents[f"{tmp_path}/d.eml#2/e.pdf"]
    assert attached.layout is not None
    assert attached.original is not None
    assert (attached.original.uri, attached.original.part) == ("d.eml", (2,))
    assert documents[f"{tmp_path}/f.txt"].original is None


def test_the_file_itself_is_on_no_topic(tmp_path: Path) -> None:
    raw = pdf(lines(SEEN))
    (tmp_path / "a.pdf").write_bytes(raw)
    documents, _ = read(tmp_path)
    (document,) = documents.values()
    assert len(document.to_json()) < 1000 < len(raw)


def test_what_an_ocr_service_read_stands_for_its_scan(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf(lambda page: None))
    (tmp_path / "scan.pdf.azure.json").write_bytes(azure())
    documents, refused = read(tmp_path)
    (document,) = documents.values()
    assert document.id == f"{tmp_path}/scan.pdf"
    assert document.text == OCR_TEXT
    assert document.original is not None
    assert document.original.uri == "scan.pdf"
    assert document.original.media_type == "application/pdf"
    assert refused == []


def test_a_layout_too_large_for_a_record_comes_by_lines(tmp_path: Path) -> None:
    page = lines(*[f"{n} " + "a b c d e f g h i j k l m n o p q r s t" * 2 for n in range(45)])
    (tmp_path / "a.pdf").write_bytes(pdf(*[page] * 9))
    small = settings(tmp_path).model_copy(update={"max_record_bytes": 2**17})
    (document,) = read_documents([tmp_path], small)
    assert isinstance(document, Document)
    assert document.layout is not None
    assert len(document.layout.regions) < 45 * 9 * 3
    assert len(document.to_json()) <= 2**17


def test_answers_do_not_come_as_files(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lines(SEEN)))
    (found,) = read_documents([tmp_path], settings(tmp_path), Response)
    assert isinstance(found, Rejected)


def test_check_takes_files_and_gives_boxes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lines("A first line.", SEEN)))
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        f'{{"id":"1","doc_id":"{tmp_path}/a.pdf","entity_type":"Rent","value":"£1,250",'
        '"context":"monthly rent is £1,250"}\n'
    )
    given = read_input([tmp_path / "a.pdf"], [rows], settings=settings(tmp_path))
    assert given.refused == []
    (document,) = given.documents.values()
    assert document.layout is not None
    found = verdict(1, text=document.text, context=document.text, doc_id=document.id)
    line = boxes_line(found, document)
    assert line is not None
    assert [box.page for box in line.boxes] == [0, 0]
    assert line.pages == {0: (595.0, 842.0)}
    assert boxes_line(found, document.model_copy(update={"layout": None})) is None
    alike = found.alignment.model_copy(update={"score": 0.1, "threshold": 0.6})
    assert boxes_line(found.model_copy(update={"alignment": alike}), document) is None


def test_many_files_share_nothing_but_the_reader(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.pdf").write_bytes(pdf(lines(f"The rent is £{number}.")))
    documents, _ = read(tmp_path)
    assert [d.text for d in documents.values()] == [f"The rent is £{n}." for n in range(5)]


def test_a_file_above_the_bound_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lines(SEEN)))
    small = settings(tmp_path).model_copy(update={"max_file_bytes": 100})
    (found,) = read_documents([tmp_path], small)
    assert "SAFEPASSAGE_MAX_FILE_BYTES" in str(found)


def test_frames_of_an_image_need_ocr_and_say_so(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    written = io.BytesIO()
    pillow.new("1", (40, 40), 1).save(written, "TIFF")
    (tmp_path / "a.tiff").write_bytes(written.getvalue())
    _, refused = read(tmp_path)
    assert "SAFEPASSAGE_OCR" in refused[0]


def test_the_parts_of_an_answer_have_one_id_and_all_go_in(tmp_path: Path) -> None:
    whole = Response(id="r", context="It rained.", response="It rained. It was wet.")
    part = {"part": Part(since=0), "response": "It rained. It"}
    rows = [whole.model_copy(update=part), whole.model_copy(update={"part": Part(since=13)})]
    path = tmp_path / "parts.jsonl"
    path.write_bytes(b"".join(row.to_json() + b"\n" for row in rows))
    assert list(read_documents([path], settings(tmp_path), Response)) == rows
    assert [is_reported(row) for row in rows] == [False, False]
    assert is_reported(whole.model_copy(update={"part": Part(since=13, final=True)}))
    assert is_reported(whole)
