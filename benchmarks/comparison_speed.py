"""Examinations per second of `compare` beside the old checks, and the probes by kind.

    python benchmarks/comparison_speed.py [--data ../shared/data] [--pairs 2000] [--probes]

Both examine the same labelled tribunal pairs and the same pairs of other domains, by the process's
CPU clock. A first part of them only warms up (patterns, tables of libraries); of the parts after
it none is seen twice, since what is remembered of a passage would flatter, and the median counts.
The second table doubles one passage again and again: time that grows faster than the passage
would show there. ``--probes`` prints
what `compare` answers to the hand-written probes: *right* is different for a wrong value, and
anything but different for a right one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console
from rich.table import Table

from schemas import hypothesis
from scoring_worker.checks import examine
from scoring_worker.comparison.compare import compare
from scoring_worker.comparison.contract import Comparison, Passage, Question
from scoring_worker.scorer import Pair

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


def other_domains(data: Path, count: int) -> list[Question]:
    each = max(1, count // len(SOURCES))
    asked: list[Question] = []
    for source in SOURCES:
        for number, row in enumerate(rows_of(data / f"general/slots/{source}.jsonl.gz")):
            if number >= 7 * each:
                break
            if number % 7 == 0:
                asked.append(Question(row["type"], row["value"], Passage(row["premise"])))
    random.Random(0).shuffle(asked)
    return asked


def rate(work: Callable[[Question], object], questions: Sequence[Question]) -> float:
    """Questions a second of CPU time: the median of the parts after the first."""
    rates = []
    for part in range(PARTS):
        mine = questions[part::PARTS]
        start = time.process_time()
        for question in mine:
            work(question)
        rates.append(len(mine) / (time.process_time() - start))
    return statistics.median(rates[1:])


def old(question: Question) -> object:
    value, quote = question.value, question.passage.quote
    return examine(
        Pair(quote, hypothesis(question.entity_type, value), question.entity_type, value)
    )


def speed(sets: dict[str, list[Question]]) -> None:
    table = Table("pairs", "number", "old checks/s", "compare/s", "ratio", title="Speed")
    for name, questions in sets.items():
        before, now = rate(old, questions), rate(compare, questions)
        cells = f"{before:.0f}", f"{now:.0f}", f"{now / before:.2f}"
        table.add_row(name, str(len(questions)), *cells)
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
        "ms by characters", *(str(len(sentence) * size) for size in sizes), title="Growth"
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
    speed(sets)
    growth()


if __name__ == "__main__":
    main()
