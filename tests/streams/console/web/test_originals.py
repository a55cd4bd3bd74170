"""Which pages may be shown: those of the very file, below the one folder, to who is signed in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from safepassage.schemas import (
    Coordinates,
    Document,
    Layout,
    Omission,
    Original,
    PageSize,
    Region,
    Verdict,
)
from safepassage.streams.console.web.originals import EvidencePages, Originals
from safepassage.streams.settings import Settings
from tests.agents.intake.making import lines, pdf
from tests.streams.console.cases import verdict
from tests.streams.console.web.test_app import Console, opened

TEXT = "The monthly rent is £1,250 for the house."
RAW = pdf(lines(TEXT))
PLACE = Coordinates(topic="documents", partition=0, offset=1)


def document(**changes: Any) -> Document:
    original = {
        "uri": "lease.pdf",
        "digest": hashlib.sha256(RAW).hexdigest(),
        "media_type": "application/pdf",
        "omissions": (Omission(kind="unseen", characters=7, page=0),),
    }
    layout = Layout(
        pages=(PageSize(595, 842),),
        regions=(Region(0, len(TEXT), 0, 60, 50, 270, 62, 0.75),),
    )
    return Document(id="lease", text=TEXT, layout=layout, original=Original(**(original | changes)))


Opened = Callable[..., tuple[Console, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "originals"
    root.mkdir()
    (root / "lease.pdf").write_bytes(RAW)
    (tmp_path / "secret.pdf").write_bytes(RAW)
    (root / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    (root / "inside.pdf").symlink_to(root / "lease.pdf")
    return root


@pytest.fixture
def showing(folder: Path) -> Iterator[Opened]:
    """Opens a console on a case of the document that is given; returns it with the case's path."""
    made: list[tuple[Any, Originals]] = []

    def show(kept: Document, root: Path | None = folder, of: Document | None = None) -> Any:
        async def reread(coordinates: Coordinates) -> Document:
            assert coordinates == PLACE
            return kept

        originals = Originals(Settings(originals=root, ocr="never"), reread)
        manager = opened(Console(originals=originals))
        console = manager.__enter__()
        made.append((manager, originals))
        one: Verdict = verdict(1, text=TEXT, context=TEXT, doc_id="lease")
        ref = (of or kept).ref(PLACE)
        case = console.add(one.model_copy(update={"document": ref}), TEXT)
        return console, f"/cases/{case}"

    yield show
    for manager, originals in made:
        originals.close()
        manager.__exit__(None, None, None)


def test_the_page_is_a_picture_and_the_boxes_lie_over_it(showing: Opened) -> None:
    console, path = showing(document())
    console.login()
    page = console.page(path)
    assert f'<image href="{path}/pages/0.png"' in page
    assert '<rect class="evidence" x="60.0" y="50.0" width="210.0" height="12.0"/>' in page
    assert "least confidence 0.75" in page
    assert "Page 1: 7 characters left out of the text" in page
    answer = console.browser.get(f"{path}/pages/0.png")
    assert answer.status_code == 200
    assert answer.content.startswith(b"\x89PNG")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_nobody_sees_a_page_who_is_not_signed_in(showing: Opened) -> None:
    console, path = showing(document())
    answer = console.browser.get(f"{path}/pages/0.png", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login")


@pytest.mark.parametrize(
    "uri",
    [
        "../secret.pdf",
        "link.pdf",
        "/etc/passwd",
        "missing.pdf",
        ".",
        "lease.pdf/../../secret.pdf",
        "a\0b",
        "http://127.0.0.1:9/lease.pdf",
        "file:///etc/passwd",
        "s3://bucket/lease.pdf",
        "x" * 1500,
    ],
)
def test_a_file_elsewhere_is_neither_shown_nor_told_from_none(showing: Opened, uri: str) -> None:
    console, path = showing(document(uri=uri))
    console.login()
    page = console.page(path)
    assert "The original does not lie in the folder of originals." in page
    assert "<image" not in page
    answer = console.browser.get(f"{path}/pages/0.png")
    assert answer.status_code == 404
    assert "The original does not lie in the folder of originals." in answer.text


@pytest.mark.parametrize("uri", ["inside.pdf", "./lease.pdf"])
def test_a_link_that_stays_inside_is_followed(showing: Opened, uri: str) -> None:
    console, path = showing(document(uri=uri))
    console.login()
    assert console.browser.get(f"{path}/pages/0.png").status_code == 200


def test_another_file_of_that_name_is_not_shown(showing: Opened) -> None:
    console, path = showing(document(digest="0" * 64))
    console.login()
    answer = console.browser.get(f"{path}/pages/0.png")
    assert answer.status_code == 404
    assert "not the one any more" in answer.text


def test_a_record_of_another_text_places_nothing(showing: Opened) -> None:
    console, path = showing(document(), of=Document(id="lease", text="Another text."))
    console.login()
    assert "holds another text" in console.page(path)
    assert console.browser.get(f"{path}/pages/0.png").status_code == 404


@pytest.mark.parametrize("page", ["1", "-1", "99999999999999999999", "x", "0.png/.."])
def test_a_page_that_is_not_there_is_not_found(showing: Opened, page: str) -> None:
    console, path = showing(document())
    console.login()
    assert console.browser.get(f"{path}/pages/{page}.png").status_code == 404


def test_a_damaged_original_says_so(showing: Opened, folder: Path) -> None:
    raw = RAW[:200]
    (folder / "lease.pdf").write_bytes(raw)
    console, path = showing(document(digest=hashlib.sha256(raw).hexdigest()))
    console.login()
    answer = console.browser.get(f"{path}/pages/0.png")
    assert answer.status_code == 404
    assert "The original is cut short: the PDF has no end." in answer.text


def test_without_a_folder_of_originals_pages_are_not_shown(showing: Opened) -> None:
    console, path = showing(document(), None)
    console.login()
    assert "<image" not in console.page(path)


def test_a_document_that_came_as_text_has_no_page(showing: Opened) -> None:
    console, path = showing(Document(id="lease", text=TEXT))
    console.login()
    assert 'id="pages"' not in console.page(path)
    assert console.browser.get(f"{path}/pages/0.png").status_code == 404


async def test_an_answer_has_no_pages_and_nothing_is_wrong_with_that() -> None:
    async def reread(_: Coordinates) -> Document:
        raise LookupError("responses is not the topic of documents")

    originals = Originals(Settings(), reread)
    place = Coordinates(topic="responses", partition=0, offset=0)
    claim: Verdict = verdict(1, text=TEXT, context=TEXT, doc_id="answer")
    ref = Document(id="answer", text=TEXT).ref(place)
    assert await originals.pages(claim.model_copy(update={"document": ref})) == EvidencePages()
    originals.close()
