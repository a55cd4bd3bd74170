"""Documents of a kind that no scorer was trained on: berthing notes of an invented harbour.

Each note yields four right extractions and three wrong ones, with gold labels. They are made from
lists, and no two notes share a sentence: what a scorer learnt from one must not certify it on
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from safepassage.schemas import Document, LabelledExtraction

VESSELS = ("Marigold", "Sea Holly", "Tern of Brae", "Northern Lass", "Peregrine", "Skua")
FIRST = ("Ilse", "Tomas", "Ada", "Piers", "Wen", "Noor", "Hugh", "Greta", "Ivo", "Lena", "Otis")
LAST = ("Brandt", "Rehak", "Lindqvist", "Omondi", "Jiang", "Aziz", "Sark", "Falk", "Marin", "Voss")
CARGOES = ("timber", "road salt", "barley", "machine parts", "slate", "fish meal")
BERTHS = ("Pier 2", "Pier 4", "the Coal Quay", "Berth 11", "the North Mole", "Pier 7")
MONTHS = ("March", "April", "May", "June", "August", "October", "November")


def note(number: int) -> tuple[Document, list[LabelledExtraction]]:
    """The note of that number, of 0 to 99, and what was extracted from it."""
    vessel, cargo = VESSELS[number % 6], CARGOES[(number + number // 6) % 6]
    master, pilot = _name(number), _name(number + 37)
    berth = BERTHS[(number + number // 3) % 6]
    day, month = number % 27 + 1, MONTHS[number % 7]
    date, wrong_date = f"{day} {month} 2021", f"{day + 1} {month} 2021"
    lines = {
        "master": f"The vessel {vessel} arrived under her master, Captain {master}.",
        "pilot": f"She was brought in by the harbour pilot, {pilot}.",
        "berth": f"She berthed at {berth} on {date} at first light.",
        "cargo": f"Her cargo was {cargo}, {110 + 7 * number} tonnes, declared in full.",
    }
    text = f"Port of Eyra, berthing note {1000 + number}\n\n" + "\n".join(lines.values()) + "\n"
    document = Document(id=f"eyra-{1000 + number}", text=text)
    rows = (
        ("Vessel Master", master, lines["master"], 1),
        ("Harbour Pilot", pilot, lines["pilot"], 1),
        ("Berthing Date", date, lines["berth"], 1),
        ("Cargo", cargo, lines["cargo"], 1),
        ("Berthing Date", wrong_date, lines["berth"], 0),
        ("Vessel Master", pilot, lines["cargo"], 0),
        ("Harbour Pilot", master, lines["master"], 0),
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


def _name(number: int) -> str:
    return f"{FIRST[number % 11]} {LAST[number % 10]}"


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
