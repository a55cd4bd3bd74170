"""Long documents in overlapping parts, and the answers of all parts as one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from safepassage.schemas import canonical_json

from .answers import Answer, Finding

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

    Neighbours share at least ``overlap`` characters, so that a quote of up to that length is whole
    in one of them. Parts end at a paragraph, line, sentence or word where there is one. Raises
    `ValueError` where ``overlap`` is over two fifths of ``size``: parts would hardly advance."""
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
    """Behind the last blank between the two, or ``latest`` where it is missing."""
    blank = max(text.rfind(" ", earliest, latest), text.rfind("\n", earliest, latest))
    return blank + 1 if blank >= 0 else latest


def merge(chunks: Sequence[Chunk], answers: Sequence[Answer]) -> Answer:
    """The answers on overlapping chunks as one, each finding once, in reading order.

    What two chunks share is read twice, and may be quoted a little longer or shorter the second
    time. So a finding is also a repetition where the chunk before gave the same type and value
    with a quote from the same place.
    """
    findings: dict[tuple[_Fact, str], Finding] = {}
    before: _Quotes = {}
    for chunk, answer in zip(chunks, answers, strict=True):
        quotes: _Quotes = defaultdict(list)
        for finding in answer.findings:
            fact = (finding.entity_type, finding.place, canonical_json(finding.value))
            quote = _quote(finding, chunk)
            quotes[fact].append(quote)
            if not any(quote.overlaps(earlier) for earlier in before.get(fact, ())):
                findings.setdefault((fact, finding.context), finding)
        before = quotes
    return Answer(tuple(findings.values()), sum((answer.skipped for answer in answers), Counter()))


@dataclass(frozen=True, slots=True)
class _Quote:
    """Where a context is in the document; nowhere, and so empty, where it was not found."""

    start: int
    end: int

    def overlaps(self, other: _Quote) -> bool:
        return self.start < other.end and other.start < self.end


_Fact = tuple[str, str, str]
_Quotes = dict[_Fact, list[_Quote]]


def _quote(finding: Finding, chunk: Chunk) -> _Quote:
    start = chunk.text.find(finding.context) if finding.context else -1
    if start < 0:
        return _Quote(0, 0)
    return _Quote(chunk.start + start, chunk.start + start + len(finding.context))
