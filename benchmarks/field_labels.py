"""How well a label that names another field is told from a synonym of the field.

    python benchmarks/field_labels.py [--scorer large --scorer small] [--out docs/measured]

``field_labels.jsonl`` holds 680 lines "Label: value" of 33 domains, written for this project one by
one: the field that was asked for, the other fields of its schema, and whether the label means the
field (331 synonyms, 349 labels of another). The log-odds of
`safepassage.scoring_worker.weighing.other_fields` were learnt on the domains of ``LEARNT``; the
others measure. ``stopped`` counts every pair below its threshold, ``by the label`` those that only
the comparison with the other fields stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import orjson

from safepassage.schemas import Assessment, SchemaField, hypothesis
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.scorer import Pair

ROWS = Path(__file__).with_name("field_labels.jsonl")
LEARNT = frozenset(
    {
        "bank loans",
        "civil registry",
        "customs declarations",
        "energy bills",
        "food products and recipes",
        "hospital admissions",
        "invoices",
        "laboratory reports",
        "museum catalogues",
        "patents",
        "payslips",
        "property sales",
        "purchase orders",
        "safety data sheets",
        "school and university records",
        "tenders and construction",
        "travel bookings",
    }
)
CHUNK = 64
Row = dict[str, object]


def main() -> None:
    """Judge every line with every scorer and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scorer", action="append", help="a name or a folder; several in turn")
    parser.add_argument("--out", type=Path, help="folder for field_labels.txt")
    options = parser.parse_args()
    rows = [orjson.loads(line) for line in ROWS.read_bytes().splitlines()]
    lines = ["scorer  domains   label            rows  stopped  by the label"]
    for name in options.scorer or ["large", "small"]:
        scorer = load_scorer(name, packs=())
        pairs = [_pair(row) for row in rows]
        judged = [
            one
            for at in range(0, len(pairs), CHUNK)
            for one in scorer.assess(pairs[at : at + CHUNK])
        ]
        lines += _table(name, rows, judged)
    text = "\n".join(lines)
    print(text)
    if options.out:
        (options.out / "field_labels.txt").write_text(text + "\n")


def _pair(row: Row) -> Pair:
    line, asked = str(row["line"]), str(row["field"])
    value = line.partition(": ")[2]
    schema = SchemaField.model_validate(
        {"description": row.get("description"), "others": row["others"]}
    )
    return Pair(line, hypothesis(asked, value), asked, value, field=schema, language="en")


def _table(name: str, rows: Sequence[Row], judged: Sequence[Assessment]) -> list[str]:
    lines = []
    for part, learnt in (("learnt", True), ("measured", False)):
        for said, label in (("synonym", 1), ("another field's", 0)):
            own = [
                one
                for row, one in zip(rows, judged, strict=True)
                if row["label"] == label and (row["domain"] in LEARNT) == learnt
            ]
            stopped = sum(not one.passes for one in own)
            by_label = sum(any(f.code == "another_field" for f in one.findings) for one in own)
            lines.append(f"{name:7} {part:9} {said:16} {len(own):4} {stopped:8} {by_label:13}")
    return lines


if __name__ == "__main__":
    main()
