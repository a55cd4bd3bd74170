"""Builds the corpus by seed. The files keep what it gave: a case stays when its generator goes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from recipes.corruption.corruptors import labelled_pairs
from recipes.invented import synthetic_documents
from recipes.invented.generators import filled
from recipes.invented.wordings import WORDINGS
from safepassage.passages.index import PassageIndex
from safepassage.schemas import CLAIM_TYPE, Response

from .generated import Asked, questions
from .written import CLAIMS, PACKED, QUESTIONS

_DOCUMENTS = 4
_SYNTHETIC = 110
_WITH_PACKS = 40
PACKS = ("contracts", "legal")


def comparisons() -> Iterator[Asked]:
    """Cases for the comparators."""
    yield from _written()
    yield from questions()


def pairs() -> Iterator[Asked]:
    """Cases for the default scorer."""
    yield from _written()
    made = list(_synthetic())
    yield from made
    for _, asked in made[:_WITH_PACKS]:
        yield "packs/synthetic", {**asked, "packs": PACKS}
    for kind, value, quote in PACKED:
        asked = {"type": kind, "value": value, "quote": quote}
        yield "packs/without", asked
        yield "packs/written", {**asked, "packs": PACKS}
    for group, asked in questions():
        if group.startswith(("date/", "amount/", "spelled")) and _hash_share(asked, 13):
            yield group, asked
    yield from _sentences()
    yield from _claims()


def graphs() -> Iterator[Asked]:
    """Cases for HalluGraph."""
    for context, sentences in CLAIMS:
        for sentence in (*sentences, " ".join(sentences)):
            yield "graph", {"context": context, "response": sentence}


def _written() -> Iterator[Asked]:
    for group, rows in QUESTIONS.items():
        for kind, value, quote, *more in rows:
            known = more[0] if more else {}
            yield f"written/{group}", {"type": kind, "value": value, "quote": quote, **known}


def _synthetic() -> Iterator[Asked]:
    made = list(labelled_pairs(synthetic_documents(_DOCUMENTS, seed=19), seed=19))
    for pair in random.Random(19).sample(made, min(_SYNTHETIC, len(made))):
        asked = {"type": pair.entity_type, "value": pair.value, "quote": pair.premise}
        yield f"synthetic/{pair.kind}", asked


def _hash_share(asked: dict[str, Any], every: int) -> bool:
    return sum(map(ord, asked["quote"])) % every == 0


def _sentences() -> Iterator[Asked]:
    """A sentence of each sense in the languages of the wordings."""
    for language, words in WORDINGS.items():
        for sense in ("denied", "supposed", "stated", "conditional"):
            for wording in getattr(words, sense)[:2]:
                quote = filled(wording, v="Lyon", w="Hamburg", t="City", a="2019", b="2020")[0]
                asked = {"type": "City", "value": "Lyon", "quote": quote, "language": language}
                yield f"sentence/{language}/{sense}", asked


def _claims() -> Iterator[Asked]:
    """Claims as the stream asks them: on the sentences that were retrieved for them."""
    for context, sentences in CLAIMS:
        given = Response(id="golden", context=list(context), response="")
        index = PassageIndex(given.text, given.passage_starts)
        for sentence in sentences:
            found = index.retrieve(sentence)
            absent = [[word.start, word.end] for word in found.absent or ()]
            asked = {"type": CLAIM_TYPE, "value": sentence, "quote": found.passage}
            yield "claim", {**asked, "absent": absent}
