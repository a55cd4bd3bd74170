"""Graphs without a model: entities as `mentions` finds them, relations as the words between them.

Of an answer, two neighbours in a clause are an edge: what it asserts, each once; what a clause says
behind its last entity is asserted of that one alone. Of the passages, any two in one sentence are
an edge, so that an assertion is looked for however it was spread. This is no parser, and a pronoun
represents nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from safepassage.passages.sentence_splitting import sentences
from safepassage.scoring_worker.comparison.contract import Passage, Place
from safepassage.scoring_worker.comparison.passage_language import with_language
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.packs.interface import Pack

from .clauses import BREAK, Clauses
from .graph import QUERY, Edge, Entity, Graph, Graphs, NoGraph
from .mentions import Mention, Vocabulary, mentions, vocabulary

MAX_CHARACTERS = 200_000
"""Of context, query and answer together: beyond, no graph is made and nothing is judged."""
MAX_EDGES = 20_000
LONGEST_RELATION = 160
_REACH = 8
"""How many entities further on in its sentence one of the passages is still tied to."""


class LocalExtractor:
    """A `GraphExtractor` that needs no hub and no LLM. ``terms``: things without a name, too.
    ``packs`` have names for the things of their domain."""

    def __init__(self, *, terms: bool = True, packs: Sequence[Pack] = ()) -> None:
        self._terms = terms
        self._packs = tuple(packs)
        named = [pack.name for pack in packs]
        self.revision = "-".join(["local", *(["terms"] if terms else []), *named])

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
        own = self._sentences(0, answer.response, known)
        quoted = [each for place in passages for each in self._sentences(*place, known)]
        return Graphs(_graph(own, _neighbours), _graph(quoted, _within_reach))

    def _sentences(self, passage: int, text: str, known: Vocabulary) -> list[_Sentence]:
        language = _language(text)
        made = []
        for start, end in sentences(text):
            said = text[start:end]
            found = mentions(said, known, language, terms=self._terms, packs=self._packs)
            made.append(_Sentence(passage, start, said, found))
        return made


class _Sentence:
    """``text`` begins at ``start`` of passage number ``passage``."""

    def __init__(self, passage: int, start: int, text: str, found: list[Mention]) -> None:
        self.mentions = found
        self._passage = passage
        self._start = start
        self._text = text
        self._clauses = Clauses(text, [(one.start, one.end) for one in found])

    def entity(self, number: int) -> Entity:
        mention = self.mentions[number]
        return replace(mention.entity, place=self._place(mention.start, mention.end))

    def parted(self, one: int, other: int) -> bool:
        between = self._text[self.mentions[one].end : self.mentions[other].start]
        return BREAK.search(between) is not None

    def edge(self, one: int, other: int) -> Edge:
        first, second = self.mentions[one], self.mentions[other]
        between = self._text[first.end : second.start]
        return Edge(
            subject=self.entity(one),
            relation=" ".join(between[:LONGEST_RELATION].split()),
            object=self.entity(other),
            place=self._place(first.start, second.end),
            passage=self._passage,
        )

    def statement(self, number: int, *, whole: bool) -> Edge | None:
        """What the clause says of one entity, in all of it or behind the entity; None if nothing.

        A clause that ends with the entity is taken whole where it has no other.
        """
        mention = self.mentions[number]
        start = self._clauses.clause_start(mention.start)
        end = self._clauses.clause_end(mention.start)
        said = not whole and self._clauses.says(mention.end, end)
        alone = not any(
            start <= other.start < end for other in self.mentions if other is not mention
        )
        if whole or (alone and not said):
            said = self._clauses.says(start, end)
        if not said:
            return None
        entity = self.entity(number)
        last = len(self._text[:end].rstrip(" .,!?\n\t")) if not whole else mention.end
        last = max(mention.end, min(last, mention.end + LONGEST_RELATION))
        return Edge(
            subject=entity,
            relation="" if whole else " ".join(self._text[mention.end : last].split()),
            object=entity,
            place=self._place(mention.start, last),
            passage=self._passage,
        )

    def clause_of(self, number: int) -> int:
        return self._clauses.clause_start(self.mentions[number].start)

    def _place(self, start: int, end: int) -> Place:
        return Place(self._start + start, self._start + end)


def _language(text: str) -> str | None:
    return with_language(Passage(text)).language


def _graph(read: Sequence[_Sentence], edges: Callable[[_Sentence], Iterator[Edge]]) -> Graph:
    stated = (edge for sentence in read for edge in edges(sentence))
    return Graph(
        mentions=tuple([s.entity(number) for s in read for number in range(len(s.mentions))]),
        edges=tuple(islice(stated, MAX_EDGES)),
    )


def _neighbours(sentence: _Sentence) -> Iterator[Edge]:
    """What an answer asserts: each entity with the next one of its clause, and what follows the
    last one."""
    last = len(sentence.mentions) - 1
    for number in range(last + 1):
        if number < last and not sentence.parted(number, number + 1):
            yield sentence.edge(number, number + 1)
        if number == last or sentence.clause_of(number) != sentence.clause_of(number + 1):
            statement = sentence.statement(number, whole=False)
            if statement is not None:
                yield statement


def _within_reach(sentence: _Sentence) -> Iterator[Edge]:
    """What a passage may support: each entity with those behind it, and what is said of it."""
    for one in range(len(sentence.mentions)):
        statement = sentence.statement(one, whole=True)
        if statement is not None:
            yield statement
        for other in range(one + 1, min(len(sentence.mentions), one + 1 + _REACH)):
            yield sentence.edge(one, other)
