"""Documents and where to find their text again."""

from typing import Self

from pydantic import Field, model_validator

from .base import Contract, Event, EventId, Json, Text, is_empty, is_none
from .ids import text_digest
from .layout import Layout, Original


class Coordinates(Contract):
    """The Kafka record that holds a document: its text can always be read again from there."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)

    def __str__(self) -> str:
        """For people: ``documents-3@17``."""
        return f"{self.topic}-{self.partition}@{self.offset}"


class DocumentRef(Contract):
    """Names one version of a document's text without carrying it.

    ``digest`` is the SHA-256 of the text in UTF-8 (64 hex digits), ``length`` its code points.
    ``coordinates`` is None only outside Kafka (``safepassage check``). The parts of an answer
    are in several records (``in_parts``), each with the whole of its retrieved text; together
    they are one document, known by its id.
    """

    id: EventId
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    length: int = Field(ge=0)
    coordinates: Coordinates | None = None
    in_parts: bool = Field(default=False, exclude_if=is_empty)


class Document(Event):
    """Topic ``documents``: a text with its id. ``meta`` is carried along and never interpreted.

    ``layout`` says where the text is on the pages of ``original``, the file that it was read
    from; both are None for a text that came as text. Ids and digests are of the text alone. With
    ``realign`` no LLM is asked: what was accepted in the version before is judged again.
    """

    id: EventId
    text: Text = Field(repr=False)
    meta: dict[Text, Json] | None = Field(default=None, repr=False)
    layout: Layout | None = Field(default=None, repr=False, exclude_if=is_none)
    original: Original | None = Field(default=None, exclude_if=is_none)
    realign: bool = Field(default=False, exclude_if=is_empty)

    @model_validator(mode="after")
    def _layout_is_of_the_text(self) -> Self:
        if self.layout and self.layout.end > len(self.text):
            raise ValueError("the layout is of a longer text")
        return self

    def ref(self, coordinates: Coordinates | None = None) -> DocumentRef:
        """The reference under which every later event names this text."""
        return DocumentRef(
            id=self.id,
            digest=text_digest(self.text),
            length=len(self.text),
            coordinates=coordinates,
        )
