"""Corpora of a few lines, in the folders where the builders of scorers look for theirs."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from recipes.invented import synthetic_documents
from research.known_documents import KnownDocument


def write_corpora(
    data: Path, names: Iterable[str], passages: int, *, claims: Iterable[str]
) -> None:
    """Slots of ``passages`` passages a name, legal documents, and claims in these parts."""
    for name in names:
        _write(data / "general/slots" / f"{name}.jsonl.gz", _slots(name, passages))
    text = "Present: Justice Ann Lee\nThe appeal is dismissed."
    entity = {"type": "JUDGE", "start": 17, "end": 24}
    for name in ("cuad", "inlegal_ner"):
        rows = [{"id": f"{name}{at}", "text": text, "entities": [entity]} for at in range(9)]
        _write(data / "legal" / f"{name}.jsonl.gz", rows)
    statements = [
        {"premise": f"{at} dogs run", "hypothesis": said, "label": label, "source": "SNLI"}
        for at in range(30)
        for said, label in (("dogs run", "entailment"), ("a cat sleeps", "neutral"))
    ]
    for part in claims:
        _write(data / "nli" / f"{part}.jsonl.gz", statements)


def write_relations(data: Path, documents: int) -> None:
    """Articles of two sentences: who directed a film, and where somebody was born."""
    text = "Ada directed Heat . Ben was born in Leith ."
    names = [("PER", "Ada", 0), ("MISC", "Heat", 0), ("PER", "Ben", 1), ("LOC", "Leith", 1)]
    entities = [
        {
            "id": number,
            "type": kind,
            "name": name,
            "mentions": [
                {"start": text.index(name), "end": text.index(name) + len(name), "sent": sentence}
            ],
        }
        for number, (kind, name, sentence) in enumerate(names)
    ]
    relations = [{"r": "P57", "h": 1, "t": 0}, {"r": "P19", "h": 2, "t": 3}]
    common = {"text": text, "sent_offsets": [[0, 19], [20, 43]]}
    rows = [
        {"id": f"article{at}", **common, "entities": entities, "relations": relations}
        for at in range(documents)
    ]
    _write(data / "triples" / "redocred.jsonl.gz", rows)


def write_answers(data: Path, name: str) -> None:
    """Six answers of two sentences, half of them good."""
    context = "The lease began in May. The rent is paid each month."
    rows = [
        {"id": f"{at}-{label}", "context": context, "response": said, "label": label}
        for at in range(3)
        for said, label in (
            ("The lease began in May. The rent is paid each month.", 1),
            ("The lease began in May. The rent is paid each year.", 0),
        )
    ]
    _write(data / "groundedness" / f"{name}.jsonl.gz", rows)


def few_documents(_count: int, seed: int) -> Iterator[KnownDocument]:
    """Six synthetic documents, however many were asked for."""
    return synthetic_documents(6, seed)


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def _slots(name: str, count: int) -> Iterator[dict[str, Any]]:
    """A right and a wrong year of every passage."""
    rng = random.Random(name)
    for at in range(count):
        signed, ended = rng.sample(range(1990, 2020), 2)
        common = {
            "premise": f"{name} no. {at}: signed {signed}, ended {ended}",
            "type": "Signed",
            "source": name,
            "group": f"{name}-{at}",
            "lang": "en",
            "slot": "signed",
        }
        yield {**common, "value": str(signed), "label": 1, "kind": "pos"}
        yield {**common, "value": str(ended), "label": 0, "kind": "other"}
