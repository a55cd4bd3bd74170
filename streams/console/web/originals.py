"""The page that a passage is on, as a picture with the evidence boxed.

Which file is shown is said by an event, and events are anybody's: only files below
``SAFEPASSAGE_ORIGINALS`` are opened, only those whose bytes have the digest that the document
names, and nothing is ever fetched. They are drawn in a process that may die.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from aiokafka.errors import KafkaError

from safepassage.agents.document_store import DocumentStoreError
from safepassage.agents.intake.intake import Intake
from safepassage.agents.intake.limits import Refused
from safepassage.files import limits
from safepassage.schemas import Box, Coordinates, Document, Omission, Original, PageSize, Verdict

from ...offline.evidence_boxes import evidence_boxes, original_path, quoted_spans
from ...settings import Settings
from ...topics import RESPONSES

PATIENCE_SECONDS = 4.0
DRAWING_SECONDS = 30.0
SHOWN_PAGES = 4
_KEPT_DOCUMENTS = 8
_KEPT_PICTURES = 24

RereadDocument = Callable[[Coordinates], Awaitable[Document]]


class NoPicture(Exception):
    """There is no picture of the page. The message is for the reviewer."""


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """A page with the boxes of a verdict's passages on it, in the units of ``size``."""

    number: int
    size: PageSize
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class EvidencePages:
    """The pages that a verdict's passages are on, or ``problem``: why they cannot be shown.
    Both are empty where the document has no layout. ``confidence`` is the OCR's."""

    pages: tuple[EvidencePage, ...] = ()
    total: int = 0
    confidence: float | None = None
    omissions: tuple[Omission, ...] = ()
    problem: str = ""


class Originals:
    def __init__(self, settings: Settings, reread: RereadDocument) -> None:
        self._root = settings.originals
        self._answers = settings.topic(RESPONSES.name)
        self._reread = reread
        self._bounds = limits(settings).model_copy(update={"seconds": DRAWING_SECONDS})
        self._intake = Intake(self._bounds)
        self._one_at_a_time = asyncio.Lock()
        self._documents: OrderedDict[tuple[Coordinates, str], Document] = OrderedDict()
        self._pictures: OrderedDict[tuple[str, tuple[int, ...], int], bytes] = OrderedDict()

    def forget(self, doc_id: str) -> None:
        """Drop what is held of a document, and all pictures: whose they are is not kept."""
        for key in [k for k, document in self._documents.items() if document.id == doc_id]:
            del self._documents[key]
        self._pictures.clear()

    def close(self) -> None:
        self._intake.close()

    async def pages(self, verdict: Verdict) -> EvidencePages:
        try:
            document = await self._document(verdict)
        except NoPicture as error:
            return EvidencePages(problem=str(error))
        if document is None or document.layout is None or document.original is None:
            return EvidencePages()
        layout = document.layout
        boxes = evidence_boxes(verdict, layout)
        numbers = sorted({box.page for box in boxes})[:SHOWN_PAGES]
        quoted = quoted_spans(verdict)
        sure = [layout.confidence(span.start, span.end) for span in quoted]
        found = EvidencePages(
            pages=tuple(
                EvidencePage(n, layout.pages[n], tuple(b for b in boxes if b.page == n))
                for n in numbers
            ),
            total=len(layout.pages),
            confidence=min((c for c in sure if c is not None), default=None),
            omissions=document.original.omissions,
        )
        try:
            self._file(document.original)
        except NoPicture as error:
            return EvidencePages(omissions=found.omissions, problem=str(error))
        return found

    async def picture(self, verdict: Verdict, page: int) -> bytes:
        """Page ``page`` (from 0) of the file of the verdict's document, as PNG. Raises `NoPicture`
        where it cannot be shown."""
        document = await self._document(verdict)
        if document is None or document.layout is None or document.original is None:
            raise NoPicture("The document has no pages.")
        if not 0 <= page < len(document.layout.pages):
            raise NoPicture("The document has no such page.")
        original = document.original
        key = (original.digest, original.part, page)
        async with self._one_at_a_time:
            if key not in self._pictures:
                self._pictures[key] = await asyncio.to_thread(self._draw, original, page)
                while len(self._pictures) > _KEPT_PICTURES:
                    self._pictures.popitem(last=False)
            self._pictures.move_to_end(key)
            return self._pictures[key]

    def _draw(self, original: Original, page: int) -> bytes:
        path = self._file(original)
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise NoPicture("The original cannot be read.") from error
        if hashlib.sha256(raw).hexdigest() != original.digest:
            raise NoPicture("The file is not the one any more that the document was read from.")
        try:
            return self._intake.picture(raw, original.part, page)
        except Refused as refusal:
            raise NoPicture(f"The original {refusal}.") from refusal

    def _file(self, original: Original) -> Path:
        """The file, if it may be shown. What lies elsewhere is not told from what is missing."""
        nowhere = NoPicture("The original does not lie in the folder of originals.")
        try:
            path = original_path(self._root, original) if self._root else None
            if path is None:
                raise nowhere
            if path.stat().st_size > self._bounds.file_bytes:
                raise NoPicture("The original is too large to be shown.")
        except OSError as error:
            raise nowhere from error
        return path

    async def _document(self, verdict: Verdict) -> Document | None:
        """The verdict's document as its record has it; None for answers, or without a record."""
        ref = verdict.document
        if ref is None or ref.coordinates is None or ref.coordinates.topic == self._answers:
            return None
        key = (ref.coordinates, ref.digest)
        if key not in self._documents:
            try:
                document = await asyncio.wait_for(self._reread(ref.coordinates), PATIENCE_SECONDS)
            except TimeoutError:
                raise NoPicture("The document did not come in time.") from None
            except (DocumentStoreError, LookupError, ValueError, KafkaError, OSError) as error:
                raise NoPicture("The document's record is not available.") from error
            if document.ref().digest != ref.digest or document.id != ref.id:
                raise NoPicture("The document's record holds another text.")
            self._documents[key] = document
            while len(self._documents) > _KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        self._documents.move_to_end(key)
        return self._documents[key]
