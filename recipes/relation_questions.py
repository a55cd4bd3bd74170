"""Relations between the entities of a sentence as fields of one of them: "Director of Heat".

A relation of Re-DocRED and its subject make a type; the entities in other relations to it are wrong
values. ``relation_questions.txt``, written here, says of each relation "code|names|question|kind of
value"; "= codes" are relations that are never set against each other.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from safepassage.scoring_worker.training.reading.questions import Place, ReadingQuestion

WRONG_SUBJECT_SHARE, WRONG_RELATION_SHARE = 0.5, 0.7
NEIGHBOUR_SHARE = 0.25
"""Share of the passages that are a sentence with the one before it."""
BARE_SHARE = 0.25
"""Share of the questions that name the relation alone, as a field of a schema."""
QUESTION_SHARE = 0.3
_FILE = Path(__file__).with_name("relation_questions.txt")


@dataclass(frozen=True, slots=True)
class RelationName:
    """How a relation is asked for. ``question`` has the mark ``{h}`` for the subject; ``tail`` is
    the kind of its value."""

    names: tuple[str, ...]
    question: str
    tail: str


@lru_cache(maxsize=1)
def relation_names() -> Mapping[str, RelationName]:
    """By Wikidata's code the relations that can be asked for."""
    rows = [line.split("|") for line in _lines() if not line.startswith("=")]
    return {
        code: RelationName(tuple(name.strip() for name in names.split(",")), question, tail)
        for code, names, question, tail in rows
    }


@lru_cache(maxsize=1)
def _overlapping() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line[1:].split()) for line in _lines() if line.startswith("="))


def _lines() -> list[str]:
    return [line for line in _FILE.read_text("utf-8").splitlines() if line]


@dataclass(frozen=True, slots=True)
class _Document:
    """``holds``: by relation and subject the entities that are in it; ``types`` of entities."""

    holds: Mapping[tuple[str, int], set[int]]
    types: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """``mentions``: places in ``text`` by entity."""

    text: str
    mentions: Mapping[int, tuple[Place, ...]]
    group: str
    document: _Document

    def tails(self, code: str, head: int) -> set[int]:
        """The entities of this sentence that are in the relation to ``head``."""
        return (self.document.holds.get((code, head), set()) & self.mentions.keys()) - {head}


def relation_questions(rows: Iterable[Mapping[str, Any]], seed: int) -> Iterator[ReadingQuestion]:
    """Questions to the sentences of annotated documents, in the form of Re-DocRED's rows."""
    rng = random.Random(seed)
    for row in rows:
        holds: dict[tuple[str, int], set[int]] = defaultdict(set)
        for relation in row["relations"]:
            holds[relation["r"], relation["h"]].add(relation["t"])
        document = _Document(holds, {entity["id"]: entity["type"] for entity in row["entities"]})
        for at in range(len(row["sent_offsets"])):
            yield from _of_sentence(_sentence(row, at, document, rng), rng)


def _sentence(
    row: Mapping[str, Any], at: int, document: _Document, rng: random.Random
) -> _Sentence:
    offsets = row["sent_offsets"]
    first = max(0, at - 1) if rng.random() < NEIGHBOUR_SHARE else at
    start, end = offsets[first][0], offsets[at][1]
    mentions: dict[int, tuple[Place, ...]] = {}
    for entity in row["entities"]:
        places = tuple(
            (m["start"] - start, m["end"] - start)
            for m in entity["mentions"]
            if start <= m["start"] and m["end"] <= end
        )
        if places:
            mentions[entity["id"]] = places
    return _Sentence(row["text"][start:end], mentions, row["id"], document)


def _of_sentence(sentence: _Sentence, rng: random.Random) -> Iterator[ReadingQuestion]:
    known, there = relation_names(), sentence.mentions.keys()
    types = sentence.document.types
    for (code, head), tails in sentence.document.holds.items():
        right = sentence.tails(code, head)
        if code not in known or head not in there or not right:
            continue
        yield _question(sentence, code, head, right, rng)
        tail = rng.choice(sorted(right))
        others = sorted(
            entity
            for entity in there - tails - {head}
            if types[entity] == types[head] and not sentence.document.holds.get((code, entity))
        )
        if others and rng.random() < WRONG_SUBJECT_SHARE:
            yield _question(sentence, code, rng.choice(others), set(), rng)
        if rng.random() < WRONG_RELATION_SHARE:
            other = _other_relation(sentence, code, head, tail, rng)
            if other is not None:
                yield _question(sentence, other, head, sentence.tails(other, head), rng)


def _other_relation(
    sentence: _Sentence, code: str, head: int, tail: int, rng: random.Random
) -> str | None:
    """A relation that asks for a value of the same kind, and that does not hold here."""
    known = relation_names()
    fitting = [
        other
        for other, name in known.items()
        if other != code
        and name.tail == known[code].tail
        and tail not in sentence.document.holds.get((other, head), set())
        and not any(code in kin and other in kin for kin in _overlapping())
    ]
    return rng.choice(fitting) if fitting else None


def _question(
    sentence: _Sentence, code: str, head: int, right: set[int], rng: random.Random
) -> ReadingQuestion:
    """One question; every entity of the sentence that does not answer it is a wrong value."""
    name = relation_names()[code]
    said = sentence.text[slice(*rng.choice(sentence.mentions[head]))]
    label = rng.choice(name.names)
    if rng.random() < BARE_SHARE:  # then every subject's value answers
        heads = [subject for relation, subject in sentence.document.holds if relation == code]
        every = {e for subject in heads for e in sentence.document.holds[code, subject]}
        right = right | (every & sentence.mentions.keys())
        asked = rng.choice((label, label.capitalize(), label.title()))
    elif rng.random() < QUESTION_SHARE:
        asked = name.question.format(h=said)
    else:
        asked = rng.choice(
            (f"{label} of {said}", f"{label.capitalize()} of {said}", f"{said}: {label}")
        )
    answers = {p for e in right for p in sentence.mentions[e]}
    others = {p for e, places in sentence.mentions.items() if e not in right for p in places}
    return ReadingQuestion(
        passage=sentence.text,
        asked=(asked,),
        answers=tuple(sorted(answers)),
        wrong=tuple(sorted(others - answers)),
        source="redocred",
        group=sentence.group,
    )
