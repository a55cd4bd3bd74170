"""Documents of a kind that no scorer was trained on: berthing notes of an invented harbour.

Each note yields four right extractions and two wrong ones, with gold labels. They are made from
lists, so that as many as a test needs differ from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safepassage.schemas import Document, LabelledExtraction

VESSELS = ("Marigold", "Sea Holly", "Tern of Brae", "Northern Lass", "Peregrine", "Skua")
MASTERS = ("Ilse Brandt", "Tomas Rehak", "Ada Lindqvist", "Piers Omondi", "Wen Jiang", "Noor Aziz")
PILOTS = ("Hugh Sark", "Greta Falk", "Ivo Marin", "Lena Voss", "Otis Kerr", "Runa Dahl")
CARGOES = ("timber", "road salt", "barley", "machine parts", "slate", "fish meal")
BERTHS = ("Pier 2", "Pier 4", "the Coal Quay", "Berth 11", "the North Mole", "Pier 7")
DATES = (
    "3 March 2021",
    "17 April 2021",
    "9 May 2021",
    "21 June 2021",
    "2 July 2021",
    "30 August 2021",
)
WRONG_DATES = (
    "5 March 2021",
    "17 August 2021",
    "9 May 2012",
    "12 June 2021",
    "2 July 2012",
    "3 August 2021",
)


def note(number: int) -> tuple[Document, list[LabelledExtraction]]:
    """The note of that number and what was extracted from it."""
    shift = number // 6
    vessel, master = VESSELS[number % 6], MASTERS[(number + shift) % 6]
    pilot, cargo = PILOTS[(number + 2 * shift) % 6], CARGOES[(number + shift) % 6]
    berth, date = BERTHS[(number + 3 * shift) % 6], DATES[(number + shift) % 6]
    lines = {
        "master": f"The vessel {vessel} arrived under her master, Captain {master}.",
        "pilot": f"She was brought in by the harbour pilot, {pilot}.",
        "berth": f"She berthed at {berth} on {date} at first light.",
        "cargo": f"Her cargo was {cargo}, declared in full.",
    }
    text = f"Port of Eyra, berthing note {1000 + number}\n\n" + "\n".join(lines.values()) + "\n"
    document = Document(id=f"eyra-{1000 + number}", text=text)
    wrong_date = WRONG_DATES[(number + shift) % 6]
    rows = (
        ("Vessel Master", master, lines["master"], 1),
        ("Harbour Pilot", pilot, lines["pilot"], 1),
        ("Berthing Date", date, lines["berth"], 1),
        ("Cargo", cargo, lines["cargo"], 1),
        ("Berthing Date", wrong_date, lines["berth"], 0),
        ("Vessel Master", pilot, lines["cargo"], 0),
    )
    return document, [
        LabelledExtraction(
            id=f"{document.id}#{index}",
            doc_id=document.id,
            entity_type=entity_type,
            value=value,
            context=context,
            label=label,  # type: ignore[arg-type]
        )
        for index, (entity_type, value, context, label) in enumerate(rows)
    ]


def write_notes(numbers: range, documents: Path, extractions: Path) -> None:
    """Two JSON lines files, of the notes and of their labelled extractions."""
    notes = [note(number) for number in numbers]
    documents.write_bytes(_lines(document for document, _ in notes))
    extractions.write_bytes(_lines(row for _, rows in notes for row in rows))


def gold(numbers: range) -> dict[tuple[str, str, str], bool]:
    """Whether an extraction is supported, by document, entity type and value."""
    return {
        (row.doc_id, row.entity_type, str(row.value)): bool(row.label)
        for number in numbers
        for row in note(number)[1]
    }


def _lines(events: Iterator[Document] | Iterator[LabelledExtraction]) -> bytes:
    return b"".join(event.to_json() + b"\n" for event in events)
