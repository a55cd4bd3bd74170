"""Checks written cases and makes JSON lines of them:
``python -m recipes.written_cases DRAFT.txt … [--out recipes/data/written]``.

A draft is a text file a domain. Its first line is ``# domain: …``; each document begins with
``=== id ‖ genre ‖ language``, then comes its text, a line ``--- rows``, and a line for each row:
``field ‖ value ‖ quote ‖ label ‖ kind ‖ description ‖ note``. A line break in a quote is written
``\\n``. docs/measured/written.md says how cases are written and judged.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PART = "‖"
WRONG = frozenset(
    {
        "other_field", "other_subject", "swapped_roles", "superseded", "planned", "denied",
        "reported", "part_total", "wrong_type", "wrong_relation", "altered", "cut", "wrong_unit",
        "inferred", "not_in_text", "wrong_quote",
    }
)  # fmt: skip
RIGHT = frozenset(
    {
        "plain", "paraphrase", "normalised", "coreference", "table", "implicit", "new_value",
        "computed_in_text", "nested", "negative",
    }
)  # fmt: skip
WORDS = (100, 500)
ROWS = (16, 30)
IN_QUOTE, PAIRS = 7, 4
"""The least of wrong rows with their value in the quote, and of quoted values with both labels."""
UNSPACED = frozenset({"zh", "ja", "th"})


class DraftError(ValueError):
    """A draft that cannot be read; the message names file and line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled value; ``line`` is where it is in the draft."""

    line: int
    entity_type: str
    value: str
    context: str
    label: str
    kind: str
    description: str = ""
    note: str = ""


@dataclass(slots=True)
class Draft:
    """One document with its rows."""

    id: str
    genre: str
    language: str
    domain: str
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The document."""
        return "\n".join(self.lines).strip()

    def as_json(self) -> dict[str, object]:
        """As it is committed: the document with its rows."""
        rows = []
        for row in self.rows:
            made: dict[str, object] = {
                "entity_type": row.entity_type,
                "value": row.value,
                "context": row.context,
                "label": int(row.label),
                "kind": row.kind,
            }
            if row.description:
                made["field"] = {"description": row.description}
            rows.append(made | ({"note": row.note} if row.note else {}))
        about = {"id": self.id, "domain": self.domain, "genre": self.genre}
        return {**about, "language": self.language, "text": self.text, "rows": rows}


def read_drafts(path: Path) -> list[Draft]:
    """The documents of one draft.

    Raises:
        DraftError: a heading or a row has the wrong number of parts.
    """
    domain, found, in_rows = "", list[Draft](), False
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if line.startswith("# domain:") and not found:
            domain = line.removeprefix("# domain:").strip()
        elif line.startswith("=== "):
            parts = [part.strip() for part in line[4:].split(PART)]
            if len(parts) != 3:
                raise DraftError(f"{path}:{number}: a heading is id {PART} genre {PART} language")
            name, genre, language = parts
            found.append(Draft(name, genre, language, domain))
            in_rows = False
        elif line.strip() == "--- rows":
            in_rows = True
        elif found and not in_rows:
            found[-1].lines.append(line)
        elif found and line.strip():
            found[-1].rows.append(_row(path, number, line))
    return found


def _row(path: Path, number: int, line: str) -> Row:
    parts = [part.strip() for part in line.split(PART)]
    if not 5 <= len(parts) <= 7:
        form = f" {PART} ".join(("field", "value", "quote", "label", "kind", "description", "note"))
        raise DraftError(f"{path}:{number}: a row is {form}")
    entity_type, value, quote, *rest = parts
    return Row(number, entity_type, value, quote.replace("\\n", "\n"), *rest)


def faults(draft: Draft) -> Iterator[str]:
    """What is wrong with a document and its rows, each with its place."""
    count = len(draft.text.split())
    if draft.language not in UNSPACED and not WORDS[0] <= count <= WORDS[1]:
        yield f"{draft.id}: {count} words"
    if not ROWS[0] <= len(draft.rows) <= ROWS[1]:
        yield f"{draft.id}: {len(draft.rows)} rows"
    right = sum(row.label == "1" for row in draft.rows)
    if draft.rows and not 0.4 <= right / len(draft.rows) <= 0.6:
        yield f"{draft.id}: {right} of {len(draft.rows)} rows are right"
    in_quote = sum(
        row.label == "0" and row.value.casefold() in row.context.casefold() for row in draft.rows
    )
    if in_quote < IN_QUOTE:
        yield f"{draft.id}: {in_quote} wrong rows have their value in the quote"
    labels: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in draft.rows:
        labels[row.value, row.context].add(row.label)
    both = sum(len(own) == 2 for own in labels.values())
    if both < PAIRS:
        yield f"{draft.id}: {both} values and quotes have both labels"
    yield from _faults_of_rows(draft)


def _faults_of_rows(draft: Draft) -> Iterator[str]:
    seen: set[tuple[str, str, str]] = set()
    descriptions: dict[str, str] = {}
    for row in draft.rows:
        at = f"{draft.id}, line {row.line}"
        if row.context not in draft.text:
            yield f"{at}: the quote is not in the document: {row.context!r}"
        if row.label not in ("0", "1") or row.kind not in (RIGHT if row.label == "1" else WRONG):
            yield f"{at}: the kind {row.kind!r} does not go with the label {row.label!r}"
        if (row.entity_type, row.value, row.context) in seen:
            yield f"{at}: the same row twice"
        seen.add((row.entity_type, row.value, row.context))
        if descriptions.setdefault(row.entity_type, row.description) != row.description:
            yield f"{at}: {row.entity_type!r} has another description before"


def write_cases(drafts: Sequence[Draft], folder: Path) -> list[Path]:
    """A file of JSON lines for each domain, under ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        by_name[draft.id.rpartition("-")[0]].append(draft)
    written = []
    for name, own in sorted(by_name.items()):
        path = folder / f"{name}.jsonl"
        lines = (json.dumps(draft.as_json(), ensure_ascii=False) + "\n" for draft in own)
        path.write_text("".join(lines), encoding="utf-8")
        written.append(path)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drafts", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="folder for the JSON lines, where all is well")
    chosen = parser.parse_args(arguments)
    try:
        drafts = [draft for path in chosen.drafts for draft in read_drafts(path)]
    except DraftError as error:
        print(error)  # noqa: T201
        return 1
    found = [fault for draft in drafts for fault in faults(draft)]
    for fault in found:
        print(fault)  # noqa: T201
    rows = [row for draft in drafts for row in draft.rows]
    kinds = ", ".join(f"{kind} {n}" for kind, n in Counter(row.kind for row in rows).most_common())
    print(f"{len(drafts)} documents, {len(rows)} rows, {len(found)} faults: {kinds}")  # noqa: T201
    if chosen.out and not found:
        write_cases(drafts, chosen.out)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
