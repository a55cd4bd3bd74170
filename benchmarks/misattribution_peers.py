"""Other projects as commands for ``misattribution.py``, each in an environment of its own:

    python -m venv /tmp/groundgate
    /tmp/groundgate/bin/pip install -r benchmarks/misattribution/peers/groundgate.txt
    python benchmarks/misattribution.py --command \\
        groundgate='/tmp/groundgate/bin/python benchmarks/misattribution_peers.py groundgate'

Reads a JSON object a line on stdin and writes a score a line on stdout, ``null`` for what the
project does not judge. Needs nothing of SafePassage. Each peer is asked in the mode that needs no
model from a hub, and reads the quote, with which all did better here than with the document.
``substring`` and ``words`` need no project: is the value in the quote, and which share of the
claim's words is?
"""

# ruff: noqa: PLC0415 - the environment of a peer has none of the others

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, TextIO

Asked = dict[str, Any]
Peer = Callable[[Asked], "float | None"]


def quoted(asked: Asked) -> str:
    """The quote of a value; of a sentence its passages."""
    return asked["quote"] if "quote" in asked else "\n\n".join(asked["passages"])


def substring() -> Peer:
    """Is the value, or the sentence, in the quote?"""

    def score(asked: Asked) -> float:
        return float(asked.get("value", asked["claim"]).casefold() in quoted(asked).casefold())

    return score


def words() -> Peer:
    """The share of the claim's words that the quote has."""

    def score(asked: Asked) -> float:
        own = set(re.findall(r"\w+", asked["claim"].casefold()))
        there = set(re.findall(r"\w+", quoted(asked).casefold()))
        return len(own & there) / len(own) if own else 0.0

    return score


def groundgate() -> Peer:
    """Its decision on one candidate with its quote; it judges values only."""
    import groundgate as gate

    outcomes = {"rejected": 0.0, "needs_verification": 0.5, "admitted": 1.0}

    def score(asked: Asked) -> float | None:
        if "value" not in asked:
            return None
        text, value, quote, name = (
            unicodedata.normalize("NFC", asked[key])
            for key in ("document", "value", "quote", "field")
        )
        schema = {"fields": {"asked": {"type": "string", "description": name, "aliases": [name]}}}
        candidate = {"field": "asked", "value": value, "evidence": [{"text": quote}]}
        try:
            (decision,) = gate.admit(text, schema, [candidate]).decisions
        except gate.PacketError:
            return None
        return outcomes[decision.outcome]

    return score


def groundcheck_rag() -> Peer:
    """Its lexical baseline; its model would come from a hub."""
    from groundcheck import GroundCheck

    checker = GroundCheck(backend="heuristic")
    return lambda asked: checker.check(quoted(asked), asked["claim"]).grounded_score


def cite_right() -> Peer:
    """Its groundedness by alignment, without embeddings."""
    from cite_right import check_groundedness

    return lambda asked: check_groundedness(asked["claim"], [quoted(asked)]).groundedness_score


def hallucination_gate() -> Peer:
    """The least support of a claim in its mode without models, less what contradicts it."""
    from hallucination_gate import HallucinationGate

    gate = HallucinationGate(use_heuristic=True)

    def score(asked: Asked) -> float | None:
        query = asked.get("field", asked["claim"])
        claims = gate.check(query, asked["claim"], context=[quoted(asked)]).claims
        return min(
            (one["support_score"] - one["contradiction_score"] for one in claims), default=None
        )

    return score


def verifydoc() -> Peer:
    """Its confidence in a value that was extracted; it judges values only."""
    from verifydoc.ingest import document_from_text
    from verifydoc.integrations.instructor import CannedAdapter
    from verifydoc.pipeline import verify
    from verifydoc.types import Schema

    def score(asked: Asked) -> float | None:
        if "value" not in asked:
            return None
        name = asked["field"].replace(".", " ").replace("[", "(").replace("]", ")")
        fields = {name: {"type": "string"}}
        schema = Schema.from_json_schema({"type": "object", "properties": fields})
        document = document_from_text("asked", [quoted(asked)])
        found = verify(document, schema, adapter=CannedAdapter({name: asked["value"]})).fields
        return found[0].confidence if found else None

    return score


def anchorcite() -> Peer:
    """The score of the sentence that it anchors the claim to, by words."""
    from anchorcite import LexicalScorer, anchor_claim

    scorer = LexicalScorer()

    def score(asked: Asked) -> float:
        found = anchor_claim(asked["claim"], quoted(asked), scorer=scorer, threshold=0.0)
        return found.score if found else 0.0

    return score


def sparrow_decider() -> Peer:
    """The yes of its decision model, whose weights are in its package."""
    from sparrow_decider import Decider

    decider = Decider.load()

    def score(asked: Asked) -> float:
        question = {"type": "noul", "instructions": f"Does the text say this? {asked['claim']}"}
        return float(decider.ask(quoted(asked), {"asked": question})["asked"]["noul"])

    return score


PEERS: dict[str, Callable[[], Peer]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        substring,
        words,
        groundgate,
        groundcheck_rag,
        cite_right,
        hallucination_gate,
        verifydoc,
        anchorcite,
        sparrow_decider,
    )
}


def answer(peer: Peer, lines: Iterable[str], out: TextIO) -> None:
    """A score a line, for each line."""
    for line in lines:
        score = peer(json.loads(line))
        out.write(json.dumps(None if score is None else float(score)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in PEERS:
        sys.exit(f"one of: {', '.join(PEERS)}")
    scores, sys.stdout = sys.stdout, sys.stderr  # what a project prints is no score
    sys.stdin.reconfigure(encoding="utf-8")
    answer(PEERS[sys.argv[1]](), sys.stdin, scores)
