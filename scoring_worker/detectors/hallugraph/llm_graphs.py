"""Graphs by an LLM with structured output, as the paper makes them with a small language model.

The LLM only reads: what it says stands in a passage counts where it does stand there, letter by
letter but for case and blanks, so that nothing it makes up can support an answer. What it reads
in the answer and cannot be found there is looked for all the same.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from safepassage.passages.granularity import windows
from safepassage.schemas.evidence import MAX_TRIPLE_CHARACTERS
from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings, Grounding
from safepassage.scoring_worker.detectors.llm.batch_calls import Conversation
from safepassage.scoring_worker.detectors.llm.detector import LLMDetector
from safepassage.scoring_worker.detectors.llm.loading import asker_of
from safepassage.scoring_worker.detectors.llm.prompting import (
    AnswerForm,
    Prompt,
    prompt,
    prompts_digest,
)
from safepassage.scoring_worker.text.segmentation import words_of

from .clauses import stem
from .detector import grounding_of
from .graph import QUERY, Edge, Entity, Graph, Graphs
from .mentions import Vocabulary, mentions

PIECE_CHARACTERS: Final = 3_000
"""Of a passage that are asked about at once: more has more statements than an answer has room."""
MAX_LISTED: Final = 80
MAX_PIECES: Final = 100

EXTRACTION: Final = """\
You draw a text as a graph. "entities": every person, organisation, place, law, date, amount,
identifier and thing that the text speaks of, each once, copied from the text. "triples": every
relation that the text states between two of these entities, as subject, relation, object. Copy the
words of the relation from the text, with its "not" where it has one. Replace a pronoun by the
entity that it stands for. Add nothing that the text does not say, whether it is true or not.
"""


class StatedTriple(AnswerForm):
    """One relation."""

    subject: str = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS)
    relation: str = Field(max_length=MAX_TRIPLE_CHARACTERS)
    object: str = Field(min_length=1, max_length=MAX_TRIPLE_CHARACTERS)


class StatedGraph(AnswerForm):
    """What the LLM reads in one text."""

    entities: tuple[str, ...] = Field(max_length=MAX_LISTED)
    triples: tuple[StatedTriple, ...] = Field(max_length=MAX_LISTED)


@dataclass(frozen=True, slots=True)
class _Piece:
    """``text`` begins at ``start`` of passage number ``passage``."""

    text: str
    passage: int = 0
    start: int = 0


class StatedGraphs:
    """A `Method`: one question for the answer, one for the query and one for each piece of the
    passages; the graphs are compared here."""

    digest = prompts_digest(EXTRACTION, StatedGraph, rules_revision())

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """The grounding of one answer.

        Raises:
            NoAnswer: the LLM gave none that can be used.
        """
        pieces = [
            _Piece(answer.context[w.passage][w.start : w.end], w.passage, w.start)
            for w in windows(answer.context, PIECE_CHARACTERS, overlap=0)
        ]
        if len(pieces) > MAX_PIECES:
            return Grounding.undetermined("texts_too_long")
        if answer.query.strip():
            pieces.append(_Piece(answer.query, QUERY))
        asked = [_Piece(answer.response), *pieces]
        stated, *known = await asyncio.gather(
            *(conversation.ask(graph_prompt(piece.text)) for piece in asked)
        )
        reference = [_held(graph, piece) for graph, piece in zip(known, pieces, strict=True)]
        graphs = Graphs(_drawn(stated, asked[0]), _joined(reference))
        return grounding_of(answer, graphs)


def graph_prompt(text: str) -> Prompt[StatedGraph]:
    """What the entities and relations of ``text`` are."""
    return prompt(
        "graph", EXTRACTION, {"TEXT": text}, "What is the graph of the text?", StatedGraph
    )


def load_llm(settings: DetectorSettings) -> LLMDetector:
    """HalluGraph with graphs by the LLM that the settings or the environment name."""
    return LLMDetector("hallugraph_llm", StatedGraphs(), asker_of(settings))


def _held(stated: StatedGraph, piece: _Piece) -> Graph:
    """What of ``stated`` stands in the piece."""
    graph = _drawn(stated, piece)
    return Graph(
        tuple([entity for entity in graph.mentions if entity.place]),
        tuple([edge for edge in graph.edges if edge.subject.place and edge.object.place]),
    )


def _joined(graphs: Iterable[Graph]) -> Graph:
    every = list(graphs)
    return Graph(
        tuple([entity for graph in every for entity in graph.mentions]),
        tuple([edge for graph in every for edge in graph.edges]),
    )


def _drawn(stated: StatedGraph, piece: _Piece) -> Graph:
    edges = tuple([_edge(triple, piece) for triple in stated.triples])
    ends = [end for edge in edges for end in (edge.subject, edge.object)]
    listed = [_entity(text, piece) for text in stated.entities if text.strip()]
    return Graph(tuple(dict.fromkeys([*listed, *ends])), edges)


def _edge(triple: StatedTriple, piece: _Piece) -> Edge:
    subject, target = _entity(triple.subject, piece), _entity(triple.object, piece)
    return Edge(
        subject=subject,
        relation=triple.relation,
        object=target,
        said=f"{triple.subject} {triple.relation} {triple.object}",
        place=_around([subject, target]),
        passage=piece.passage,
    )


def _entity(text: str, piece: _Piece) -> Entity:
    """``text`` as the comparators would read it, where it stands first."""
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
