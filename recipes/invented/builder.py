"""Builds a text piece by piece and remembers where its facts are."""

from dataclasses import dataclass, field
from pathlib import Path

from research.known_documents import (
    KnownDocument,
    KnownField,
    Label,
)

from .values import Drawn


@dataclass
class Builder:
    """A text under construction, with the facts written so far."""

    text: str = ""
    fields: list[KnownField] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    empty: list[Label] = field(default_factory=list)
    plain: list[tuple[int, int]] = field(default_factory=list)

    def write(self, piece: str) -> tuple[int, int]:
        """Append ``piece``; returns its span."""
        start = len(self.text)
        self.text += piece
        return start, len(self.text)

    def add_field(
        self,
        entity_types: tuple[str, ...],
        drawn: Drawn,
        span: tuple[int, int],
        context: tuple[int, int],
    ) -> None:
        """Record that ``span`` says ``drawn``."""
        self.fields.append(KnownField(entity_types, drawn.kind, drawn.value, *span, *context))

    def document(self, name: str) -> KnownDocument:
        """The finished document."""
        return KnownDocument(
            id=name,
            text=self.text,
            fields=tuple(self.fields),
            labels=tuple(self.labels),
            plain=tuple(self.plain),
            empty=tuple(self.empty),
        )


def blocks(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of the file ``name`` beside this module under each ``== heading``."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines():
        if line.startswith("== "):
            current = found.setdefault(line.removeprefix("== "), [])
        elif line.strip() and not line.startswith("# "):
            current.append(line)
    return {heading: tuple(lines) for heading, lines in found.items()}
