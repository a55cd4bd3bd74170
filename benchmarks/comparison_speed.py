"""Examinations per second of `compare` beside the checks that it replaced, and the probes by kind.

    python benchmarks/comparison_speed.py [--data ../shared/data] [--pairs 2000] [--probes]

The old checks are no longer in the tree: they are taken out of the repository's history into a
temporary folder and measured there by a process of their own, between two runs of `compare`, so
that all three see the same machine. Without the history their column is empty. Both examine the
same labelled tribunal pairs and the same pairs of other domains, by the process's CPU clock. Each
first examines other pairs of the same sources, uncounted, as a worker's first documents build the
tables of their languages; no pair is seen twice, since what is remembered of a passage would
flatter; the median of several parts counts.
*language given*: as for documents that are long enough for the aligner to tell their language.
The second table doubles one passage again and again: time that grows faster than the passage
would show there. ``--probes`` prints what `compare` answers to the hand-written probes: *right* is
different for a wrong value, and anything but different for a right one.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console
from rich.table import Table

from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.contract import Comparison, Passage, Question
from safepassage.scoring_worker.comparison.passage_language import with_language

LAST_WITH_OLD_CHECKS = "88eb5f7^"
OLD = """
import json, statistics, sys, time
from schemas import hypothesis
from scoring_worker.checks import examine
from safepassage.scoring_worker.scorer import Pair
rates = []
for part in json.load(sys.stdin):
    start = time.process_time()
    for kind, value, quote in part:
        examine(Pair(quote, hypothesis(kind, value), kind, value))
    rates.append(len(part) / (time.process_time() - start))
print(statistics.median(rates[1:]))
"""
WARMED = ("en", "de", "es", "fr", "it", "pt", "nl", "ro", "ca", "la", "sv", "da", "pl", "tr", None)
PARTS = 6
REPEATS = 3
DOUBLINGS = 7
SOURCES = ("sgd_train", "qamr", "wikitables", "materials", "tatqa", "xquad_de", "xquad_es")
BY_THE_OTHER_HALF = frozenset(
    {"role", "roles_explicit_label", "condition", "category", "other", "negation", "supported"}
)
"""Kinds of probes whose wrong values are wrong as an answer to the type, or need reading."""
console = Console(width=110)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def tribunal(data: Path, count: int) -> list[Question]:
    rows = list(rows_of(data / "tribunal/extractions.jsonl.gz"))[:count]
    random.Random(0).shuffle(rows)
    return [Question(r["entity_type"], r["value"], Passage(r["context"])) for r in rows]


def other_domains(data: Path, count: int, first: int = 0) -> list[Question]:
    """Every seventh row of each source from ``first`` on."""
    each = max(1, count // len(SOURCES))
    asked: list[Question] = []
    for source in SOURCES:
        for number, row in enumerate(rows_of(data / f"general/slots/{source}.jsonl.gz")):
            if number >= 7 * each:
                break
            if number % 7 == first:
                asked.append(Question(row["type"], row["value"], Passage(row["premise"])))
    random.Random(0).shuffle(asked)
    return asked


def parts_of(questions: Sequence[Question]) -> list[Sequence[Question]]:
    return [questions[part::PARTS] for part in range(PARTS)]


def rate(questions: Sequence[Question], mark: str) -> float:
    """Questions a second of CPU time: the median of the parts. ``mark`` is
    behind each passage, so that another run remembers nothing of this one."""
    rates = []
    for part in parts_of(questions):
        mine = [
            replace(one, passage=replace(one.passage, quote=one.passage.quote + mark))
            for one in part
        ]
        start = time.process_time()
        for question in mine:
            compare(question)
        rates.append(len(mine) / (time.process_time() - start))
    return statistics.median(rates)


def rate_of_old(tree: Path, questions: Sequence[Question], uncounted: Sequence[Question]) -> float:
    """The same of the old checks in ``tree``, after they have examined ``uncounted``."""
    asked = [
        [(one.entity_type, one.value, one.passage.quote) for one in part]
        for part in (uncounted, *parts_of(questions))
    ]
    done = subprocess.run(
        [sys.executable, "-c", OLD],
        input=json.dumps(asked),
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def old_tree(folder: Path) -> Path | None:
    """The repository as it was with the old checks; None where its history is not here."""
    command = ["git", "archive", LAST_WITH_OLD_CHECKS, "schemas", "scoring_worker"]
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, capture_output=True, check=False
    )
    if done.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def warm(uncounted: Sequence[Question]) -> None:
    """Build the tables of the languages, as the first documents of a worker do. Not a word of the
    quote is of a language, or it would be read in that one."""
    for question in uncounted:
        compare(question)
    quote = "12 kg EUR 5 5.5.2020 Ann Lee"
    for language in WARMED:
        for value in ("5 May 2020", "12000 g", "5 EUR", "twelve", "Ann Lee"):
            compare(Question("Date", value, Passage(quote, language=language)))


def told(questions: Sequence[Question]) -> list[Question]:
    """``questions`` with the language of their passages, as the aligner gives a document's."""
    return [
        replace(one, passage=replace(one.passage, language=with_language(one.passage).language))
        for one in questions
    ]


