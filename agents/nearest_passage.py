"""What of a document a quote is most like that is not in it."""

import time
from collections.abc import Iterable, Sequence

from safepassage.schemas import Verdict

from .alignment import AlignmentTimeoutError, DocumentIndex

SECONDS = 1.0
"""For all quotes of one call: who asks again waits for it."""
_LEAST_SCORE = 0.15
_LEAST_MATCHES = 8
"""Characters: below, only letters were shared."""
_AROUND = 40


def nearest_passages(quotes: Sequence[str], text: str, seconds: float = SECONDS) -> list[str]:
    """For each of ``quotes`` the passage of ``text`` that is most like it, whole words with a few
    around; "" where nothing is like it, or the time is over."""
    index = DocumentIndex(text)
    deadline = time.monotonic() + seconds
    return [_nearest(quote, index, deadline) for quote in quotes]


def nearest_of(verdicts: Iterable[Verdict], text: str) -> dict[str, str]:
    """By the verdict's id the nearest passage of ``text``, of each whose quote is not in it
    and that has one."""
    lost = {v.id: v.context for v in verdicts if "not_found" in v.reasons}
    near = nearest_passages(tuple(lost.values()), text) if lost else ()
    return {i: passage for i, passage in zip(lost, near, strict=True) if passage}


def _nearest(quote: str, index: DocumentIndex, deadline: float) -> str:
    try:
        found = index.align(quote, deadline=deadline)
    except AlignmentTimeoutError:
        return ""
    if not found.spans or found.matches < _LEAST_MATCHES or found.score < _LEAST_SCORE:
        return ""
    start = max(0, min(span.start for span in found.spans) - _AROUND)
    end = max(span.end for span in found.spans) + _AROUND
    return _whole_words(index.text, start, min(end, len(index.text), start + len(quote) * 4 + 200))


def _whole_words(text: str, start: int, end: int) -> str:
    """The slice without the words that its edges cut."""
    found = text[start:end]
    if start and not text[start - 1].isspace():
        found = found.partition(" ")[2] or found
    if end < len(text) and not text[end].isspace():
        found = found.rpartition(" ")[0] or found
    return " ".join(found.split())
