"""Graphs by an LLM with structured output, as the paper makes them with a small language model."""

import asyncio
from typing import Final

from research.detectors.llm.batch_calls import Conversation
from research.detectors.llm.detector import LLMDetector
from research.detectors.llm.loading import asker_of
from research.detectors.llm.prompting import Prompt, prompt, prompts_digest
from safepassage.scoring_worker.comparison.rules_version import rules_revision
from safepassage.scoring_worker.detectors.contract import Answer, DetectorSettings, Grounding
from safepassage.scoring_worker.detectors.hallugraph.detector import grounding_of
from safepassage.scoring_worker.detectors.hallugraph.graph import QUERY, Graphs

from .stated_graphs import Piece, StatedGraph, drawn, held, joined, pieces_of

PIECE_CHARACTERS: Final = 3_000
"""Of a passage that are asked about at once: more has more statements than an answer has room."""
MAX_PIECES: Final = 100

EXTRACTION: Final = """\
You draw a text as a graph. "entities": every person, organisation, place, law, date, amount,
identifier and thing that the text speaks of, each once, copied from the text. "triples": every
relation that the text states between two of these entities, as subject, relation, object. Copy the
words of the relation from the text, with its "not" where it has one. Replace a pronoun by the
entity that it represents. Add nothing that the text does not say, whether it is true or not.
"""


class StatedGraphs:
    """A `Method`: one question for the answer, one for the query and one for each piece of the
    passages; the graphs are compared here."""

    digest = prompts_digest(EXTRACTION, StatedGraph, rules_revision())

    async def judge(self, conversation: Conversation, answer: Answer) -> Grounding:
        """The grounding of one answer.

        Raises:
            NoAnswer: the LLM gave none that can be used.
        """
        pieces = pieces_of(answer.context, PIECE_CHARACTERS)
        if len(pieces) > MAX_PIECES:
            return Grounding.undetermined("texts_too_long")
        if answer.query.strip():
            pieces.append(Piece(answer.query, QUERY))
        asked = [Piece(answer.response), *pieces]
        stated, *known = await asyncio.gather(
            *(conversation.ask(graph_prompt(piece.text)) for piece in asked)
        )
        reference = [held(graph, piece) for graph, piece in zip(known, pieces, strict=True)]
        graphs = Graphs(drawn(stated, asked[0]), joined(reference))
        return grounding_of(answer, graphs)


def graph_prompt(text: str) -> Prompt[StatedGraph]:
    """What the entities and relations of ``text`` are."""
    question = "What is the graph of the text?"
    return prompt("graph", EXTRACTION, {"TEXT": text}, question, StatedGraph)


def load_llm(settings: DetectorSettings) -> LLMDetector:
    """HalluGraph with graphs by the LLM that the settings or the environment name."""
    return LLMDetector("hallugraph_llm", StatedGraphs(), asker_of(settings))
