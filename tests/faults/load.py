"""The load: documents made from a seed, each with a serial, whose right verdicts are known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.schemas import Document, Extraction, LabelledExtraction

ENTITY_TYPE = "File Number"
# What the test scorer does with a pair that holds one of these words.
RAISES, EXHAUSTS, NOT_FINITE, SHORT = "PAIR-RAISES", "PAIR-OOM", "PAIR-NAN", "PAIR-SHORT"
POISON_PAIRS = (RAISES, EXHAUSTS, NOT_FINITE, SHORT)

_FILLER = (
    "The tribunal heard the matter in a single sitting.",
    "Counsel for both parties were present and made oral submissions.",
    "The record was filed in the usual form and served in time.",
    "No objection was raised to the jurisdiction of the panel.",
    "The exhibits were marked in the order in which they were tendered.",
)


@dataclass(frozen=True, slots=True)
class Load:
    """``expected`` are the extractions the recorded LLM gives; label 1 means that a right
    verdict may be "accepted", label 0 that it must not."""

    documents: Sequence[Document]
    expected: Sequence[LabelledExtraction]

    def recording(self) -> list[Extraction]:
        return [
            Extraction(**row.model_dump(exclude={"label", "kind", "why"})) for row in self.expected
        ]


def make_load(
    seed: int,
    count: int,
    *,
    keys: int | None = None,
    poison_pairs: bool = False,
    realign: bool = False,
) -> Load:
    """``count`` documents. With ``keys`` they share that many ids, as versions of a document
    do; each version has its own text. With ``realign`` the later versions ask for no LLM, and
    their texts are edits of the one before."""
    draw = random.Random(seed)
    documents, expected = [], []
    for serial in range(count):
        doc_id = f"doc-{serial % keys if keys else serial:06}"
        if realign and keys and serial >= keys:
            text = _edited(draw, documents[serial - keys].text)
            documents.append(Document(id=doc_id, text=text, realign=True))
            continue
        rows = _extractions(draw, doc_id, serial, poison_pairs)
        documents.append(Document(id=doc_id, text=_text(draw, serial, rows)))
        expected += rows
    return Load(documents, expected)


def _extractions(
    draw: random.Random, doc_id: str, serial: int, poison_pairs: bool
) -> list[LabelledExtraction]:
    rows = [_row(doc_id, serial, n, _number(draw, serial, n), "supported") for n in range(2)]
    rows.append(_row(doc_id, serial, 2, _number(draw, serial, 2), "unsupported"))
    rows.append(_row(doc_id, serial, 3, _number(draw, serial, 3), "fabricated"))
    if poison_pairs and serial % 7 == 3:
        poison = POISON_PAIRS[serial // 7 % len(POISON_PAIRS)]
        rows.append(_row(doc_id, serial, 4, f"{_number(draw, serial, 4)} {poison}", "poison"))
    return rows


def _number(draw: random.Random, serial: int, n: int) -> str:
    return f"SP-{serial:06}-{n}-{draw.randrange(10**6):06}"


def _row(doc_id: str, serial: int, n: int, value: str, kind: str) -> LabelledExtraction:
    # Of an unsupported value the quote stands in the document, and speaks of another number.
    quoted = f"SP-{serial:06}-{n}-elsewhere" if kind == "unsupported" else value
    return LabelledExtraction(
        id=f"{doc_id}-{serial}-{n}",
        doc_id=doc_id,
        entity_type=ENTITY_TYPE,
        value=value,
        context=_sentence(quoted, kind),
        label=1 if kind == "supported" else 0,
        kind=kind,
    )


def _sentence(number: str, kind: str) -> str:
    if kind == "fabricated":
        return f"Zyxwvut qponmlk jihgfed {number[::-1]} cbazyx wvutsrq ponmlkj ihgfedc bazyxwv."
    return f"The applicant's file was opened under number {number} by the registry."


def _text(draw: random.Random, serial: int, rows: Sequence[LabelledExtraction]) -> str:
    sentences = [f"Serial {serial:06}.", *draw.choices(_FILLER, k=draw.randint(3, 12))]
    for row in rows:
        if row.kind != "fabricated":
            sentences.insert(draw.randint(1, len(sentences)), row.context)
    return " ".join(sentences)


def _edited(draw: random.Random, text: str) -> str:
    """Another version: something is said before, between or nothing at all, and at times a
    sentence is gone. It has no serial, so no LLM's answer is expected for it."""
    sentences = text.removeprefix(text[:15] if text.startswith("Serial") else "").split(". ")
    for _ in range(draw.randint(0, 2)):
        sentences.insert(draw.randint(0, len(sentences) - 1), draw.choice(_FILLER).rstrip("."))
    if draw.random() < 0.15:
        sentences.pop(draw.randrange(len(sentences) - 1))
    return ". ".join(sentences)
