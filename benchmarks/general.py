"""How well scorers judge a schema that nobody has shown them.

    python benchmarks/general.py ../shared/data [--scorer default --scorer small] [--rows 200]
                                 [--keep FOLDER] [--out docs/measured]

Natural errors of LLMs come first: development rows, on which decisions were taken. Fields left out
taught the large reader nothing, but the small one (which judged them better than it would judge a
stranger's). Languages and new fields taught neither. Files of extractions and answers go through
alignment. Every scorer has its shipped threshold.

Positive class: unsupported. Intervals are 95% bootstraps over passages or documents. ``caught``:
the share of wrong ones flagged where 6% of the right ones are; ``escaped``, ``refused``: wrong ones
accepted and right ones flagged at the shipped threshold; ``review``: what is flagged of all where
5% of the wrong ones are accepted; ``words``: AUROC of word matching, with its macro F1. What nobody
could judge counts as flagged.

``--keep`` holds the scores, a file for each source and scorer: a second run goes on where the first
was stopped.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import orjson
from general_figures import (
    HEADING,
    NOT_JUDGED,
    SHORT_HEADING,
    Figures,
    Row,
    as_json,
    cascade_table,
    describe,
    line_of,
    of_kinds,
    of_languages,
    pooled,
    short_line,
)
from general_sets import (
    CLAIMS,
    FIELDS,
    LANGUAGE_CLAIMS,
    LANGUAGES,
    MADE,
    NATURAL,
    NEW,
    PROBES,
    QUOTES,
    RAG,
    SECTIONS,
    TRIBUNAL,
    Case,
    Source,
    by_packs,
    sources,
)

from safepassage.scoring_worker import Scorer, load_scorer
from safepassage.scoring_worker.scorers.words import words_found

CHUNK = 64
Rows = Mapping[Source, Sequence[Row]]


def main() -> None:
    """Judge every source with every scorer, describe and print."""
    options = _options()
    keep = options.keep or Path(tempfile.mkdtemp())
    keep.mkdir(parents=True, exist_ok=True)
    every = list(sources(options.data, options.rows))
    tables: dict[str, dict[str, Figures]] = {}
    summary: dict[str, Figures] = {}
    cascades: dict[str, list[str]] = {}
    revisions = {}
    for name in options.scorer or ["default", "small"]:
        rows: dict[Source, list[Row]] = {}
        plain = cache(partial(load_scorer, name, packs=()))
        revisions[name] = plain().revision
        for packs, own in by_packs(every).items():
            loaded = cache(partial(load_scorer, name, packs=packs)) if packs else plain
            rows |= {
                source: _kept(source, loaded, f"{name}-{revisions[name]}", keep) for source in own
            }
        summary |= {f"{line} · {name}": found for line, found in _summary(rows).items()}
        tables |= {f"{table} · {name}": found for table, found in _tables(rows).items()}
        natural = pooled(own for source, own in rows.items() if source.section == NATURAL)
        cascades[name] = cascade_table(natural)
    text = _text(revisions, summary, tables, cascades)
    print(text)
    if options.out:
        (options.out / "general.txt").write_text(text + "\n")
        figures = {
            "revisions": revisions,
            "summary": as_json(summary),
            "tables": {name: as_json(table) for name, table in tables.items()},
        }
        written = orjson.dumps(figures, option=orjson.OPT_INDENT_2)
        (options.out / "general.json").write_bytes(written + b"\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--scorer", action="append", help="a name or a folder; several in turn")
    parser.add_argument("--rows", type=int, default=200, help="of each source, about")
    parser.add_argument("--keep", type=Path, help="folder for the scores")
    parser.add_argument("--out", type=Path, help="folder for general.txt and general.json")
    return parser.parse_args()


def _kept(source: Source, scorer: Callable[[], Scorer], judge: str, keep: Path) -> list[Row]:
    """The rows of ``source``, judged now or before."""
    path = keep / (re.sub(r"\W+", "-", f"{source.section} {source.name} {judge}") + ".jsonl")
    if not path.exists():
        cases, started = source.cases(), time.monotonic()
        found = list(_judged(scorer(), source, cases))
        seconds = time.monotonic() - started
        print(f"\r{judge}, {source.section}: {source.name}, {seconds:.0f} s", file=sys.stderr)
        partly = path.with_suffix(".partial")
        partly.write_bytes(b"\n".join(orjson.dumps(asdict(row)) for row in found))
        partly.rename(path)
    return [Row(**orjson.loads(line)) for line in path.read_bytes().splitlines()]


def _judged(scorer: Scorer, source: Source, cases: Sequence[Case]) -> Iterator[Row]:
    """Every case with the score and threshold of its worst pair."""
    pairs = [pair for case in cases for pair in case.pairs]
    assessments = []
    for at in range(0, len(pairs), CHUNK):
        assessments += scorer.assess(pairs[at : at + CHUNK])
        print(f"\r{source.name} {len(assessments)}/{len(pairs)}   ", end="", file=sys.stderr)
    answers = iter(assessments)
    for case in cases:
        own = [next(answers) for _ in case.pairs]
        judged = not case.lost and all(one.score is not None for one in own)
        worst = min(own, key=lambda one: one.score - one.threshold) if judged else None
        yield Row(
            source=source.name,
            label=case.label,
            kind=case.kind,
            group=case.group,
            language=source.language,
            score=worst.score if worst else NOT_JUDGED,
            threshold=worst.threshold if worst else 0.0,
            words=0.0 if case.lost else min(map(words_found, case.pairs)),
        )


def _summary(rows: Rows) -> dict[str, Figures]:
    """The short table: sources that are alike together."""
    sections = {name: [s for s in rows if s.section == name] for name in SECTIONS}

    def all_of(section: str) -> list[Row]:
        return pooled(rows[source] for source in sections[section])

    natural = {f"  {s.name}": rows[s] for s in sections[NATURAL]}
    lines = {f"{NATURAL} ({len(natural)})": all_of(NATURAL), **natural}
    for section in (FIELDS, QUOTES, MADE):
        lines[f"{section} ({len(sections[section])})"] = all_of(section)
    made = all_of(MADE)
    right = [row for row in made if row.label]
    for kind in ("denied", "supposed", "conditional"):
        wrong = [row for row in made if row.kind == kind and not row.label]
        lines[f"  {kind} values"] = [*right, *wrong]
    for section in (NEW, LANGUAGES, LANGUAGE_CLAIMS, PROBES):
        lines[f"{section} ({len(sections[section])})"] = all_of(section)
    lines[f"{CLAIMS}: NLI ({len(sections[CLAIMS])})"] = all_of(CLAIMS)
    for section, joint in ((RAG, ": "), (TRIBUNAL, ", ")):
        for source in sections[section]:
            lines[f"{section}{joint}{source.name}"] = rows[source]
    return {name: describe(own) for name, own in lines.items() if own}


def _tables(rows: Rows) -> dict[str, dict[str, Figures]]:
    """Every source, then kinds of error and languages."""
    tables = {
        section: {s.name: describe(rows[s]) for s in rows if s.section == section and rows[s]}
        for section in SECTIONS
    }
    for section in (NATURAL, FIELDS, QUOTES, MADE, PROBES):
        own = pooled(rows[source] for source in rows if source.section == section)
        tables[f"{section}, by kind of error"] = of_kinds(own)
    untaught = pooled(rows[source] for source in rows if source.section == LANGUAGES)
    tables[f"{LANGUAGES}, by language"] = of_languages(untaught)
    return tables


def _text(
    revisions: Mapping[str, str],
    summary: Mapping[str, Figures],
    tables: Mapping[str, Mapping[str, Figures]],
    cascades: Mapping[str, Sequence[str]],
) -> str:
    lines = [f"{name} {revision}" for name, revision in revisions.items()]
    lines += ["", SHORT_HEADING, *(short_line(name, found) for name, found in summary.items())]
    told = "".join((__doc__ or "").partition("Natural errors")[1:]).strip()
    lines += ["", told.partition("\n\n``--keep``")[0], ""]
    for name, table in tables.items():
        lines += [name, HEADING, *(line_of(row, found) for row, found in table.items()), ""]
    for name, bands in cascades.items():
        lines += [f"{NATURAL}: a second judge is asked where {name} is unsure", *bands, ""]
    lines += [
        "Cascade: wrong ones that escape and right ones that are refused, both of all, where the",
        "second judge errs by chance in a share of its answers; no LLM was asked.",
        "",
    ]
    lines.append(
        "By kind of error: the wrong ones of that kind beside all right ones of the section."
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
