"""What an LLM found in overlapping parts of a document, as one answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.schemas import canonical_json

from .answers import Answer, Finding
from .chunking import Chunk


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
    """Where a context stands in the document; nowhere, and so empty, where it was not found."""

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
