"""EG and RP: how much of an answer's graph is in the graphs of context and query.

Whether a relation is preserved, a reader is asked (`entailment`).

Both are of the paper's section 3. A set that is empty has no share: EG of an answer without
entities, and RP of one without edges, are unknown, and never 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.scoring_worker.comparison.contract import Place

from .clauses import cues_digest
from .entailment import Support
from .graph import Edge, Entity, Graphs
from .matching import Matcher

ENTITY_WEIGHT = 0.5
"""Of EG in `Fidelity.score`; the paper names both measures and no way to join them."""
SUPPORTED = 0.3
"""The reader's support from which on a relation is drawn as supported."""
CLAIM_THRESHOLD = ENTITY_WEIGHT + (1 - ENTITY_WEIGHT) * SUPPORTED
"""Where a claim counts as supported: all of its entities are found, and so are its relations."""
GRAPH_RULES = "5"
"""Raise it by one whenever the same texts may get another graph or another alignment of graphs; the
words of ``cues.txt`` and the weight above have a digest of their own."""


def graph_rules() -> str:
    """``graphs3-1f2e3d4c``: changes with the rules, the cues and the weight of a score."""
    said = f"{GRAPH_RULES} {ENTITY_WEIGHT} {cues_digest()}".encode()
    return f"graphs{GRAPH_RULES}-{hashlib.sha256(said).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A mention of the answer, and the node that it matches; None where it is nowhere."""

    entity: Entity
    match: Entity | None


@dataclass(frozen=True, slots=True)
class FoundEdge:
    """An edge of the answer with the one that it aligns with, its ends that are nowhere, and how
    far what it says is supported, in [0, 1]."""

    edge: Edge
    aligned: Edge | None
    missing: tuple[Entity, ...] = ()
    support: float = 0.0


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Every mention and every edge of an answer, judged."""

    mentions: tuple[FoundEntity, ...]
    edges: tuple[FoundEdge, ...]

    @property
    def entities(self) -> tuple[FoundEntity, ...]:
        """Each entity once, where it is mentioned first."""
        first: dict[Entity, FoundEntity] = {}
        for found in self.mentions:
            first.setdefault(found.entity.node, found)
        return tuple(first.values())

    @property
    def entity_grounding(self) -> float | None:
        """EG in [0, 1]: the share of entities that match one of context or query."""
        return _share([found.match is not None for found in self.entities])

    @property
    def relation_preservation(self) -> float | None:
        """RP in [0, 1]: the mean support of the edges."""
        return _share([found.support for found in self.edges])

    @property
    def score(self) -> float | None:
        """The weighted mean of EG and RP."""
        return self.joined(ENTITY_WEIGHT)

    def joined(self, weight: float) -> float | None:
        """``weight`` of EG and the rest of RP; EG where nothing is said to hold between the
        entities, None where there are none."""
        grounding, preservation = self.entity_grounding, self.relation_preservation
        if grounding is None or preservation is None:
            return grounding
        return weight * grounding + (1 - weight) * preservation

    def within(self, start: int, end: int) -> Fidelity:
        """Of a part of the answer: what is in ``response[start:end]``."""
        return Fidelity(
            tuple([f for f in self.mentions if _stands_in(f.entity.place, start, end)]),
            tuple([f for f in self.edges if _stands_in(f.edge.place, start, end)]),
        )


def compare(graphs: Graphs, supports: Sequence[Support] = ()) -> Fidelity:
    """Judge the answer's graph by the others; ``supports`` are the reader's, of its sentences."""
    matcher = Matcher(graphs.reference)
    mentions = []
    for entity in graphs.answer.mentions:
        matches = matcher.matches(entity)
        mentions.append(FoundEntity(entity, matches[0] if matches else None))
    return Fidelity(
        tuple(mentions), tuple([_found(edge, matcher, supports) for edge in graphs.answer.edges])
    )


def _found(edge: Edge, matcher: Matcher, supports: Sequence[Support]) -> FoundEdge:
    ends = (edge.subject,) if edge.is_statement else (edge.subject, edge.object)
    missing = tuple([end for end in ends if not matcher.matches(end)])
    if missing:
        return FoundEdge(edge, None, missing)
    aligned = matcher.aligned(edge)
    if edge.compares:
        return FoundEdge(edge, aligned, support=float(aligned is not None))
    place = edge.place or Place(0, 0)
    said = [one.support for one in supports if one.start < place.end and place.start < one.end]
    return FoundEdge(edge, aligned, support=min(said, default=0.0))


def _stands_in(place: Place | None, start: int, end: int) -> bool:
    return place is not None and start <= place.start and place.end <= end


def _share(held: Sequence[float]) -> float | None:
    return sum(held) / len(held) if held else None
