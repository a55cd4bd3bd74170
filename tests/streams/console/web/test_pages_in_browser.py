"""The page in Chromium: the picture is there, and the box lies where the words are."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from safepassage.schemas import Alignment, Coordinates, Document, Span, Verdict
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.offline.documents import read_documents
from safepassage.streams.offline.submit import submit
from safepassage.streams.settings import Settings
from tests.agents.intake.making import lines, pdf
from tests.streams.console.cases import verdict
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import console_settings, keep_text, put, running_console

WORDS = "monthly rent of £1,250"
TEXT = [*(f"Line {n} of the lease says nothing." for n in range(20)), f"The {WORDS} is due."]

PICTURE = """
const svg = document.querySelector('#page-1'), page = svg.getBoundingClientRect();
const box = svg.querySelector('.evidence').getBoundingClientRect();
return [(box.left - page.left) / page.width, (box.top - page.top) / page.height,
        (box.right - page.left) / page.width, (box.bottom - page.top) / page.height,
        svg.querySelectorAll('.evidence').length, page.width, page.height];
"""
LOADED = """
const href = document.querySelector('#page-1 image').getAttribute('href');
const done = arguments[arguments.length - 1], image = new Image();
image.onload = () => done([image.naturalWidth, image.naturalHeight]);
image.onerror = () => done(null);
image.src = href;
"""
SEEN = """
const sheet = document.querySelector('.pages .sheet').getBoundingClientRect();
const box = document.querySelector('.evidence').getBoundingClientRect();
return box.top >= sheet.top && box.bottom <= sheet.bottom;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


def about(document: Document, coordinates: Coordinates) -> Verdict:
    """A stopped verdict whose passage is `WORDS`."""
    start = document.text.index(WORDS)
    made = verdict(1, text=document.text, context=WORDS, doc_id=document.id, entity_type="Rent")
    span = Span(start=start, end=start + len(WORDS), text=WORDS)
    assert isinstance(made.alignment, Alignment)
    alignment = made.alignment.model_copy(update={"spans": (span,)})
    return made.model_copy(update={"alignment": alignment, "document": document.ref(coordinates)})


async def test_the_page_is_shown_with_the_evidence_boxed(
    kafka: Settings, browser: Chrome, tmp_path: Path
) -> None:
    settings = console_settings(kafka, originals=tmp_path, ocr="never")
    (tmp_path / "lease.pdf").write_bytes(pdf(lines("The first page."), lines(*TEXT)))
    await create_topics(settings)
    found = [d for d in read_documents([tmp_path], settings) if isinstance(d, Document)]
    ((coordinates, _),) = [sent async for sent in submit(found, settings)]
    (document,) = found
    shown = about(document, coordinates)
    await keep_text(settings, shown, document.text)
    await put(settings, [shown])

    def look(address: str) -> None:
        hands = Hands(browser, address)
        hands.login("Ana")
        assert "Page 2 of 2" in hands.text("pages")
        browser.set_script_timeout(20)
        assert browser.execute_async_script(LOADED) == [1200, pytest.approx(1698, abs=2)]
        left, top, right, bottom, boxes, width, height = hands.script(PICTURE)
        assert boxes == 1
        assert height / width == pytest.approx(842 / 595, abs=0.01)
        assert (left, top) == pytest.approx((81 / 595, 374 / 842), abs=0.006)
        assert (right, bottom) == pytest.approx((194 / 595, 385 / 842), abs=0.006)
        assert hands.script(SEEN)
        assert hands.complaints() == []

    def ink_in_the_box(address: str) -> None:
        """The picture has ink inside the box, and the line above and below is outside of it."""
        image = pytest.importorskip("PIL.Image")
        case = Hands(browser, address).case()
        cookies = "; ".join(f"{c['name']}={c['value']}" for c in browser.get_cookies())
        httpx2 = pytest.importorskip("httpx2")
        url = f"{address}/cases/{case}/pages/1.png"
        assert httpx2.get(url).status_code == 303
        answer = httpx2.get(url, headers={"cookie": cookies})
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["cache-control"] == "no-store"
        page = image.open(io.BytesIO(answer.content)).convert("L")
        (box,) = document.layout.boxes(document.text.index(WORDS), document.text.index(" is due"))
        scale = page.width / 595
        inside = page.crop(tuple(edge * scale for edge in box[1:]))
        around = page.crop(
            (box.left * scale, box.bottom * scale + 2, box.right * scale, (box.bottom + 4) * scale)
        )
        assert inside.getextrema()[0] < 60
        assert around.getextrema()[0] > 200

    async with running_console(settings) as address:
        await asyncio.to_thread(look, address)
        await asyncio.to_thread(ink_in_the_box, address)
