"""The aligner: the extractions of a document in, what was found of each out.

Alignment runs in one thread beside the event loop. It is numpy's and Python's own work in small
operations, and Biopython only on matrices of a few milliseconds, so the loop waits for the
interpreter lock 5 ms at a time and 28 ms at worst (measured on 500,000 characters against 5,000,
see docs/measured/alignment.md): heartbeats of seconds are safe, and a process pool would pay for
sending every text. To use more cores, run more workers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import structlog

from safepassage.agents.alignment import (
    ALIGNER_VERSION,
    DEFAULT_THRESHOLD,
    AlignmentTimeoutError,
    DocumentIndex,
)
from safepassage.passages.surroundings import DocumentLayout, LanguageOf, with_surroundings
from safepassage.schemas import (
    AlignedExtraction,
    AlignedRival,
    Alignment,
    DocumentRef,
    Extraction,
    Rival,
    Verdict,
    reject,
    undetermined,
)

MAX_DOCUMENT_CHARACTERS = 1_000_000
MAX_CONTEXT_CHARACTERS = 5_000
INDEXED_CHARACTERS = 1_000_000
"""An index takes some 100 bytes a character at most: 95 MiB (docs/measured/faults.md)."""
TIMEOUT_SECONDS = 60.0
EXACT_CELLS = 50_000_000
"""Context times document characters up to which a context that is not found gets its exact score
and its nearest passage (some .1 s). Beyond, the proof that it is not found has to do."""

_KEPT_BYTES = 8 * 1024 * 1024

log = structlog.get_logger()


class Aligner:
    """Aligns extractions with their document, off the event loop.

    Args:
        threshold: tau in [0, 1]; a context whose score D is below it is not found.
        max_document_characters: longer documents are refused, by verdict.
        max_context_characters: longer contexts are refused, by verdict.
        indexed_characters: how much text the cache of document indexes holds, so that
            extractions of one document that arrive in several batches share its index.
        timeout_seconds: for the extractions of one call; what needs longer is undetermined.
        language_of: says what language a document is in, for the scorer; asked once a document.
    """

    def __init__(
        self,
        *,
        threshold: float = DEFAULT_THRESHOLD,
        max_document_characters: int = MAX_DOCUMENT_CHARACTERS,
        max_context_characters: int = MAX_CONTEXT_CHARACTERS,
        indexed_characters: int = INDEXED_CHARACTERS,
        timeout_seconds: float = TIMEOUT_SECONDS,
        language_of: LanguageOf | None = None,
    ) -> None:
        self.threshold = threshold
        self.timeout_seconds = timeout_seconds
        self.max_document_characters = max_document_characters
        self.max_context_characters = max_context_characters
        self._prepared = _PreparedCache(indexed_characters, language_of)
        _keep_freed_memory()
        # One thread: alignment keeps a core busy, so a second would only compete with the loop.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aligner")

    async def align(
        self, text: str, document: DocumentRef, extractions: Sequence[Extraction]
    ) -> list[AlignedExtraction | Verdict]:
        """One result for each extraction, in their order.

        An `AlignedExtraction` where the context is in the document, for the scorer; else a
        `Verdict` that says why not. An extraction that cannot be aligned loses no other.
        """
        return await asyncio.wrap_future(self.submit(text, document, extractions))

    def submit(
        self, text: str, document: DocumentRef, extractions: Sequence[Extraction]
    ) -> Future[list[AlignedExtraction | Verdict]]:
        """`align` for a caller without an event loop."""
        return self._executor.submit(self._align_all, text, document, tuple(extractions))

    def close(self) -> None:
        """Stop the thread, after the document it is at."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _align_all(
        self, text: str, document: DocumentRef, extractions: tuple[Extraction, ...]
    ) -> list[AlignedExtraction | Verdict]:
        if len(text) > self.max_document_characters:
            detail = f"{len(text)} characters, at most {self.max_document_characters} are aligned"
            return [undetermined(e, "document_too_long", document, detail) for e in extractions]
        prepared = self._prepared.get(text, document.digest)
        work = _Work(prepared, time.monotonic() + self.timeout_seconds)
        return [self._align_one(work, document, e) for e in extractions]

    def _align_one(
        self, work: _Work, document: DocumentRef, extraction: Extraction
    ) -> AlignedExtraction | Verdict:
        length = len(extraction.context)
        if length > self.max_context_characters:
            detail = f"{length} characters, at most {self.max_context_characters} are aligned"
            return undetermined(extraction, "context_too_long", document, detail)
        try:
            alignment = self._alignment(work, extraction.context)
            rivals = self._rivals(work, extraction.rivals) if alignment.found else ()
        except AlignmentTimeoutError:
            detail = f"the document was not done after {self.timeout_seconds:g} s"
            return undetermined(extraction, "alignment_timeout", document, detail)
        except Exception as error:  # noqa: BLE001 - one failure must not lose the others
            # A message may quote the document; what the system says (a full disk) does not.
            said = getattr(error, "strerror", None) if isinstance(error, OSError) else None
            name = type(error).__name__ + (f": {said}" if said else "")
            log.warning(
                "alignment_failed", document=document.id, extraction=extraction.id, error=name
            )
            return undetermined(extraction, "alignment_failed", document, name)
        return _outcome(extraction, document, alignment, rivals)

    def _rivals(self, work: _Work, rivals: Sequence[Rival]) -> tuple[AlignedRival, ...]:
        """Those whose quotes are evidence. What fails here fails the extraction: fail closed."""
        found = ((rival.id, self._alignment(work, rival.context)) for rival in rivals)
        return tuple([AlignedRival(id=i, alignment=a) for i, a in found if a.is_evidence])

    def _alignment(self, work: _Work, context: str) -> Alignment:
        # An extraction and its rivals are each other's, so most contexts come several times.
        if context not in work.done:
            work.done[context] = self._align_context(work.prepared, context, work.deadline)
        return work.done[context]

    def _align_context(self, prepared: _Prepared, context: str, deadline: float) -> Alignment:
        index = prepared.index
        alignment = index.align(
            context,
            threshold=self.threshold,
            exact=len(context) * len(index.text) <= EXACT_CELLS,
            deadline=deadline,
        )
        alignment = alignment.model_copy(update={"aligner": ALIGNER_VERSION})
        if alignment.found:
            alignment = with_surroundings(alignment, prepared.layout)
        _verify_slices(index.text, alignment)
        return alignment


