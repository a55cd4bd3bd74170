"""`safepassage submit folder`: what can be read is on the topic, what cannot is said."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

from safepassage.schemas import Document
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import decode
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS
from tests.agents.intake.making import lines, pdf
from tests.agents.intake.test_pdf import white
from tests.agents.intake.test_texts import mail
from tests.stack import environment

TEXT = "The monthly rent is £1,250."


def page(drawn: object) -> None:
    lines(TEXT)(drawn)
    white(drawn)


async def test_a_folder_of_mixed_files_goes_in_by_one_command(
    kafka: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf(page))
    (folder / "b.eml").write_bytes(mail(("c.pdf", pdf(lines(TEXT)))).as_bytes())
    (folder / "d.pdf").write_bytes(pdf(lines(TEXT), encrypt="secret"))
    (folder / "e.html").write_text(f"<html><p>{TEXT}</p></html>")
    await create_topics(kafka)
    variables = environment(kafka) | {
        "SAFEPASSAGE_ORIGINALS": str(folder),
        "SAFEPASSAGE_OCR": "never",
    }
    command = [sys.executable, "-m", "safepassage", "submit", str(folder)]
    submitted = partial(subprocess.run, command, env=variables, capture_output=True, text=True)
    ended = await asyncio.to_thread(submitted, timeout=120, check=False)
    assert ended.stdout == "4 submitted, 1 refused\n", ended.stderr
    assert ended.returncode == 1
    assert f"refused {folder}/d.pdf: is encrypted: it needs a password" in ended.stderr
    assert f"left out of {folder}/a.pdf page 1: 10 characters, unseen" in ended.stderr
    assert "9,999" not in ended.stderr
    uncompared = "fonts not compared with what pages show, in 2 PDF: SAFEPASSAGE_OCR is `never`"
    assert uncompared in ended.stderr
    found = [decode(r, Document).event async for r in read_topics(kafka, [DOCUMENTS])]
    by_id = {document.id: document for document in found}
    assert by_id.keys() == {f"{folder}/{n}" for n in ("a.pdf", "b.eml", "b.eml#2/c.pdf", "e.html")}
    typed = by_id[f"{folder}/a.pdf"]
    assert typed.text == TEXT
    assert typed.original is not None
    assert typed.original.uri == "a.pdf"
    assert typed.layout is not None
    assert len(typed.layout.boxes(0, len(TEXT))) == 1
