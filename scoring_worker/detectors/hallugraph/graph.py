"""A text as a graph: what it speaks of, and what it says holds between two of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Protocol

from safepassage.scoring_worker.comparison.contract import Place
from safepassage.scoring_worker.detectors.contract import Answer

EntityKind = Literal["name", "figure", "date", "identifier", "term", "thing"]

QUERY: Final = -1
"""The passage number of what is in the query."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: a name, a figure (with its unit or currency), a date, an identifier, a word for a
    thing, or what a pack has a name for (``key`` says of which sort, and which). ``place`` is where
    it is first, None where an LLM wrote it in other words."""

    text: str
    kind: EntityKind
    place: Place | None = None
    key: str = ""

    @property
    def node(self) -> Entity:
        """The entity without its place: one node, wherever and however often it is."""
        text = self.text.casefold() if self.kind in ("term", "thing") else self.text
        return Entity(text, self.kind, key=self.key)


@dataclass(frozen=True, slots=True)
class Edge:
    """``subject`` and ``object`` in the text's order, and the words between. ``passage`` is the
    number of its passage (`QUERY`: the query).

    An edge from an entity to itself is what a clause says of that entity alone ("was granted").
    Whether another edge says the same, a reader is asked; ``compares`` is True of a class whose
    `may_say` decides it.
    """

    compares: ClassVar[bool] = False

    subject: Entity
    relation: str
    object: Entity
    place: Place | None = None
    passage: int = 0

    @property
    def is_statement(self) -> bool:
        """Whether it says something of one entity alone."""
        return self.subject == self.object

    def may_say(self, _other: Edge, *, turned: bool) -> bool:
        """Whether the other edge, between the same entities, may say this; ``turned`` is whether
        it has them the other way round."""
        return True


@dataclass(frozen=True, slots=True)
class Graph:
    """``mentions`` are all the places of all entities, in the order of the text."""

    mentions: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Graphs:
    """G_a, and G_c with G_q as one graph of what may support it."""

    answer: Graph
    reference: Graph


class NoGraph(Exception):
    """A text could not be turned into a graph; the message is a word for people."""


class GraphExtractor(Protocol):
    """Texts to graphs. ``revision`` changes with anything that can change a graph."""

    @property
    def revision(self) -> str: ...

    def graphs(self, answers: Sequence[Answer]) -> list[Graphs | NoGraph]: ...

    def close(self) -> None: ...