@dataclass(frozen=True, slots=True)
class _Prepared:
    index: DocumentIndex
    layout: DocumentLayout


@dataclass(frozen=True, slots=True)
class _Work:
    """One call: its document, when it has to be done, and the contexts that are."""

    prepared: _Prepared
    deadline: float
    done: dict[str, Alignment] = field(default_factory=dict)


def _keep_freed_memory() -> None:
    """Have the C library reuse what an index frees instead of giving it back to the system.

    glibc keeps twice as much as the largest block that was ever freed. Without this each document
    pays some 250 page faults for the same memory again: up to a millisecond of its two or three
    (measured on a virtual machine). Other libraries ignore it.
    """
    np.empty(_KEPT_BYTES, dtype=np.uint8)  # freed at once, and never touched


def _outcome(
    extraction: Extraction,
    document: DocumentRef,
    alignment: Alignment,
    rivals: tuple[AlignedRival, ...] = (),
) -> AlignedExtraction | Verdict:
    if alignment.found:
        return AlignedExtraction(
            extraction=extraction, document=document, alignment=alignment, rivals=rivals
        )
    blank = alignment.unaligned == 0 and alignment.length == 0
    return reject(extraction, "empty_context" if blank else "not_found", document, alignment)


def _verify_slices(text: str, alignment: Alignment) -> None:
    """Hold promise P2 against any defect of ours: a span shows what the document says there. Raises
    `ValueError` where it does not."""
    around = (span for found in alignment.surroundings or () for span in found.slices if span)
    for span in (*alignment.spans, *alignment.passages, *around):
        if text[span.start : span.end] != span.text:
            raise ValueError("a span is not the slice of the document that it says")


class _PreparedCache:
    """The most recently used documents by document digest, bounded by their characters."""

    def __init__(self, max_characters: int, language_of: LanguageOf | None = None) -> None:
        self._language_of = language_of
        self._max_characters = max_characters
        self._characters = 0
        self._kept: OrderedDict[str, _Prepared] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str, digest: str) -> _Prepared:
        """What is prepared of ``text``, whose digest is ``digest``; made where it is missing."""
        with self._lock:
            known = self._kept.pop(digest, None)
            # A digest is a claim of the event's: lone surrogates alone make two texts of one.
            if known is None or known.index.text != text:
                self._characters += len(text) - (len(known.index.text) if known else 0)
                known = _Prepared(DocumentIndex(text), DocumentLayout(text, self._language_of))
            self._kept[digest] = known
            self._evict()
        return known

    def _evict(self) -> None:
        while self._characters > self._max_characters and self._kept:
            _, oldest = self._kept.popitem(last=False)
            self._characters -= len(oldest.index.text)
