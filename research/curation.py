"""Sentence-context pairs out of sets made for other tasks (RAGulator, section 2.2).

Summaries: an abstract's sentences with their own article are in context, with an unrelated
article out of it. Pairs of similar sentences: random sentences of the set around the first make a
context, and the label says whether the second is in it. Neutral pairs are left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepassage.passages.sentence_splitting import sentences

_WORD = re.compile(r"\w+|[^\w\s]")

IN_CONTEXT = frozenset({"1", "true", "yes", "entailment", "supports"})
OUT_OF_CONTEXT = frozenset({"0", "false", "no", "contradiction", "not_entailment"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """Tokens (words and signs) of a sentence and of a context, both ends included."""

    sentence: tuple[int, int] = (5, 100)
    context: tuple[int, int] = (100, 5_000)

    def admits(self, context: str, sentence: str) -> bool:
        """Whether a pair is within them."""
        return self._within(context, self.context) and self._within(sentence, self.sentence)

    @staticmethod
    def _within(text: str, bounds: tuple[int, int]) -> bool:
        return bounds[0] <= tokens(text) <= bounds[1]


PAPER_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class Summary:
    """An article and its abstract; ``id`` names the document."""

    id: str
    article: str
    abstract: str


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two sentences, and whether the first supports the second; None where that is open."""

    id: str
    first: str
    second: str
    grounded: bool | None


@dataclass(frozen=True, slots=True)
class CuratedPair:
    """One example. ``group`` is the document or pair: splits never part it."""

    id: str
    context: str
    sentence: str
    grounded: bool
    group: str
    kind: str
    source: str

    def as_row(self) -> dict[str, Any]:
        """The row as ``evaluate`` and ``train`` read it."""
        return {
            "id": self.id,
            "context": self.context,
            "claim": self.sentence,
            "label": int(self.grounded),
            "kind": self.kind,
            "source": self.source,
            "group": self.group,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> CuratedPair:
        """What `as_row` wrote.

        Raises:
            KeyError: a field is missing.
        """
        return cls(
            id=str(row["id"]),
            context=str(row["context"]),
            sentence=str(row["claim"]),
            grounded=row["label"] == 1,
            group=str(row["group"]),
            kind=str(row["kind"]),
            source=str(row["source"]),
        )


def tokens(text: str) -> int:
    """Words and signs of ``text``."""
    return sum(1 for _ in _WORD.finditer(text))


def read_summary(row: Mapping[str, Any], number: int) -> Summary | None:
    """A row of a summarisation set, under any of their field names; None for another row."""
    article = _first(row, ("article", "document", "context", "text"))
    abstract = _first(row, ("abstract", "summary", "highlights", "conclusion"))
    if not article or not abstract:
        return None
    return Summary(str(row.get("id", number)), article, abstract)


def read_similar(row: Mapping[str, Any], number: int) -> SimilarPair | None:
    """A row of a similarity or entailment set; None for another row."""
    first = _first(row, ("s1", "premise", "sentence1"))
    second = _first(row, ("s2", "hypothesis", "sentence2"))
    if not first or not second:
        return None
    label = str(row.get("label", "")).casefold()
    grounded = True if label in IN_CONTEXT else False if label in OUT_OF_CONTEXT else None
    return SimilarPair(str(row.get("id", number)), first, second, grounded)


def from_summaries(
    summaries: Sequence[Summary], source: str, seed: int, bounds: Bounds = PAPER_BOUNDS
) -> Iterator[CuratedPair]:
    """Every abstract's sentences with its own article, and with another's where there is one."""
    rng = random.Random(seed)
    for summary in summaries:
        others = [other for other in rng.sample(summaries, min(2, len(summaries)))
                  if other.id != summary.id]  # fmt: skip
        kinds = [("own", summary), *(("foreign", other) for other in others[:1])]
        for kind, article in kinds:
            for number, (start, end) in enumerate(sentences(summary.abstract)):
                sentence = summary.abstract[start:end]
                if bounds.admits(article.article, sentence):
                    yield CuratedPair(
                        id=f"{source}-{summary.id}-{kind}-{number}",
                        context=article.article,
                        sentence=sentence,
                        grounded=kind == "own",
                        group=f"{source}-{summary.id}",
                        kind=kind,
                        source=source,
                    )


def from_similar(
    pairs: Sequence[SimilarPair], source: str, seed: int, bounds: Bounds = PAPER_BOUNDS
) -> Iterator[CuratedPair]:
    """Each pair with its first sentence among random first sentences of other pairs, as many as
    make the shortest context, or up to twice that."""
    rng = random.Random(seed)
    for number, pair in enumerate(pairs):
        if pair.grounded is None:
            continue
        context = _among_others(pair, pairs, rng, bounds)
        if bounds.admits(context, pair.second):
            yield CuratedPair(
                id=f"{source}-{pair.id}-{number}",
                context=context,
                sentence=pair.second,
                grounded=pair.grounded,
                group=f"{source}-{pair.first[:80]}",
                kind="in_noise",
                source=source,
            )


def _among_others(
    pair: SimilarPair, pairs: Sequence[SimilarPair], rng: random.Random, bounds: Bounds
) -> str:
    wanted = bounds.context[0] * rng.uniform(1.0, 2.0)
    around: list[str] = []
    length = tokens(pair.first)
    for _ in range(bounds.context[0]):
        if length >= wanted:
            break
        other = rng.choice(pairs).first
        if other != pair.first:
            around.append(other)
            length += tokens(other)
    around.insert(rng.randint(0, len(around)), pair.first)
    return " ".join(text if text.rstrip()[-1:] in ".!?" else f"{text}." for text in around)


def _first(row: Mapping[str, Any], names: Iterable[str]) -> str | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            return value
    return None
