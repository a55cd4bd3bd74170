"""Where a verdict's evidence is on the pages: looked up, since no verdict carries boxes."""

from pathlib import Path

from safepassage.schemas import Box, Contract, Document, Layout, Original, Span, Verdict
from safepassage.schemas.base import EventId, Probability


class EvidenceBoxes(Contract):
    """A line of ``safepassage check --boxes``: the boxes of one verdict's passages, and the lowest
    confidence of the OCR in them. Coordinates see `schemas.Layout`, whose pages' sizes are
    ``pages``: those that a box is on, by number."""

    id: EventId
    doc_id: EventId
    boxes: tuple[Box, ...]
    pages: dict[int, tuple[float, float]]
    confidence: Probability | None = None


def evidence_boxes(verdict: Verdict, layout: Layout) -> tuple[Box, ...]:
    """What to draw around the passages of ``verdict``, whose document has ``layout``."""
    return tuple(
        [box for span in quoted_spans(verdict) for box in layout.boxes(span.start, span.end)]
    )


def quoted_spans(verdict: Verdict) -> tuple[Span, ...]:
    """The places that were quoted. What is only like a quote that was not found is no evidence."""
    alignment = verdict.alignment
    return alignment.quoted if alignment and alignment.found else ()


def boxes_line(verdict: Verdict, document: Document) -> EvidenceBoxes | None:
    """The boxes of a verdict; None where nothing is known of where its passages are."""
    if document.layout is None or not (boxes := evidence_boxes(verdict, document.layout)):
        return None
    quoted = quoted_spans(verdict)
    sure = [document.layout.confidence(span.start, span.end) for span in quoted]
    return EvidenceBoxes(
        id=verdict.id,
        doc_id=verdict.doc_id,
        boxes=boxes,
        pages={box.page: tuple(document.layout.pages[box.page]) for box in boxes},
        confidence=min((c for c in sure if c is not None), default=None),
    )


def original_path(root: Path, original: Original) -> Path | None:
    """The file that a document was read from, if it is below ``root``: events are anybody's."""
    if "://" in original.uri or "\0" in original.uri:
        return None
    try:
        path = (root / original.uri).resolve()
    except RuntimeError:  # links in a circle, before Python 3.13
        return None
    return path if path.is_relative_to(root.resolve()) and path.is_file() else None
