"""Free-text answers of RAG systems, judged sentence by sentence."""

from __future__ import annotations

from pydantic import Field

from .base import Event, EventId, Json, Text, is_empty
from .document import Coordinates, DocumentRef
from .extraction import MAX_RIVALS, Extraction, Rival
from .hypothesis import CLAIM_TYPE
from .ids import stable_id, text_digest

PASSAGE_SEPARATOR = "\n\n"


class Response(Event):
    """Topic ``responses``: an answer and the retrieved text it has to rest on."""

    id: EventId
    context: Text | list[Text] = Field(repr=False)
    response: Text = Field(repr=False)
    query: Text | None = Field(default=None, repr=False)
    meta: dict[Text, Json] | None = Field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The retrieved passages as one text, separated by a blank line."""
        if isinstance(self.context, str):
            return self.context
        return PASSAGE_SEPARATOR.join(self.context)

    def ref(self, coordinates: Coordinates | None = None) -> DocumentRef:
        """The reference to the retrieved text."""
        text = self.text
        return DocumentRef(
            id=self.id, digest=text_digest(text), length=len(text), coordinates=coordinates
        )


class Claim(Event):
    """Topic ``claims``: one sentence of a response. ``start`` and ``end`` are its code points,
    ``rivals`` the sentences of the same response that deny it."""

    id: EventId
    response_id: EventId
    ordinal: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(min_length=1, repr=False)
    document: DocumentRef
    rivals: tuple[Rival, ...] = Field(default=(), max_length=MAX_RIVALS, exclude_if=is_empty)

    def extraction(self, context: str) -> Extraction:
        """The claim as an extraction whose quote is the passage that was retrieved for it."""
        return Extraction(
            id=self.id,
            doc_id=self.response_id,
            entity_type=CLAIM_TYPE,
            value=self.text,
            context=context,
            document=self.document,
            rivals=self.rivals,
        )


def claim_id(document: DocumentRef, ordinal: int, text: str) -> str:
    """The same sentence at the same place of the same response has the same id."""
    return stable_id("claim", document.id, document.digest, str(ordinal), text)
