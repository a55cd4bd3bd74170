"""Sentences of documents with annotated entities, and twins in which an entity is another one.

No LLM is needed. A ``foreign`` twin names an entity of the same sort out of another document; in an
``exchanged`` one two entities of the sentence have changed places, so that every word of it is
in the passage: payer and payee, plaintiff and defendant. HalluGraph is made for both.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from pydantic import JsonValue

from research.known_documents import (
    KnownDocument,
    KnownField,
)
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import stable_id

SubstitutionKind = Literal["foreign", "exchanged"]

_AROUND: Final = 3
"""Sentences before and behind that are the passage."""
_WORDS: Final = range(8, 61)
"""Of a sentence: shorter ones are headings, longer ones whole clauses."""
_ENTITY_CHARACTERS: Final = 80
_EACH: Final = 1
"""Twins of a kind out of one document."""
_LIST: Final = frozenset(["and", "or", "with", "mr", "mrs", "ms", "dr", "sri", "shri", "smt"])
"""Between two entities these alone make a list, which says the same in any order."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """``altered`` is ``sentence`` with another entity; ``group`` is the document."""

    kind: SubstitutionKind
    passage: str
    sentence: str
    altered: str
    group: str

    def rows(self) -> Iterator[dict[str, JsonValue]]:
        """Both as labelled answers, as `groundedness benchmark` reads them."""
        name = stable_id("substitution", self.kind, self.passage, self.sentence)[:16]
        for label, response in ((1, self.sentence), (0, self.altered)):
            yield {
                "id": f"{name}-{label}",
                "context": self.passage,
                "response": response,
                "label": label,
                "group": self.group,
            }


@dataclass(frozen=True, slots=True)
class _Others:
    """What all documents name, by sort; one is drawn."""

    values: dict[str, list[str]]
    draw: random.Random


def substitutions(
    documents: Iterable[KnownDocument], kind: SubstitutionKind, seed: int = 0
) -> list[Substitution]:
    """One twin of each document that has a sentence for it."""
    every = list(documents)
    values = _values(every)
    made: list[Substitution] = []
    for document in every:
        draw = random.Random(f"{seed}:{document.id}")
        own = list(_of(document, kind, _Others(values, draw)))
        draw.shuffle(own)
        made += own[:_EACH]
    return made


def _of(document: KnownDocument, kind: SubstitutionKind, known: _Others) -> Iterator[Substitution]:
    places = list(sentences(document.text))
    for at, (start, end) in enumerate(places):
        sentence = " ".join(document.text[start:end].split())
        inside = [f for f in document.fields if _short(f) and start <= f.start and f.end <= end]
        if len(sentence.split()) not in _WORDS or not inside:
            continue
        near = places[max(0, at - _AROUND) : at + _AROUND + 1]
        passage = " ".join(" ".join(document.text[s:e].split()) for s, e in near)
        text = document.text
        made = (
            _exchanged(text, start, end, inside)
            if kind == "exchanged"
            else _foreign(text, start, end, inside, known)
        )
        for altered in made:
            said = " ".join(altered.split())
            if said not in passage:
                yield Substitution(kind, passage, sentence, said, document.id)


def _exchanged(text: str, start: int, end: int, inside: Sequence[KnownField]) -> Iterator[str]:
    for one, other in combinations(sorted(inside, key=lambda f: f.start), 2):
        if one.kind != other.kind or one.end > other.start:
            continue
        first, second = text[one.start : one.end], text[other.start : other.end]
        between = text[one.end : other.start]
        words = set(re.findall(r"[^\W\d_]+", between.casefold()))
        if words <= _LIST or _alike(first, second):
            continue
        yield text[start : one.start] + second + between + first + text[other.end : end]


def _foreign(
    text: str, start: int, end: int, inside: Sequence[KnownField], known: _Others
) -> Iterator[str]:
    for field in inside:
        own = text[field.start : field.end]
        others = [v for v in known.values[_sort(field)] if not _alike(v, own) and v not in text]
        if others:
            yield text[start : field.start] + known.draw.choice(others) + text[field.end : end]


def _values(documents: Sequence[KnownDocument]) -> dict[str, list[str]]:
    """What the documents name, by sort, each value once and in order."""
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        for field in filter(_short, document.fields):
            text = document.text[field.start : field.end]
            found.setdefault(_sort(field), {})[" ".join(text.split())] = None
    return {sort: list(names) for sort, names in found.items()}


def _sort(field: KnownField) -> str:
    return next(iter(field.entity_types), field.kind)


def _short(field: KnownField) -> bool:
    return field.kind != "clause" and 2 < field.end - field.start <= _ENTITY_CHARACTERS


def _alike(one: str, other: str) -> bool:
    """Whether one of two names is part of the other, so that either may represent both."""
    ours, theirs = (" ".join(text.casefold().split()) for text in (one, other))
    return ours in theirs or theirs in ours
