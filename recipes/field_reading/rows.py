"""Rows of labelled extractions as the pipeline sees them: quotes aligned, values found in them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recipes.reading_corpus import slots_path
from safepassage.pipeline import align_all, new_aligner
from safepassage.schemas import AlignedExtraction, Document, Extraction
from safepassage.scoring_worker import Pair
from safepassage.scoring_worker.training.corpora import Row, read_rows
from safepassage.scoring_worker.weighing.questions import described, parts_of, text_of
from safepassage.settings import JudgingSettings

from .examples import FieldRow, Place

OWN = Path(__file__).parents[1] / "data/written"
"""Cases written for this project, a file a domain; see `recipes.written_cases`."""
Cases = tuple[dict[str, str], list[Row], dict[str, Row]]
"""Texts by document, rows, and what is known of each document."""
OCCURRENCES = 4
"""Places of one value in a short passage that are looked at."""


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A document with its labelled rows, and what is known about it."""

    id: str
    text: str
    rows: tuple[FieldRow, ...]
    source: str
    split: str = "train"
    language: str = "en"


def labelled_documents(
    texts: Mapping[str, str], rows: Iterable[Row], about: Mapping[str, Row] | None = None
) -> list[LabelledDocument]:
    """The documents that have rows. A row whose quote is not in its document, or whose value has
    parts, is left out: no reader is asked about it, or several questions are."""
    found: dict[str, list[FieldRow]] = defaultdict(list)
    for row, aligned in aligned_rows(texts, rows):
        one = _field_row(row, aligned, texts[row["doc_id"]])
        if one:
            found[row["doc_id"]].append(one)
    told = about or {}
    return [
        LabelledDocument(
            id=name,
            text=texts[name],
            rows=tuple(own),
            source=str(told.get(name, {}).get("domain", name)),
            split=str(told.get(name, {}).get("split", "train")),
            language=str(told.get(name, {}).get("language", "en")),
        )
        for name, own in found.items()
    ]


def aligned_rows(
    texts: Mapping[str, str], rows: Iterable[Row]
) -> Iterator[tuple[Row, AlignedExtraction]]:
    """The ``rows`` whose quote is in their document, as the aligner gives them to a scorer."""
    listed = list(rows)
    extractions = [
        Extraction(
            id=row["id"],
            doc_id=row["doc_id"],
            entity_type=row["entity_type"],
            value=row["value"],
            context=row["context"],
            field=row.get("field"),
        )
        for row in listed
    ]
    documents = {name: Document(id=name, text=text) for name, text in texts.items()}
    aligned = align_all(extractions, documents, new_aligner(JudgingSettings()))
    for row, result in zip(listed, aligned, strict=True):
        if isinstance(result, AlignedExtraction) and result.alignment.found:
            yield row, result


def _field_row(row: Row, aligned: AlignedExtraction, text: str) -> FieldRow | None:
    pair = Pair.of(aligned)
    parts = parts_of(pair)
    if len(parts) != 1:
        return None
    part, spans = parts[0], aligned.alignment.spans
    passage, shift = text_of(pair)
    places: tuple[Place, ...] = ()
    if len(spans) == 1 and text[spans[0].start : spans[0].end] == pair.premise:
        begin = spans[0].start
        places = tuple((begin + p.start, begin + p.end) for p in part.comparison.places)
    return FieldRow(
        id=row["id"],
        field=row["entity_type"],
        places=places,
        label=int(row["label"]),
        description=pair.field.description if pair.field else None,
        statement=part.claim.asked,
        passage=passage,
        asked=described(pair, row["entity_type"]),
        narrow=tuple((p.start + shift, p.end + shift) for p in part.comparison.places),
        kind=str(row.get("kind", "")),
        value=str(row["value"]),
    )


def written_rows(data: Path) -> Cases:
    """The written cases of DATA/written.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    folder = data / "written"
    texts = {row["id"]: row["text"] for row in read_rows(folder / "documents.jsonl.gz")}
    rows = list(read_rows(folder / "extractions.jsonl.gz"))
    return texts, rows, {row["doc_id"]: row for row in read_rows(folder / "about.jsonl.gz")}


def own_rows(folder: Path = OWN) -> Cases:
    """The written cases that are committed here; all of them may teach.

    Raises:
        CorpusError: a file is unreadable.
    """
    made = [own for path in sorted(folder.glob("*.jsonl")) for own in read_rows(path)]
    rows: list[Row] = [
        {**row, "id": f"{own['id']}#{number}", "doc_id": own["id"]}
        for own in made
        for number, row in enumerate(own["rows"])
    ]
    return {own["id"]: own["text"] for own in made}, rows, {own["id"]: own for own in made}


def written_documents(data: Path) -> list[LabelledDocument]:
    """`written_rows` as documents."""
    return labelled_documents(*written_rows(data))


def own_documents(folder: Path = OWN) -> list[LabelledDocument]:
    """`own_rows` as documents."""
    return labelled_documents(*own_rows(folder))


def natural_documents(data: Path) -> list[LabelledDocument]:
    """The errors of real LLMs in DATA/general: they measure, and train nothing that ships.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    folder = data / "general"
    texts = {row["id"]: row["text"] for row in read_rows(folder / "natural_documents.jsonl.gz")}
    rows = list(read_rows(folder / "natural_extractions.jsonl.gz"))
    about = {row["doc_id"]: {"domain": row["source"], "split": "dev"} for row in rows}
    return labelled_documents(texts, rows, about)


def slot_documents(data: Path, name: str, most: int) -> list[LabelledDocument]:
    """The first ``most`` passages of a slots file, each with the rows whose value is in it.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    by_passage: dict[str, list[Row]] = defaultdict(list)
    for row in read_rows(slots_path(data, name)):
        if row["premise"] not in by_passage and len(by_passage) >= most:
            break
        by_passage[row["premise"]].append(row)
    return [
        LabelledDocument(f"{name}:{number}", passage, _slot_rows(name, number, own), name)
        for number, (passage, own) in enumerate(by_passage.items())
    ]


def _slot_rows(name: str, number: int, rows: Sequence[Row]) -> tuple[FieldRow, ...]:
    made = []
    for at, row in enumerate(rows):
        value, passage = str(row["value"]), row["premise"]
        places = _occurrences(value, passage)
        if places:
            made.append(
                FieldRow(
                    id=f"{name}:{number}.{at}",
                    field=row["type"],
                    places=places,
                    label=int(row["label"]),
                    statement=f"{row['type']}: {value}",
                    passage=passage,
                    asked=row["type"],
                    narrow=places,
                    kind=row["kind"],
                    value=value,
                )
            )
    return tuple(made)


def _occurrences(value: str, passage: str) -> tuple[Place, ...]:
    found: list[Place] = []
    at = passage.find(value)
    while at >= 0 and len(found) < OCCURRENCES:
        found.append((at, at + len(value)))
        at = passage.find(value, at + 1)
    return tuple(found)
