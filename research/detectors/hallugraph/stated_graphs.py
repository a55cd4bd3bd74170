"""Graphs of what a model states of texts, be it an LLM or one that was taught to write triples.

The model only reads: what it says is in a passage counts only if it is there, letter by letter
but for case and blanks, so that nothing it makes up can support an answer. What it reads
in the answer and cannot be found there is looked for all the same.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import Field

from research.detectors.llm.prompting import AnswerForm
from research.windows import windows
from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS
from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.comparison.denials.scopes import denies
from safepassage.scoring_worker.detectors.hallugraph.clauses import cues, is_predicate, stem
from safepassage.scoring_worker.detectors.hallugraph.graph import Edge, Entity, Graph
from safepassage.scoring_worker.detectors.hallugraph.mentions import Vocabulary, mentions
from safepassage.scoring_worker.text.segmentation import words_of

MAX_LISTED: Final = 80
_AGENTS: Final = frozenset(
    ["by", "von", "durch", "par", "por", "pelo", "pela", "da", "dal", "door"]
)
"""Beside one of two relations, and not the other, it may turn who did it and to whom."""


class StatedTriple(AnswerForm):
    """One relation."""

    subject: str = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS)
    relation: str = Field(max_length=MAX_TRIPLE_CHARACTERS)
    object: str = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS)


class StatedGraph(AnswerForm):
    """What a model reads in one text."""

    entities: tuple[str, ...] = Field(max_length=MAX_LISTED)
    triples: tuple[StatedTriple, ...] = Field(max_length=MAX_LISTED)


@dataclass(frozen=True, slots=True)
class StatedEdge(Edge):
    """An edge in a model's own words and order, which are compared. ``said`` is the triple."""

    compares = True

    said: str = ""

    def may_say(self, other: Edge, *, turned: bool) -> bool:
        """Its order is its direction; the words have to share a stem and be denied alike."""
        mine, theirs = _words(self.relation), _words(other.relation)
        said, quoted = _stems(self.relation), _stems(other.relation)
        # A relation without words, or that says no more than "and", has no direction.
        directed = not mine | theirs <= cues("conjunctions")
        if turned and directed and bool(mine & _AGENTS) == bool(theirs & _AGENTS):
            return False
        if said and not said & quoted:
            return False
        return isinstance(other, StatedEdge) and _denied(self.said) == _denied(other.said)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.keys.plain for word in words_of(text))


@lru_cache(maxsize=8_192)
def _stems(text: str) -> frozenset[str]:
    """The stems of a text's content words; adverbs in "-ly" say how, not what."""
    plain = [word.keys.plain for word in words_of(text)]
    return frozenset(stem(word) for at, word in enumerate(plain) if is_predicate(plain, at))


@lru_cache(maxsize=8_192)
def _denied(text: str) -> bool:
    return denies(text)


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` begins at ``start`` of passage number ``passage``."""

    text: str
    passage: int = 0
    start: int = 0


def pieces_of(texts: Sequence[str], room: int) -> list[Piece]:
    """``texts`` in pieces of at most ``room`` characters, one behind the other."""
    return [
        Piece(texts[w.passage][w.start : w.end], w.passage, w.start)
        for w in windows(texts, room, overlap=0)
    ]


def held(stated: StatedGraph, piece: Piece) -> Graph:
    """What of ``stated`` is in the piece: the graph of a passage."""
    graph = drawn(stated, piece)
    return Graph(
        tuple([entity for entity in graph.mentions if entity.place]),
        tuple([edge for edge in graph.edges if edge.subject.place and edge.object.place]),
    )


def joined(graphs: Iterable[Graph]) -> Graph:
    """All of them as one graph."""
    every = list(graphs)
    return Graph(
        tuple([entity for graph in every for entity in graph.mentions]),
        tuple([edge for graph in every for edge in graph.edges]),
    )


def drawn(stated: StatedGraph, piece: Piece) -> Graph:
    """All of ``stated``: the graph of an answer."""
    edges = tuple([_edge(triple, piece) for triple in stated.triples])
    ends = [end for edge in edges for end in (edge.subject, edge.object)]
    listed = [_entity(text, piece) for text in stated.entities if text.strip()]
    return Graph(tuple(dict.fromkeys([*listed, *ends])), edges)


def _edge(triple: StatedTriple, piece: Piece) -> Edge:
    subject, target = _entity(triple.subject, piece), _entity(triple.object, piece)
    return StatedEdge(
        subject=subject,
        relation=triple.relation,
        object=target,
        said=f"{triple.subject} {triple.relation} {triple.object}",
        place=_around([subject, target]),
        passage=piece.passage,
    )


def _entity(text: str, piece: Piece) -> Entity:
    """``text`` as the comparators would read it, where it is first."""
    words = words_of(text)
    known = Vocabulary(
        frozenset(word.keys.plain for word in words),
        frozenset(stem(word.keys.plain) for word in words),
    )
    whole = [m.entity.kind for m in mentions(text, known) if m.entity.text == text.strip()]
    named = any(map(str.isupper, text))
    kind = whole[0] if whole else "name" if named else "term"
    found = re.search(r"\s+".join(map(re.escape, text.split())), piece.text, re.IGNORECASE)
    place = Place(piece.start + found.start(), piece.start + found.end()) if found else None
    return Entity(text.strip(), kind, place)


def _around(entities: Sequence[Entity]) -> Place | None:
    places = [entity.place for entity in entities if entity.place]
    if len(places) < len(entities):
        return None
    return Place(min(place.start for place in places), max(place.end for place in places))
