"""The corpora that train what ships, and the share of each that only measures."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from recipes.corruption.corruptors import labelled_pairs
from research.corpora import ENTITY_TYPES, kind_of_type, known_documents
from research.known_documents import (
    KnownDocument,
    KnownField,
)
from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.evaluation.splits import held_out
from safepassage.scoring_worker.training.corpora import Row, read_rows

HELD_OUT = 0.25
"""Share of the documents of each corpus that nothing is trained on, so that it can measure."""


def redocred_documents(rows: Iterable[Row]) -> Iterator[KnownDocument]:
    """Re-DocRED: every first mention of a person, body, place or time in its sentence."""
    for row in rows:
        text, sentences, fields = row["text"], row["sent_offsets"], []
        for entity in row["entities"]:
            name = ENTITY_TYPES.get(entity["type"])
            mention = entity["mentions"][0]
            if name is None:
                continue
            start, end = mention["start"], mention["end"]
            context = sentences[mention["sent"]]
            fields.append(
                KnownField(
                    (name,), kind_of_type(name), text[start:end], start, end, context[0], context[1]
                )
            )
        yield KnownDocument(id=row["id"], text=text, fields=tuple(fields))


def held_documents(data: Path, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Pairs of the documents of CUAD and InLegalNER that nothing is trained on.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    documents = {
        "cuad": known_documents(read_rows(data / "legal/cuad.jsonl.gz")),
        "inlegal_ner": known_documents(read_rows(data / "legal/inlegal_ner.jsonl.gz")),
    }
    return {
        name: list(labelled_pairs((d for d in own if held_out(d.id, HELD_OUT)), seed))
        for name, own in documents.items()
    }


ANSWER_LICENCES = {"expertqa": "MIT", "wice_claim": "ODC-BY, text CC BY-SA"}
"""The sets of judged answers that may teach what ships; the others measure."""
MEASURED_ANSWERS = 0.4
"""Share of the questions of each of these sets that teaches nothing, so that it can measure."""


def answer_rows(data: Path, name: str, *, taught: bool = False) -> list[Row]:
    """The rows of a groundedness file that measure, or those that teach.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    rows = list(read_rows(data / f"groundedness/{name}.jsonl.gz"))
    if name not in ANSWER_LICENCES:
        return [] if taught else rows
    return [row for row in rows if _measures(row) is not taught]


def _measures(row: Row) -> bool:
    """By its question, so that claims of one answer are on one side."""
    return held_out(str(row.get("query") or row["id"]), MEASURED_ANSWERS)


def nli_pairs(rows: Iterable[Row], sources: frozenset[str] | None = None) -> Iterator[LabelledPair]:
    """Rows of ``premise``, ``hypothesis`` and ``label`` as claims; a binary label is enough.

    ``label`` is "entailment", or 1, for supported; anything else is not. ``sources`` filters.
    """
    for number, row in enumerate(rows):
        if sources is not None and row.get("source") not in sources:
            continue
        supported = row["label"] in ("entailment", 1)
        group = str(row.get("id") or row.get("source") or number)
        yield LabelledPair(
            row["premise"], CLAIM_TYPE, row["hypothesis"], 1 if supported else 0, "nli", group
        )
