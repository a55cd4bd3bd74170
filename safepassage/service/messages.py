"""What is asked and answered over HTTP. Verdicts go out as the bytes that the stream publishes."""

from typing import Annotated, Any

import orjson
from pydantic import Field, field_validator, model_validator

from safepassage.extraction import Extraction
from safepassage.result import Result
from safepassage.schemas import Document, SchemaField, Verdict, text_digest
from safepassage.schemas.base import VOCABULARY, Contract, EntityType, EventId, Json, Text, renamed

from .limits import MAX_ANSWER_CHARACTERS, MAX_EXTRACTIONS, MAX_PASSAGES

_VOCABULARY = {stored: asked for asked, stored in VOCABULARY.items()}


class AskedExtraction(Contract):
    """A fact that was extracted: entity type, value, and the text quoted for it. "entity_type" and
    "context", the names of files and topics, are read too; verdicts have those."""

    type: EntityType
    value: Json
    quote: Text = Field(repr=False)
    field: SchemaField | None = None
    id: EventId | None = None

    @model_validator(mode="before")
    @classmethod
    def _in_either_vocabulary(cls, row: Any) -> Any:
        return renamed(row, _VOCABULARY)

    def extraction(self) -> Extraction:
        return Extraction(self.type, self.value, self.quote, field=self.field, id=self.id)


class VerifyRequest(Contract):
    """A document's text and all that was extracted from it."""

    text: Text = Field(repr=False)
    extractions: Annotated[tuple[AskedExtraction, ...], Field(max_length=MAX_EXTRACTIONS)]
    document_id: EventId | None = None

    @field_validator("text")
    @classmethod
    def _not_empty(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the text is empty")
        return text

    def document(self) -> Document:
        return Document(id=self.document_id or text_digest(self.text), text=self.text)

    def given(self) -> list[Extraction]:
        return [asked.extraction() for asked in self.extractions]


class ClaimsRequest(Contract):
    """An answer and the retrieved text, or texts, that it has to rest on."""

    context: Text | Annotated[tuple[Text, ...], Field(max_length=MAX_PASSAGES)] = Field(repr=False)
    answer: Text = Field(repr=False, max_length=MAX_ANSWER_CHARACTERS)
    answer_id: EventId | None = None


class Verdicts(Contract):
    """One verdict for each extraction or sentence, in order. ``feedback`` has the reasons of what
    was stopped in words, to ask an LLM again; "" where nothing was."""

    verdicts: tuple[Verdict, ...]
    feedback: str


class Problem(Contract):
    """Why there is no answer. Quotes nothing of what was sent."""

    error: str
    detail: str = ""


class Health(Contract):
    """``healthy`` is False while a question waits for the scorer longer than it should."""

    healthy: bool
    scorer: str
    revision: str
    seconds_waiting: float


def verdicts_json(result: Result) -> bytes:
    """`Verdicts`, with each verdict as `Verdict.to_json` has it."""
    verdicts = [orjson.Fragment(verdict.to_json()) for verdict in result.verdicts]
    return orjson.dumps({"verdicts": verdicts, "feedback": result.feedback()})