def speed(sets: dict[str, list[Question]], uncounted: Sequence[Question]) -> None:
    heads = ("pairs", "number", "old checks/s", "compare/s", "ratio", "language given/s", "ratio")
    table = Table(*heads, title="Speed")
    warm(uncounted)
    with tempfile.TemporaryDirectory() as folder:
        tree = old_tree(Path(folder))
        for name, questions in sets.items():
            known = told(questions)
            before = [rate(questions, " ."), rate(known, " ,")]
            old = rate_of_old(tree, questions, uncounted) if tree else None
            after = [rate(questions, " !"), rate(known, " ;")]
            cells = []
            for now in map(statistics.mean, zip(before, after, strict=True)):
                cells += [f"{now:.0f}", f"{now / old:.2f}" if old else ""]
            table.add_row(name, str(len(questions)), f"{old:.0f}" if old else "", *cells)
    console.print(table)


def growth() -> None:
    sentence = "On 4 May 2020 Ann Lee of Zeta GmbH paid EUR 1,234.50 for item AB-1234, not 5 kg. "
    values = {
        "number": ("Total", "1,234.51"),
        "date": ("Date", "2020-05-05"),
        "name": ("Payer", "Ann Leigh"),
        "words": ("Colour", "bright red paint"),
        "identifier": ("Item Number", "AB-1235"),
        "list": ("Payers", ["Ann Lee", "Bo Fry"]),
    }
    sizes = [4 * 2**step for step in range(DOUBLINGS)]
    table = Table(
        "ms by characters",
        *(str(len(sentence) * size) for size in sizes),
        title="Growth with the passage",
    )
    for name, (entity_type, value) in values.items():
        cells = []
        for size in sizes:
            taken = []
            for repeat in range(REPEATS):
                quote = f"{sentence * size}{'.' * repeat}"  # no text that is remembered
                question = Question(entity_type, value, Passage(quote, language="en"))
                start = time.process_time()
                compare(question)
                taken.append(time.process_time() - start)
            cells.append(f"{1e3 * min(taken):.1f}")
        table.add_row(name, *cells)
    console.print(table)


def passage_of(row: dict[str, Any], text: str) -> Passage:
    """The quote with the rest of its line, as the aligner's surroundings give it."""
    start = text.find(row["context"])
    if start < 0:
        return Passage(row["context"])
    end = start + len(row["context"])
    line_end = text.find("\n", end)
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return Passage(row["context"], before, text[end : line_end if line_end >= 0 else len(text)])


def is_right(label: int, compared: Comparison) -> bool:
    return (compared.answer == "different") == (label == 0)


def probes(data: Path) -> None:
    texts = {row["id"]: row["text"] for row in rows_of(data / "general/probe_documents.jsonl.gz")}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows_of(data / "general/probe_extractions.jsonl.gz"):
        passage = passage_of(row, texts[row["doc_id"]])
        compared = compare(Question(row["entity_type"], row["value"], passage))
        counts[row["kind"]][f"{row['label']} {compared.answer}"] += 1
        counts[row["kind"]]["right"] += is_right(row["label"], compared)
    answers = [f"{label} {a}" for label in (1, 0) for a in ("same", "not_comparable", "different")]
    table = Table("kind", "right", *answers, title="Probes (label and answer)")
    for kind, found in sorted(
        counts.items(), key=lambda one: (one[0] in BY_THE_OTHER_HALF, one[0])
    ):
        total = sum(found[answer] for answer in answers)
        marked = f"{kind} *" if kind in BY_THE_OTHER_HALF else kind
        table.add_row(marked, f"{found['right']}/{total}", *(str(found[a] or "") for a in answers))
    console.print(table)
    console.print("* needs the judge as well")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--probes", action="store_true")
    options = parser.parse_args()
    if options.probes:
        probes(options.data)
        return
    sets = {
        "tribunal": tribunal(options.data, options.pairs),
        "other domains": other_domains(options.data, options.pairs),
    }
    speed(sets, other_domains(options.data, options.pairs, first=3))
    growth()


if __name__ == "__main__":
    main()
