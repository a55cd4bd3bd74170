"""Graphs without a model: entities as `mentions` finds them, relations as the words between them.

Of an answer, two neighbours in a clause are an edge: what it asserts, each once. Of the passages,
any two in one sentence are, so that an assertion is looked for however it was spread. This is no
parser: who does what to whom is read off the order of the words, and a pronoun stands for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from safepassage.passages.sentences import sentences
from safepassage.scoring_worker.comparison.contract import Passage, Place
from safepassage.scoring_worker.comparison.passage_language import with_language
from safepassage.scoring_worker.detectors.contract import Answer

from .graph import QUERY, Edge, Entity, Graph, Graphs, NoGraph
from .mentions import Mention, Vocabulary, mentions, vocabulary

MAX_CHARACTERS = 200_000
"""Of context, query and answer together: beyond, no graph is made and nothing is judged."""
MAX_EDGES = 20_000
LONGEST_RELATION = 160
_REACH = 8
"""How many entities further on in its sentence one of the passages is still tied to."""
_CLAUSE = re.compile(r"[;:()\[\]|\n]|\s[–—-]\s")


class LocalExtractor:
    """A `GraphExtractor` that needs no hub and no LLM. ``terms``: things without a name, too."""

    def __init__(self, *, terms: bool = True) -> None:
        self._terms = terms
        self.revision = "local-terms" if terms else "local"

    def graphs(self, answers: Sequence[Answer]) -> list[Graphs | NoGraph]:
        """The graphs of each answer, in order; `NoGraph` where the texts are too long."""
        return [self._graphs(answer) for answer in answers]

    def close(self) -> None:
        """Holds nothing."""

    def _graphs(self, answer: Answer) -> Graphs | NoGraph:
        texts = (*answer.context, answer.query, answer.response)
        if sum(map(len, texts)) > MAX_CHARACTERS:
            return NoGraph("texts_too_long")
        known = vocabulary((text, _language(text)) for text in texts)
        passages = [*enumerate(answer.context), (QUERY, answer.query)]
        return Graphs(
            answer=_graph(self._sentences(0, answer.response, known), _neighbours),
            reference=_graph(
                [
                    each
                    for number, text in passages
                    for each in self._sentences(number, text, known)
                ],
                _within_reach,
            ),
        )

    def _sentences(self, passage: int, text: str, known: Vocabulary) -> list[_Sentence]:
        language = _language(text)
        return [
            _Sentence(
                passage, start, text[start:end],
                mentions(text[start:end], known, language, terms=self._terms),
            )
            for start, end in sentences(text)
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sentence:
    """``text`` begins at ``start`` of passage number ``passage``."""

    passage: int
    start: int
    text: str
    mentions: list[Mention]

    def between(self, one: Mention, other: Mention) -> str:
        return self.text[one.end : other.start]

    def entity(self, mention: Mention) -> Entity:
        place = Place(self.start + mention.start, self.start + mention.end)
        return replace(mention.entity, place=place)

    def edge(self, one: Mention, other: Mention) -> Edge:
        return Edge(
            subject=self.entity(one),
            relation=" ".join(self.between(one, other)[:LONGEST_RELATION].split()),
            object=self.entity(other),
            said=self.text[one.start : other.end],
            place=Place(self.start + one.start, self.start + other.end),
            passage=self.passage,
        )


def _language(text: str) -> str | None:
    return with_language(Passage(text)).language


def _graph(read: Sequence[_Sentence], edges: Callable[[_Sentence], Iterator[Edge]]) -> Graph:
    stated = (edge for sentence in read for edge in edges(sentence))
    return Graph(
        mentions=tuple([s.entity(mention) for s in read for mention in s.mentions]),
        edges=tuple(islice(stated, MAX_EDGES)),
    )


def _neighbours(sentence: _Sentence) -> Iterator[Edge]:
    """What an answer asserts: each entity with the next one of its clause."""
    for one, other in pairwise(sentence.mentions):
        if not _CLAUSE.search(sentence.between(one, other)):
            yield sentence.edge(one, other)


def _within_reach(sentence: _Sentence) -> Iterator[Edge]:
    """What a passage may support: each entity with those behind it."""
    for at, one in enumerate(sentence.mentions):
        for other in sentence.mentions[at + 1 : at + 1 + _REACH]:
            yield sentence.edge(one, other)
