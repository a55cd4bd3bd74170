"""Documents that were erased, and which document an event is about."""

from datetime import datetime
from operator import attrgetter

from pydantic import Field

from .alignment import AlignedExtraction
from .base import Event, EventId, Text
from .claim import Claim, Response
from .document import Document
from .extraction import Extraction, ExtractionManifest
from .realignment import DocumentValues, DocumentVersion, Realignment
from .report import DeadLetter, DocumentReport
from .review import Review, StandingDecision
from .verdict import Verdict


class Erasure(Event):
    """Topic ``erasures`` (compacted by ``doc_id``): a document that was erased, by whom and why.

    From its record on no role works on the document, and its id is refused for ever. ``done_at`` is
    None until everything was deleted that the command could reach.
    """

    doc_id: EventId
    at: datetime
    by: Text = Field(min_length=1, max_length=200)
    reason: Text = Field(min_length=1, max_length=1_000)
    done_at: datetime | None = None


class KeyNode(Event):
    """Topic ``keys`` (compacted by ``path``): a key from which documents' keys are made, wrapped.

    ``path`` leads to it from the root of the key tree, in bits; a tombstone deletes it.
    ``wrapped_by`` names the master key, ``wrapped`` is base64.
    """

    path: str = Field(pattern=r"^[01]{0,64}$")
    wrapped_by: str = Field(pattern=r"^[0-9a-f]{16}$")
    wrapped: str = Field(max_length=200, repr=False)


_NAMED_AT: tuple[tuple[type[Event] | tuple[type[Event], ...], str], ...] = (
    ((Document, Response), "id"),
    (Claim, "response_id"),
    ((Extraction, Verdict, StandingDecision, DeadLetter, DocumentValues, Realignment), "doc_id"),
    (AlignedExtraction, "extraction.doc_id"),
    (Review, "verdict.doc_id"),
    ((ExtractionManifest, DocumentReport, DocumentVersion), "document.id"),
)


def document_id(event: Event) -> str | None:
    """The id of the document that ``event`` is about; None for what is about no single one."""
    path = next((path for kinds, path in _NAMED_AT if isinstance(event, kinds)), None)
    found: str | None = attrgetter(path)(event) if path else None
    return found
