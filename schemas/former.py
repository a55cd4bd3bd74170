"""Where a value comes from that was accepted in an earlier version of its document."""

from typing import Literal

from pydantic import Field

from .base import Contract, EventId, Json, Text, is_none
from .document import Coordinates, DocumentRef
from .evidence import Stretch


class FormerDecision(Contract):
    """What a person had decided of the value in the earlier version. ``decision`` is None where
    that was taken back; ``value`` is the right one of a correction."""

    decision: Literal["supports", "insufficient", "corrected"] | None
    value: Json = None
    reviewer: Text = Field(min_length=1, max_length=200)
    review_id: EventId


class FormerVerdict(Contract):
    """The verdict on a value in an earlier version of its document.

    ``places`` are those of its passages in the earlier text, ``passage`` a digest of their texts
    (None: it had none). ``asked`` is a digest of all that it was judged by: the value and its type,
    the passages and what is around them. ``record`` is where the verdict is that was accepted last;
    None outside Kafka.
    """

    verdict_id: EventId
    extraction_id: EventId
    document: DocumentRef | None
    record: Coordinates | None = None
    places: tuple[Stretch, ...] = ()
    passage: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")
    asked: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")
    decision: FormerDecision | None = Field(default=None, exclude_if=is_none)
