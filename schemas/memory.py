"""What people decided, as scorers remember it: values with their reader's state, and snapshots.

A snapshot is named by the digest of its base, of what it adds and of what it takes out, as a commit
is. So a name represents one content for ever, and no chain of snapshots closes on itself.
"""

import base64
import binascii
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from .base import Contract, Event, EventId, Text, is_empty
from .ids import ID_HEX_DIGITS, canonical_json, stable_id

MAX_WIDTH = 4_096
"""Numbers of a state; the readers that ship have 384 and 768."""
MAX_PART_TYPE = 1_000
MAX_VOTES = 20
"""Reviewers of one case that count: the latest."""
MAX_LIKE = 5
NAME_DIGITS = 16
MAX_WORDS = 100
"""Pairs of words of one part."""

WordsDigest = Annotated[str, StringConstraints(pattern=rf"^[0-9a-f]{{{ID_HEX_DIGITS}}}$")]


class ReviewerVote(Contract):
    """What one reviewer said of a value."""

    reviewer: Text = Field(min_length=1, max_length=200)
    supported: bool


class MemoryEntry(Contract):
    """A value, or one part of it, that people judged.

    ``entity_type`` is the part's, ``number`` its place in the value, ``shape`` how it was read,
    ``space`` the revision of the scorer whose reader's state of its words ``state`` is: 8-bit
    numbers in base64. ``log_odds`` are the scorer's own that the value is supported. ``role`` tells
    a value as extracted from a correction.

    Of shape "words" there is no state: the quote has other words in the place of the value's, and
    ``words`` are digests of both.
    """

    case_id: EventId
    doc_id: EventId
    review_id: EventId
    role: Literal["judged", "correction"] = "judged"
    entity_type: Text = Field(min_length=1, max_length=MAX_PART_TYPE)
    number: int = Field(default=0, ge=0)
    shape: Literal["located", "unlocated", "words"]
    space: str = Field(min_length=1, max_length=200)
    state: str = Field(max_length=2 * MAX_WIDTH, repr=False)
    log_odds: float
    words: tuple[WordsDigest, ...] = Field(default=(), max_length=MAX_WORDS, exclude_if=is_empty)
    votes: tuple[ReviewerVote, ...] = Field(min_length=1, max_length=MAX_VOTES)

    @model_validator(mode="after")
    def _has_a_state_or_words(self) -> Self:
        try:
            width = len(base64.b64decode(self.state, validate=True))
        except (binascii.Error, ValueError):
            raise ValueError("not base64") from None
        if self.shape == "words":
            if width or not self.words:
                raise ValueError("words that the quote has in other words leave digests alone")
        elif not 0 < width <= MAX_WIDTH or self.words:
            raise ValueError(f"a state of {width} numbers")
        return self

    @cached_property
    def id(self) -> str:
        """Changes with anything that the entry says."""
        return stable_id("memory-entry", canonical_json(self.model_dump(mode="json")))[:32]


class MemorySnapshot(Event):
    """Topic ``memories`` (compacted by ``name``): what a scorer remembers of decisions. It is what
    ``base`` held, without ``removed`` (ids of entries) and with ``added``. ``scorer`` is the
    revision of the scorer that remembers. Raises `pydantic.ValidationError` where it is not what
    its name says."""

    name: str = Field(min_length=NAME_DIGITS, max_length=NAME_DIGITS)
    scorer: str = Field(min_length=1, max_length=200)
    base: str | None = None
    added: tuple[MemoryEntry, ...] = ()
    removed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, scorer: str, base: str | None, added: tuple[MemoryEntry, ...], removed: tuple[str, ...]
    ) -> Self:
        """The snapshot with its name."""
        name = snapshot_name(scorer, base, [entry.id for entry in added], removed)
        return cls(name=name, scorer=scorer, base=base, added=added, removed=removed)

    @model_validator(mode="after")
    def _is_what_its_name_says(self) -> Self:
        ids = [entry.id for entry in self.added]
        if self.name != snapshot_name(self.scorer, self.base, ids, self.removed):
            raise ValueError("the snapshot is not what its name says")
        return self


def snapshot_name(scorer: str, base: str | None, added: list[str], removed: tuple[str, ...]) -> str:
    """The digest that names a snapshot."""
    parts = (base or "", *(f"+{one}" for one in added), *(f"-{one}" for one in removed))
    return stable_id("memory", scorer, *parts)[:NAME_DIGITS]


class LikeCase(Contract):
    """A reviewed case that a verdict leaned on. ``likeness`` is the cosine of the states."""

    case_id: EventId
    likeness: float = Field(ge=-1, le=1)
    votes: tuple[ReviewerVote, ...] = Field(min_length=1, max_length=MAX_VOTES)

    @property
    def supported(self) -> bool | None:
        """What its reviewers said; None where they differ."""
        said = {vote.supported for vote in self.votes}
        return said.pop() if len(said) == 1 else None


class MemoryTrail(Contract):
    """What the memory had part in: its snapshot, by how much it moved the log-odds that the value
    is supported, and the cases most like this one, the most alike first."""

    snapshot: str
    shift: float
    cases: tuple[LikeCase, ...] = Field(default=(), max_length=MAX_LIKE, exclude_if=is_empty)
