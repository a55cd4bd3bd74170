"""The documents of a benchmark, each a text of its own, so that no cache answers for it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safepassage.schemas import Document, LabelledExtraction


@dataclass(frozen=True, slots=True)
class Workload:
    """``documents`` are taken in turns. With ``length`` n each is followed by the texts of the
    n-1 documents after it, of which nothing is extracted. ``entities`` is the share of the
    recorded extractions that are kept, in (0, 1]; it has no meaning for an LLM that is asked."""

    documents: Sequence[Document]
    extractions: Sequence[LabelledExtraction] = ()
    length: int = 1
    entities: float = 1.0

    def take(self, run: str, count: int) -> list[Document]:
        """``count`` documents with ids and texts that no other run has."""
        made, texts = [], [document.text for document in self.documents]
        for number in range(count):
            parts = [texts[(number + n) % len(texts)] for n in range(self.length)]
            doc_id = f"{run}-{number}"
            made.append(Document(id=doc_id, text="\n\n".join([*parts, doc_id])))
        return made

    def record(self, documents: Sequence[Document], folder: Path) -> tuple[Path, Path]:
        """The recording that answers for ``documents``, made by `take`, as two files."""
        by_document: dict[str, list[LabelledExtraction]] = defaultdict(list)
        for extraction in self.extractions:
            by_document[extraction.doc_id].append(extraction)
        texts, answers = folder / "documents.jsonl", folder / "extractions.jsonl"
        with texts.open("wb") as texts_file, answers.open("wb") as answers_file:
            for number, document in enumerate(documents):
                texts_file.write(document.to_json() + b"\n")
                of_document = by_document[self.documents[number % len(self.documents)].id]
                for row in of_document[: round(len(of_document) * self.entities)]:
                    changes = {"id": f"{document.id}-{row.id}", "doc_id": document.id}
                    copy = row.model_copy(update=changes)
                    answers_file.write(copy.model_dump_json().encode() + b"\n")
        return texts, answers
