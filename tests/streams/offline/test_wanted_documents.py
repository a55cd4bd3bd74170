"""A document is meant by its id, or by the end of it; a wrong name is told before hours of OCR."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path

import pytest
from typer.testing import CliRunner

from safepassage.agents.intake.intake import Intake
from safepassage.streams.cli import app
from safepassage.streams.offline.check import CheckInput, read_input
from safepassage.streams.offline.wanted_documents import UnknownDocuments
from safepassage.streams.settings import Settings


def rows(folder: Path, *doc_ids: str) -> Path:
    path = folder / "extractions.jsonl"
    values = [
        {"id": str(n), "doc_id": doc_id, "entity_type": "Fee", "value": "1", "context": "fee"}
        for n, doc_id in enumerate(doc_ids)
    ]
    path.write_text("\n".join(map(json.dumps, values)))
    return path


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A letter in two folders under one name, a page, and a mail with an attachment."""
    folder = tmp_path / "in"
    for name in ("a/letter.txt", "b/letter.txt", "page.html"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"<html>The fee of {name} is 45 euros.</html>")
    mail = EmailMessage()
    mail["Subject"] = "Claim"
    mail.set_content("The rent is 1,250 euros.")
    mail.add_attachment(b"The excess is 300.", "text", "plain", filename="note.txt")
    (folder / "claim.eml").write_bytes(mail.as_bytes())
    return folder


def given(folder: Path, *doc_ids: str) -> CheckInput:
    return read_input([folder], [rows(folder.parent, *doc_ids)], settings=Settings(ocr="never"))


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        ("page.html", "page.html"),
        ("a/letter.txt", "a/letter.txt"),
        ("claim.eml", "claim.eml"),
        ("note.txt", "claim.eml#2/note.txt"),
        ("claim.eml#2/note.txt", "claim.eml#2/note.txt"),
    ],
)
def test_the_end_of_an_id_stands_for_it(letters: Path, name: str, doc_id: str):
    read = given(letters, name)
    assert read.refused == []
    assert [extraction.doc_id for extraction in read.extractions] == [f"{letters}/{doc_id}"]
    assert list(read.documents) == [f"{letters}/{doc_id}"]


def test_a_name_of_two_documents_is_refused_and_both_are_told(letters: Path):
    read = given(letters, "letter.txt", "page.html")
    (line,) = read.refused
    assert f"{letters}/a/letter.txt" in line
    assert f"{letters}/b/letter.txt" in line
    assert next(extraction.doc_id for extraction in read.extractions) == "letter.txt"


def test_wrong_names_are_told_before_a_file_is_read(letters: Path, monkeypatch: pytest.MonkeyPatch):
    def read(*_: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(Intake, "read", read)
    (letters / "claim.eml").unlink()
    with pytest.raises(UnknownDocuments, match=r"'doc-17'.*page\.html.*safepassage files") as told:
        given(letters, "doc-17")
    assert "letter.txt" in str(told.value)


def test_a_wrong_name_that_an_attachment_might_have_is_told_after_the_mails(letters: Path):
    with pytest.raises(UnknownDocuments, match="'doc-17'") as told:
        given(letters, "doc-17")
    assert "page.html" in str(told.value), "what was not read for it is there all the same"


def test_one_wrong_name_of_several_is_told(letters: Path):
    (line,) = given(letters, "page.html", "doc-17").refused
    assert "'doc-17'" in line


def test_only_what_is_named_is_read(letters: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    real = Intake.read
    monkeypatch.setattr(
        Intake, "read", lambda self, name, raw: (seen.append(name), real(self, name, raw))[1]
    )
    (letters / "scan.pdf").write_bytes(b"%PDF-1.4 not read")
    given(letters, "page.html")
    assert "scan.pdf" not in seen
    assert "page.html" in seen


def test_a_text_file_by_itself_is_a_document(letters: Path):
    path = letters / "a" / "letter.txt"
    read = read_input([path], [rows(letters.parent, "letter.txt")])
    assert list(read.documents) == [str(path)]


def test_files_prints_the_ids_and_the_texts(letters: Path):
    """A scan takes no OCR for its id, and would be refused without."""
    (letters / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n and no picture")
    (letters / "scan2.pdf").write_bytes(b"%PDF-1.4 and no page")
    (letters / "scan2.json").write_text('{"Blocks": [{"BlockType": "PAGE"}]}')
    told = CliRunner().invoke(app, ["files", str(letters)])
    assert told.exit_code == 0
    ids = [json.loads(line)["id"] for line in told.stdout.splitlines()]
    assert ids == [
        f"{letters}/{name}"
        for name in (
            *("a/letter.txt", "b/letter.txt", "claim.eml", "claim.eml#2/note.txt"),
            *("page.html", "scan.png", "scan2.pdf"),
        )
    ]
    texts = CliRunner().invoke(app, ["files", "--text", str(letters / "page.html")])
    assert json.loads(texts.stdout)["text"] == "The fee of page.html is 45 euros."
