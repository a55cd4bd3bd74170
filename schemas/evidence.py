"""Why an answer is, or is not, supported: unsupported words, triples, and passages consulted.

It travels on the verdict, so it is bounded and quotes no document: places are code points.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from .base import Contract, Probability, Text, is_empty, is_none

MAX_UNSUPPORTED = 200
MAX_TRIPLES = 400
MAX_CONSULTED = 64
MAX_MEASURES = 16
MAX_TRIPLE_CHARACTERS = 300

TripleStatus = Literal[
    "supported",  # an edge of context or query says the same
    "missing_entity",  # an end of it is in neither
    "unsupported",  # both ends are there, the relation does not
    "undetermined",  # could not be compared
]


class Stretch(Contract):
    """Code points ``start`` to ``end`` (exclusive) of a text that is not copied here."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _goes_forward(self) -> Self:
        if self.end < self.start:
            raise ValueError("a stretch ends before it begins")
        return self


class UnsupportedSpan(Stretch):
    """Words of what was judged (a claim's, on a claim's verdict; else the answer's) that nothing
    supports. ``support`` is how far they are supported, None where nothing measured it."""

    support: Probability | None = Field(default=None, exclude_if=is_none)


class ConsultedPassage(Stretch):
    """Where in passage number ``passage`` of the context a claim was judged against.

    ``score`` is how far it supports the claim, or for what was only retrieved, how much of the
    claim's weight it shares; None where that was not measured. ``supports`` marks the one that
    the score rests on.
    """

    passage: int = Field(ge=0)
    score: Probability | None = Field(default=None, exclude_if=is_none)
    supports: bool = False


class JudgedTriple(Contract):
    """An edge of the answer's graph, and what context and query make of it.

    ``missing`` are those of its ends that are in neither; ``place`` is where it was read from.
    """

    subject: Text = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS, repr=False)
    relation: Text = Field(max_length=MAX_TRIPLE_CHARACTERS, repr=False)
    object: Text = Field(max_length=MAX_TRIPLE_CHARACTERS, repr=False)
    status: TripleStatus
    missing: tuple[Text, ...] = Field(default=(), max_length=2, repr=False)
    place: Stretch | None = Field(default=None, exclude_if=is_none)
    rests_on: ConsultedPassage | None = Field(default=None, exclude_if=is_none)


class Evidence(Contract):
    """What a detector saw. Empty where it saw nothing worth naming. ``measures`` are what its score
    is made of, by the names of its paper."""

    unsupported: tuple[UnsupportedSpan, ...] = Field(default=(), max_length=MAX_UNSUPPORTED)
    triples: tuple[JudgedTriple, ...] = Field(default=(), max_length=MAX_TRIPLES)
    passages: tuple[ConsultedPassage, ...] = Field(default=(), max_length=MAX_CONSULTED)
    measures: dict[Text, Probability] = Field(
        default_factory=dict, max_length=MAX_MEASURES, exclude_if=is_empty
    )

    def __bool__(self) -> bool:
        return bool(self.unsupported or self.triples or self.passages or self.measures)
