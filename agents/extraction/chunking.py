"""Long documents in overlapping parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# From the best place to cut to the worst. A cut falls behind the match.
_BOUNDARIES = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"[.!?;]\s", r"\s")))
_MIN_FILL = 0.6
"""A part is at least this full, so that a boundary early in it does not multiply the parts."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Code points ``start`` to ``start + len(text)`` of a document; ``text`` is that slice."""

    start: int
    text: str = field(repr=False)

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split_document(text: str, size: int, overlap: int) -> Iterator[Chunk]:
    """Parts of at most ``size`` characters that cover ``text``.

    Neighbours share at least ``overlap`` characters, so that a quote of up to that length is
    whole in one of them. Parts end at a paragraph, line, sentence or word where there is one.

    Raises:
        ValueError: ``overlap`` is over two fifths of ``size``: parts would hardly advance.
    """
    if not 0 <= overlap * 2.5 <= size:
        raise ValueError("the overlap of two parts may be at most two fifths of a part")
    start = 0
    while len(text) - start > size:
        end = _cut(text, start + int(size * _MIN_FILL), start + size)
        yield Chunk(start, text[start:end])
        start = _word_start(text, end - overlap - overlap // 4, end - overlap)
    yield Chunk(start, text[start:])


def _cut(text: str, earliest: int, latest: int) -> int:
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, earliest, latest)]
        if ends:
            return ends[-1]
    return latest


def _word_start(text: str, earliest: int, latest: int) -> int:
    """Behind the last blank between the two, or ``latest`` where there is none."""
    blank = max(text.rfind(" ", earliest, latest), text.rfind("\n", earliest, latest))
    return blank + 1 if blank >= 0 else latest
