"""Is a value told apart from the same value of something else?

    python benchmarks/misattribution.py [--scorer default --scorer small] [--scores FOLDER]
                                        [--command NAME='COMMAND …'] [--out docs/measured]

``misattribution/`` beside this file holds 47 documents with 1,119 labelled rows and 488 sentences.
``--scorer`` takes what `load_scorer` takes: a name, a folder, and with the usual settings ``llm``
(any OpenAI-compatible chat endpoint) and ``decisions`` (any decision endpoint). ``--command`` runs
once: a JSON object a line on stdin, a score a line on stdout (higher is more likely right, ``null``
is "cannot say"). ``misattribution_peers.py`` has commands for other projects. ``--scores`` keeps
the scores, a line a row: ``--command NAME='cat FILE'`` makes the table again.

Each figure has a 95% bootstrap interval over documents. A row without a score counts as stopped. A
kind's rows are judged beside all rows with the other label.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recipes.row_figures import Figure, RowScores
from safepassage.pipeline import align_all, ground, new_aligner, questions
from safepassage.schemas import Document, Extraction, Response, hypothesis
from safepassage.scoring_worker import Scorer, load_scorer
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.training.corpora import read_rows
from safepassage.settings import JudgingSettings

FOLDER = Path(__file__).with_name("misattribution")
CHUNK = 64
FEWEST_DOCUMENTS = 5
"""With fewer documents a bootstrap over them says nothing."""
READER = "a careful reader who judged 600 such rows blind: 600 as labelled, each figure 1.00"
Json = Mapping[str, object]
Scores = Sequence[float | None]
Judge = Callable[[Sequence["Case"]], Scores]


class ScoresError(Exception):
    """A command failed, or did not write one score a line."""


@dataclass(frozen=True)
class Case:
    """What gets one score: a value with its quote, or a sentence. ``asked`` is all that a judge may
    see; ``part`` is ``rows``, ``roles`` or ``answers``."""

    asked: Json
    label: int
    kind: str
    part: str
    group: str
    same: object
    language: str = "en"


def cases(folder: Path = FOLDER) -> list[Case]:
    """The rows in the order of their files, then the sentences."""
    documents = {str(one["id"]): one for one in read_rows(folder / "documents.jsonl.gz")}
    made = [_row(row, documents[str(row["doc_id"])]) for row in read_rows(folder / "rows.jsonl.gz")]
    return made + [_sentence(one) for one in read_rows(folder / "sentences.jsonl.gz")]


def _row(row: Json, document: Json) -> Case:
    field = row.get("field")
    asked = {
        "document": document["text"],
        "quote": row["context"],
        "field": row["entity_type"],
        "description": field["description"] if isinstance(field, dict) else None,
        "value": row["value"],
        "claim": hypothesis(str(row["entity_type"]), str(row["value"])),
        "language": document["language"],
    }
    group, language = str(document["id"]), str(document["language"])
    same = group, row["value"], row["context"]
    return Case(asked, int(str(row["label"])), str(row["kind"]), "rows", group, same, language)


def _sentence(one: Json) -> Case:
    asked = {"passages": one["passages"], "claim": one["sentence"], "language": "en"}
    group, kind = str(one.get("pair") or one["question"]), str(one["kind"])
    return Case(asked, int(str(one["label"])), kind, str(one["set"]), group, one.get("pair"))


def by_scorer(scorer: Scorer, every: Sequence[Case]) -> Scores:
    """As the pipeline asks a scorer; the worst score of what it asks about a case."""
    asked = pairs_of(every)
    flat = [pair for pairs in asked for pair in pairs]
    chunks = [scorer.assess(flat[at : at + CHUNK]) for at in range(0, len(flat), CHUNK)]
    answers = iter([one.score for chunk in chunks for one in chunk])
    own = [[next(answers) for _ in pairs] for pairs in asked]
    return [min(scores) if scores and None not in scores else None for scores in own]


def pairs_of(every: Sequence[Case]) -> list[list[Pair]]:
    """What the pipeline asks about each case; nothing where it stops the case before."""
    rows = {str(at): case for at, case in enumerate(every) if case.part == "rows"}
    texts = {case.group: str(case.asked["document"]) for case in rows.values()}
    documents = {name: Document(id=name, text=text) for name, text in texts.items()}
    extractions = [
        Extraction(
            id=name,
            doc_id=case.group,
            entity_type=str(case.asked["field"]),
            value=str(case.asked["value"]),
            context=str(case.asked["quote"]),
            field={"description": case.asked["description"]} if case.asked["description"] else None,
        )
        for name, case in rows.items()
    ]
    aligned = align_all(extractions, documents, new_aligner(JudgingSettings()))
    found = {name: questions([one]) for name, one in zip(rows, aligned, strict=True)}
    for at, case in enumerate(every):
        if case.part != "rows":
            passages, claim = case.asked["passages"], str(case.asked["claim"])
            response = Response(id=str(at), context=passages, response=claim)
            found[str(at)] = questions(ground(response, whole=True))
    return [found[str(at)] for at in range(len(every))]


def by_command(command: str, every: Sequence[Case]) -> Scores:
    """What a command writes about the cases.

    Raises:
        ScoresError: it fails, or its output is not one number or null a line.
    """
    lines = "".join(json.dumps({"id": at, **one.asked}) + "\n" for at, one in enumerate(every))
    done = subprocess.run(shlex.split(command), input=lines.encode(), stdout=-1, check=False)
    if done.returncode:
        raise ScoresError(f"{command}: exit status {done.returncode}")
    written = done.stdout.decode().splitlines()
    if len(written) != len(every):
        raise ScoresError(f"{command}: {len(written)} lines for {len(every)} rows")
    return [_score(command, at, line) for at, line in enumerate(written, 1)]


def _score(command: str, at: int, line: str) -> float | None:
    try:
        score = json.loads(line)
    except ValueError:
        score = line
    finite = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    if not finite and score is not None:
        raise ScoresError(f"{command}: line {at} is neither a number nor null: {line[:40]!r}")
    return score


def parts(every: Sequence[Case], scores: Scores) -> Iterator[tuple[str, RowScores, RowScores]]:
    """The lines of the table: all rows, by language, by kind, and the sentences; each with the rows
    that it is about and what its figures are of."""
    lowest = min((score for score in scores if score is not None), default=0.0) - 1
    pooled = RowScores(
        labels=[case.label for case in every],
        scores=[lowest if score is None else score for score in scores],
        groups=[case.group for case in every],
        same=[case.same for case in every],
        kinds=[case.kind for case in every],
    )
    rows = pooled.where([case.part == "rows" for case in every])
    languages = [case.language for case in every if case.part == "rows"]
    chosen = {"all rows": rows, "English": rows.where([one == "en" for one in languages])}
    chosen["other languages"] = rows.where([one != "en" for one in languages])
    for language in sorted(set(languages) - {"en"}):
        chosen[f"  {language}"] = rows.where([one == language for one in languages])
    for name in ("roles", "answers"):
        if any(one.part == name and s is not None for one, s in zip(every, scores, strict=True)):
            chosen[f"sentences: {name}"] = pooled.where([case.part == name for case in every])
    yield from ((heading, own, own) for heading, own in chosen.items() if own.labels)
    for label, kind in sorted(set(zip(rows.labels, rows.kinds, strict=True))):
        told = rows.where([own == kind for own in rows.kinds])
        yield f"{('wrong', 'right')[label]}: {kind}", told, rows.of_kind(kind)


def table(name: str, every: Sequence[Case], scores: Scores) -> list[str]:
    """A block of the table for one judge."""
    none = sum(score is None for score in scores)
    lines = ["", f"{name}, {none} without a score"]
    for heading, told, own in parts(every, scores):
        documents = len(set(told.groups))
        named = (own.auroc, own.caught, own.pairs)
        figures = "".join(f"{shown(own, one, documents):20}" for one in named)
        count = f"{len(told.labels):5}{documents:5}"
        lines.append(f"{heading:26}{count}  {figures}{own.count_of_pairs:5}")
    return lines


HEADING = (
    f"{'':26}{'rows':>5}{'doc.':>5}  {'AUROC':20}{'wrong stopped':20}{'pairs ranked right':20}pairs"
)


def shown(own: RowScores, figure: Figure, documents: int) -> str:
    """A figure, and its interval behind it unless it is about too few documents."""
    value = figure(None)
    if value is None:
        return "–"
    interval = own.interval(figure) if documents >= FEWEST_DOCUMENTS else None
    return f"{_short(value)} [{', '.join(map(_short, interval))}]" if interval else _short(value)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge everything with every judge and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scorer", action="append", default=[], help="a name or a folder")
    parser.add_argument("--command", action="append", default=[], help="NAME='COMMAND …'")
    parser.add_argument("--scores", type=Path, help="folder for the scores, a file a judge")
    parser.add_argument("--out", type=Path, help="folder for misattribution.txt")
    options = parser.parse_args(arguments)
    judges: dict[str, Judge] = {}
    for name in options.scorer or ([] if options.command else ["default", "small"]):
        judges[name] = lambda every, name=name: by_scorer(load_scorer(name, packs=()), every)
    for one in options.command:
        name, _, command = one.partition("=")
        judges[name] = partial(by_command, command)
    every, lines = cases(), [READER, "", HEADING]
    for name, judge in judges.items():
        scores = judge(every)
        if options.scores:
            options.scores.mkdir(parents=True, exist_ok=True)
            path = options.scores / (re.sub(r"[^\w.-]+", "-", name) + ".scores")
            path.write_text("".join(json.dumps(score) + "\n" for score in scores))
        lines += table(name, every, scores)
    text = "\n".join(lines)
    print(text)
    if options.out:
        (options.out / "misattribution.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
