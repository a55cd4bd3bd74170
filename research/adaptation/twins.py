"""A grounded answer, its altered twin, and how both are written, drawn apart and read again."""

import difflib
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import stable_id
from safepassage.schemas.error_type import ErrorType

Split = Literal["train", "dev", "test"]

SHARES: tuple[tuple[Split, float], ...] = (("train", 0.7), ("dev", 0.1), ("test", 0.2))
"""The paper's, section 4.3."""
LEAST_ALIKE = 0.6
"""Similarity of an answer and its twin: below it was written anew, and is no subtle variant."""


@dataclass(frozen=True, slots=True)
class Twins:
    """``altered`` is ``grounded`` with an error of ``error_type``; query and context are shared."""

    id: str
    query: str
    context: tuple[str, ...]
    grounded: str
    altered: str
    error_type: ErrorType

    @property
    def split(self) -> Split:
        """Where it belongs: all answers to a query in one split, always the same."""
        return split_of(self.query or "\n".join(self.context))

    def rows(self) -> Iterator[dict[str, JsonValue]]:
        """Both answers in the form that `groundedness benchmark` and `train` read."""
        shared: dict[str, JsonValue] = {
            "query": self.query,
            "context": list(self.context),
            "split": self.split,
        }
        group = stable_id("twins", self.query, *self.context, self.grounded)[:16]
        yield {
            "id": f"{group}-grounded", "response": self.grounded, "label": 1, **shared,
        }  # fmt: skip
        yield {
            "id": f"{group}-{self.error_type}", "response": self.altered, "label": 0,
            "error_type": self.error_type, "twin_of": f"{group}-grounded", **shared,
        }  # fmt: skip


def split_of(query: str) -> Split:
    """The split of a query: by a digest of its words, so that another spelling of case and blanks
    is not on the other side."""
    digest = hashlib.sha256(" ".join(query.casefold().split()).encode()).digest()
    place = int.from_bytes(digest[:4]) / 2**32
    reached = 0.0
    for name, share in SHARES:
        reached += share
        if place < reached:
            return name
    return SHARES[-1][0]


def differing(grounded: str, altered: str) -> list[tuple[str, str]]:
    """The sentences that differ between an answer and its twin, side by side in their order.

    A sentence that only one of them has is left out: it has no counterpart (paper, section 5.4).
    """
    ours, theirs = _sentences(grounded), _sentences(altered)
    pairs: list[tuple[str, str]] = []
    matcher = difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "replace":
            pairs += zip(ours[i1:i2], theirs[j1:j2], strict=False)
    return pairs


def refusal(grounded: str, altered: str) -> str | None:
    """Why ``altered`` is no subtle variant of ``grounded``; None if it is one."""
    if not differing(grounded, altered):
        return "no sentence differs"
    if difflib.SequenceMatcher(a=grounded, b=altered, autojunk=False).ratio() < LEAST_ALIKE:
        return "it was written anew"
    return None


def by_query(twins: Iterable[Twins]) -> dict[Split, list[Twins]]:
    """The twins of each split."""
    found: dict[Split, list[Twins]] = {name: [] for name, _ in SHARES}
    for one in twins:
        found[one.split].append(one)
    return found


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]
