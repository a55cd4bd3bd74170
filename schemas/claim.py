"""Free-text answers of RAG systems, judged sentence by sentence."""

from __future__ import annotations

from itertools import accumulate, pairwise

from pydantic import Field, NonNegativeInt, model_validator

from .base import Contract, Event, EventId, Json, Text, is_empty, is_none
from .document import Coordinates, DocumentRef
from .extraction import MAX_RIVALS, Extraction, Rival
from .hypothesis import CLAIM_TYPE
from .ids import stable_id, text_digest

PASSAGE_SEPARATOR = "\n\n"
MAX_PASSAGES = 1_000
"""Of a context; the passages of a longer one are told apart by nobody."""


class Part(Contract):
    """An answer is sent while it is being written: each part carries all of it so far.

    ``since`` is how many code points of it the part before carried, 0 in the first; ``final``
    says that nothing follows. So a part can be judged from itself alone, by any worker.
    """

    since: int = Field(ge=0)
    final: bool = False


class Response(Event):
    """Topic ``responses``: an answer and the retrieved text it has to rest on, or a part of one.

    The parts of an answer have one id and one context; they are sent in order, each after the
    broker acknowledged the one before.
    """

    id: EventId
    context: Text | list[Text] = Field(repr=False)
    response: Text = Field(repr=False)
    query: Text | None = Field(default=None, repr=False)
    meta: dict[Text, Json] | None = Field(default=None, repr=False)
    part: Part | None = Field(default=None, exclude_if=is_none)

    @model_validator(mode="after")
    def _grows(self) -> Response:
        if self.part and self.part.since > len(self.response):
            raise ValueError("part.since is beyond the response: each part carries all so far")
        return self

    @property
    def complete(self) -> bool:
        """Whether the answer ends here: it came whole, or this is its last part."""
        return self.part is None or self.part.final

    @property
    def text(self) -> str:
        """The retrieved passages as one text, separated by a blank line."""
        if isinstance(self.context, str):
            return self.context
        return PASSAGE_SEPARATOR.join(self.context)

    @property
    def passage_starts(self) -> tuple[int, ...]:
        """Where in `text` each passage begins; () where there is one, or too many to name."""
        if isinstance(self.context, str) or not 1 < len(self.context) <= MAX_PASSAGES:
            return ()
        lengths = (len(passage) + len(PASSAGE_SEPARATOR) for passage in self.context[:-1])
        return tuple(accumulate(lengths, initial=0))

    def ref(self, coordinates: Coordinates | None = None) -> DocumentRef:
        """The reference to the retrieved text."""
        text = self.text
        return DocumentRef(
            id=self.id,
            digest=text_digest(text),
            length=len(text),
            coordinates=coordinates,
            in_parts=self.part is not None,
        )


class Claim(Event):
    """Topic ``claims``: one sentence of a response. ``start`` and ``end`` are its code points,
    ``rivals`` the sentences before it that it denies: those behind it may not be written yet.
    ``passages`` are where the passages of the retrieved text begin, () where it is one."""

    id: EventId
    response_id: EventId
    ordinal: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(min_length=1, repr=False)
    document: DocumentRef
    rivals: tuple[Rival, ...] = Field(default=(), max_length=MAX_RIVALS, exclude_if=is_empty)
    passages: tuple[NonNegativeInt, ...] = Field(
        default=(), max_length=MAX_PASSAGES, exclude_if=is_empty
    )

    @model_validator(mode="after")
    def _passages_in_order(self) -> Claim:
        starts = self.passages
        if starts and (
            starts[0] or any(b - a < len(PASSAGE_SEPARATOR) for a, b in pairwise(starts))
        ):
            raise ValueError("passages begin at 0, one after the other")
        return self

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
