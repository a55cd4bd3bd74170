"""What a comparator is asked and what it answers: does the passage hold this value, and where?

A comparator may stop an extraction and never accept one. *Different* is decisive and carries its
finding; *same* and *not comparable* go on to the judge, which reads whether the passage gives the
value as an answer to the entity type. The places tell the judge, the verdict and the console
where in the quote the value is.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from safepassage.schemas import Finding, FindingCode
from safepassage.schemas.schema_field import WordRule

Answer = Literal["same", "different", "not_comparable"]
"""*same*: the quote holds this value. *different*: what the quote holds of this kind is not this
value. *not_comparable*: neither can be shown, and the judge has to read."""

Kind = Literal[
    "number",
    "money",
    "quantity",  # a number and its unit
    "date",
    "identifier",
    "name",
    "words",
    "truth",
    "category",
    "none",  # the value says "none"
    "list",
    "object",
    "claim",
]


_LONGEST_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Code points ``start`` to ``end`` (exclusive) of the quote as it was given."""

    start: int
    end: int

    def overlaps(self, other: "Place") -> bool:
        """Whether a code point is of both."""
        return self.start < other.end and other.start < self.end

    def is_part_of(self, other: "Place") -> bool:
        """Whether ``other`` holds it and more."""
        return other.start <= self.start and self.end <= other.end and self != other


@dataclass(frozen=True, slots=True)
class Passage:
    """The quote and, apart from it, what is around it in the document.

    ``before`` and ``after`` complete the sentence, line or row that holds the quote, ``between``
    is what it leaves out at each of its joints (" … "); ``heading`` is the label of the row, the
    head of the column or the heading above. A value found only in these does not count as quoted.
    ``language`` is an ISO 639-1 code where it is known.
    ``day_first`` is how the document's other dates decide an ambiguous one; None where they do
    not.
    """

    quote: str
    before: str = ""
    after: str = ""
    heading: str = ""
    between: tuple[str, ...] = ()
    language: str | None = None
    day_first: bool | None = None


@dataclass(frozen=True, slots=True)
class OtherWords:
    """Words of a value, and where the quote has others in their place. ``key`` is a digest of both
    and of the type, by which a memory of reviewed cases knows them."""

    key: str
    words: str
    place: Place


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparator's answer.

    ``places`` are where the value is in the quote; ``rivals`` are where other values of the
    same kind are, which the judge weighs against it. ``companions`` are ranges of which the
    value is the end that the type asks for: nothing in them rivals it. ``findings`` say what was
    seen, for the person who reads the verdict; one that is a contradiction makes the answer
    *different*. ``other_words`` are those that the quote has in place of words of the value: all
    were approved, or the answer is *different* and a decision on the value is one on them.
    """

    answer: Answer
    kind: Kind
    places: tuple[Place, ...] = ()
    rivals: tuple[Place, ...] = ()
    findings: tuple[Finding, ...] = ()
    companions: tuple[Place, ...] = ()
    other_words: tuple[OtherWords, ...] = ()

    def __post_init__(self) -> None:
        """A contradiction decides, no matter what the comparator that found it has answered."""
        if self.answer != "different" and any(found.contradicts for found in self.findings):
            object.__setattr__(self, "answer", "different")


def different(
    kind: Kind,
    code: FindingCode,
    detail: str = "",
    rivals: tuple[Place, ...] = (),
    more: tuple[Finding, ...] = (),
) -> Comparison:
    """*Different*, with a finding that says why before the findings ``more``."""
    findings = (Finding(code=code, detail=detail[:_LONGEST_DETAIL]), *more)
    return Comparison("different", kind, rivals=rivals, findings=findings)


def undecided(
    kind: Kind,
    code: FindingCode,
    detail: str = "",
    places: tuple[Place, ...] = (),
    more: tuple[Finding, ...] = (),
    *,
    rivals: tuple[Place, ...] = (),
) -> Comparison:
    """*Not comparable*, with a finding that says why before the findings ``more``."""
    findings = (Finding(code=code, detail=detail[:_LONGEST_DETAIL]), *more)
    return Comparison("not_comparable", kind, places, rivals, findings)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: does ``passage`` hold ``value``? ``entity_type`` is read for roles of fields
    and for kinds of value ("Date of Birth"), never for the words of one domain.

    ``unit`` is the unit or currency of the schema's field, ``allowed`` the values that it closes
    the set to, () where it does not. ``absent`` are places (start, end) in a claim whose words
    are nowhere in what was retrieved; None where nobody looked. ``day_first`` is how the schema
    has an ambiguous date of the value read ("dd/mm/yyyy"); None where it does not say. ``words``
    says who decides on words of the value that the passage has not: "all" have to be there, or
    the "reader" decides. ``approved_words`` are keys of `OtherWords` that reviewers approved.
    """

    entity_type: str
    value: JsonValue
    passage: Passage
    unit: str | None = None
    allowed: tuple[str, ...] = ()
    absent: tuple[tuple[int, int], ...] | None = None
    day_first: bool | None = None
    words: WordRule = "all"
    approved_words: frozenset[str] = frozenset()
