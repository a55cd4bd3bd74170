"""What a pack is asked and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from safepassage.schemas import Finding, FindingCode
from safepassage.scoring_worker.comparison.contract import Comparison, Question


@dataclass(frozen=True, slots=True)
class PackOpinion:
    """What a pack knows about one question, beside the comparison that anybody could make.

    ``features`` are in [0, 1], by names that begin with the pack's. ``different`` says that the
    pack knows the quote to hold another value; like a comparator, it never says the same.
    ``in_other_words`` says that it knows the quote's words for the value's: that a word of the
    value is not quoted decides nothing then.
    """

    features: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    different: bool = False
    in_other_words: bool = False


class NamedThing(NamedTuple):
    """What a domain has a name for, at ``start`` to ``end`` of a sentence: an entity of ``kind``.

    Two with one ``key`` are the same; without a key they are compared by their words.
    """

    start: int
    end: int
    kind: str
    key: str = ""


class Pack(Protocol):
    """Knowledge of one domain. No method raises; all are bounded in value and passage."""

    name: str

    def synonyms(self, question: Question) -> tuple[str, ...]:
        """Other names for the question's value that its quote has, as the quote writes them."""
        return ()

    def opinion(self, question: Question, comparison: Comparison) -> PackOpinion: ...

    def things(self, sentence: str) -> tuple[NamedThing, ...]:
        """What the domain has names for in a sentence, none over another."""
        return ()


@dataclass(slots=True)
class Notes:
    """The opinion of ``pack`` while it is made."""

    pack: str
    features: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    in_other_words: bool = False

    def feature(self, name: str, value: float = 1.0) -> None:
        """A feature called after the pack; one of 0 is left out, as absent means 0."""
        if value:
            self.features[f"{self.pack}_{name}"] = float(value)

    def finding(self, code: FindingCode, detail: str, feature: str = "") -> None:
        """A finding that is a feature as well, under its own name or that of ``feature``."""
        self.feature(feature or code)
        self.findings.append(Finding(code=code, detail=detail[:500]))

    def opinion(self, *, different: bool = False) -> PackOpinion:
        """What was noted."""
        return PackOpinion(self.features, tuple(self.findings), different, self.in_other_words)
