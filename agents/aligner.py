"""The aligner: the extractions of a document in, what was found of each out."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog

from agents.alignment import DocumentIndex
from agents.alignment.scheme import DEFAULT_THRESHOLD
from schemas import (
    AlignedExtraction,
    Alignment,
    DocumentRef,
    Extraction,
    Verdict,
    reject,
    undetermined,
)

MAX_DOCUMENT_CHARACTERS = 1_000_000
MAX_CONTEXT_CHARACTERS = 5_000
INDEXED_CHARACTERS = 4_000_000

log = structlog.get_logger()


class Aligner:
    """Aligns extractions with their document, off the event loop.

    Args:
        threshold: tau in [0, 1]; a context whose score D is below it is not found.
        max_document_characters: longer documents are refused, by verdict.
        max_context_characters: longer contexts are refused, by verdict.
        indexed_characters: how much text the cache of document indexes holds, so that
            extractions of one document that arrive in several batches share its index.
    """

    def __init__(
        self,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        max_document_characters: int = MAX_DOCUMENT_CHARACTERS,
        max_context_characters: int = MAX_CONTEXT_CHARACTERS,
        indexed_characters: int = INDEXED_CHARACTERS,
    ) -> None:
        self.threshold = threshold
        self.max_document_characters = max_document_characters
        self.max_context_characters = max_context_characters
        self._indexes = _IndexCache(indexed_characters)
        # One thread: alignment keeps a core busy, so a second would only compete with the loop.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aligner")

    async def align(
        self, text: str, document: DocumentRef, extractions: Sequence[Extraction]
    ) -> list[AlignedExtraction | Verdict]:
        """One result for each extraction, in their order.

        An `AlignedExtraction` where the context stands in the document, for the scorer; else a
        `Verdict` that says why not. An extraction that cannot be aligned loses no other.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, self._align_all, text, document, tuple(extractions)
        )

    def close(self) -> None:
        """Stop the thread, after the document it is at."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _align_all(
        self, text: str, document: DocumentRef, extractions: tuple[Extraction, ...]
    ) -> list[AlignedExtraction | Verdict]:
        if len(text) > self.max_document_characters:
            detail = f"{len(text)} characters, at most {self.max_document_characters} are aligned"
            return [undetermined(e, "document_too_long", document, detail) for e in extractions]
        index = self._indexes.get(text, document.digest)
        return [self._align_one(index, document, extraction) for extraction in extractions]

    def _align_one(
        self, index: DocumentIndex, document: DocumentRef, extraction: Extraction
    ) -> AlignedExtraction | Verdict:
        length = len(extraction.context)
        if length > self.max_context_characters:
            detail = f"{length} characters, at most {self.max_context_characters} are aligned"
            return undetermined(extraction, "context_too_long", document, detail)
        try:
            alignment = index.align(extraction.context, threshold=self.threshold)
            _verify_slices(index.text, alignment)
        except Exception as error:  # noqa: BLE001 - any failure of one must not lose the others
            log.warning(
                "alignment failed",
                document=document.id,
                extraction=extraction.id,
                error=type(error).__name__,
            )
            return undetermined(extraction, "alignment_failed", document, type(error).__name__)
        return _outcome(extraction, document, alignment)


def _outcome(
    extraction: Extraction, document: DocumentRef, alignment: Alignment
) -> AlignedExtraction | Verdict:
    if alignment.found:
        return AlignedExtraction(extraction=extraction, document=document, alignment=alignment)
    blank = alignment.unaligned == 0 and alignment.length == 0
    return reject(extraction, "empty_context" if blank else "not_found", document, alignment)


def _verify_slices(text: str, alignment: Alignment) -> None:
    """Hold promise P2 against any defect of ours: a span shows what the document says there.

    Raises:
        ValueError: it does not.
    """
    for span in (*alignment.spans, *alignment.passages):
        if text[span.start : span.end] != span.text:
            raise ValueError("a span is not the slice of the document that it says")


class _IndexCache:
    """The most recently used indexes by document digest, bounded by their characters."""

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._characters = 0
        self._indexes: OrderedDict[str, DocumentIndex] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str, digest: str) -> DocumentIndex:
        """The index of the document with this digest, made of ``text`` where there is none."""
        with self._lock:
            index = self._indexes.get(digest)
            if index is None:
                index = self._indexes[digest] = DocumentIndex(text)
                self._characters += len(text)
            self._indexes.move_to_end(digest)
            self._evict()
        return index

    def _evict(self) -> None:
        while self._characters > self._max_characters and self._indexes:
            _, index = self._indexes.popitem(last=False)
            self._characters -= len(index.text)
