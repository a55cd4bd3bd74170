"""EG and RP: how much of an answer's graph stands in the graphs of context and query.

Both are of the paper's section 3. A set that is empty has no share: EG of an answer without
entities, and RP of one without edges, are unknown, and never 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.scoring_worker.comparison.contract import Place

from .clauses import cues_digest
from .graph import Edge, Entity, Graphs
from .matching import Matcher

ENTITY_WEIGHT = 0.8
"""Of EG in `Fidelity.score`; the paper names both measures and no way to join them. Fitted to AUC
on RAGTruth QA by `safepassage graph regime`, which has the plain mean beside it."""
CLAIM_THRESHOLD = 0.95
"""Where a claim counts as supported: with all entities found, three of four relations hold."""
GRAPH_RULES = "4"
"""Raise it by one whenever the same texts may get another graph or another alignment of graphs; the
words of ``cues.txt`` and the weight above have a digest of their own."""


def graph_rules() -> str:
    """``graphs3-1f2e3d4c``: changes with the rules, the cues and the weight of a score."""
    said = f"{GRAPH_RULES} {ENTITY_WEIGHT} {cues_digest()}".encode()
    return f"graphs{GRAPH_RULES}-{hashlib.sha256(said).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A mention of the answer, and the node that it matches; None where it stands nowhere."""

    entity: Entity
    match: Entity | None


@dataclass(frozen=True, slots=True)
class FoundEdge:
    """An edge of the answer with the one that it aligns with, and its ends that stand nowhere."""

    edge: Edge
    aligned: Edge | None
    missing: tuple[Entity, ...] = ()


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
        """RP in [0, 1]: the share of edges with an aligned edge."""
        return _share([found.aligned is not None for found in self.edges])

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
        """Of a part of the answer: what stands in ``response[start:end]``."""
        return Fidelity(
            tuple([f for f in self.mentions if _stands_in(f.entity.place, start, end)]),
            tuple([f for f in self.edges if _stands_in(f.edge.place, start, end)]),
        )


def compare(graphs: Graphs) -> Fidelity:
    """Judge the answer's graph by the others."""
    matcher = Matcher(graphs.reference)
    mentions = []
    for entity in graphs.answer.mentions:
        matches = matcher.matches(entity)
        mentions.append(FoundEntity(entity, matches[0] if matches else None))
    return Fidelity(tuple(mentions), tuple([_found(edge, matcher) for edge in graphs.answer.edges]))


def _found(edge: Edge, matcher: Matcher) -> FoundEdge:
    ends = (edge.subject,) if edge.is_statement else (edge.subject, edge.object)
    missing = tuple([end for end in ends if not matcher.matches(end)])
    return FoundEdge(edge, None if missing else matcher.aligned(edge), missing)


def _stands_in(place: Place | None, start: int, end: int) -> bool:
    return place is not None and start <= place.start and place.end <= end


def _share(held: Sequence[bool]) -> float | None:
    return sum(held) / len(held) if held else None
