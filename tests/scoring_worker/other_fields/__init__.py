"""Quotes that speak of another field in which the value stands: cases by domain, in pairs.

``cases.jsonl`` has one case a line: ``right`` 1 where the quote gives the value for the type, 0
where it gives it for another one; ``text`` is the document, with ``{quote}`` where the quote
stands, and ``other`` what a schema would call the field of the wrong quote. The texts and names are
invented. ``misjudged.json`` has the score today of those that the
large reader gets wrong, by ``id`` and ``right``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from safepassage.schemas import Document, Extraction, SchemaField

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """One extraction and its document."""

    id: str
    domain: str
    type: str
    other: str
    value: str
    right: int
    quote: str
    text: str

    @property
    def name(self) -> str:
        """Its id among all cases."""
        return f"{self.id}-{'right' if self.right else 'wrong'}"

    @property
    def document(self) -> Document:
        """The text with the quote in its place."""
        return Document(id=self.name, text=self.text.replace("{quote}", self.quote))

    @property
    def extraction(self) -> Extraction:
        """What an LLM would have extracted that was asked for this field alone."""
        return Extraction(
            id=self.name,
            doc_id=self.name,
            entity_type=self.type,
            value=self.value,
            context=self.quote,
        )

    @property
    def of_both(self) -> Extraction:
        """The same by a schema that has the other field too."""
        said = SchemaField(others=(self.other,))
        return self.extraction.model_copy(update={"field": said})


def cases() -> list[Case]:
    """All cases in the order of the file, each right one before its wrong twin."""
    lines = (_HERE / "cases.jsonl").read_text("utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def misjudged() -> dict[str, float]:
    """Score of the shipped default by the name of each case that it gets wrong."""
    found: dict[str, float] = json.loads((_HERE / "misjudged.json").read_text("utf-8"))
    return found
