"""How well the default scorer judges a schema that nobody has shown it.

    python benchmarks/general.py ../shared/data --readers FOLDER [--rows 250] [--keep FOLDER]
                                 [--out docs/measured] [--json FILE]

By leaving sources out: every source that trained the reader is judged by a reader that learnt
nothing of its family (five families; ``--readers`` is the folder of
``python -m safepassage.scoring_worker.laboratory.training.default_scorer``), with a stack fitted on
the other families. Those readers learnt from an eighth of what the shipped one did. What trained
nothing is judged by the scorer that ships: four sources of fields, the probes, free claims, and the
tribunal extractions with and without packs, these through alignment. Thresholds are the shipped
ones throughout.

Positive class: unsupported. Intervals are 95% bootstraps over passages or documents. ``caught``:
the share of wrong ones flagged where 6% of the right ones are; ``escaped``, ``refused``: wrong ones
accepted and right ones flagged at the shipped threshold; ``review``: what is flagged of all where
5% of the wrong ones are accepted. Beside it AUROC of word matching (with its macro F1), of the mean
logit of the value's tokens, and of the claim head.

``--keep`` holds what was read, a file a source, and is believed whatever ``--rows``: a second run
goes on where the first was stopped, and several may share the work (``--only REGEX``).
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from general_figures import (
    HEADING,
    NOT_JUDGED,
    SHORT_HEADING,
    Figures,
    Row,
    as_json,
    describe,
    line_of,
    of_kinds,
    of_languages,
    pooled,
    short_line,
)
from general_sets import (
    CLAIMS,
    LEFT_OUT,
    MADE,
    NEW,
    PROBES,
    SECTIONS,
    TRIBUNAL,
    Case,
    Source,
    by_family,
    sources,
)

from safepassage.schemas import CLAIM_TYPE
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.calibration import apply
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.laboratory.training.default_scorer import (
    Steps,
    fold_folder,
    fold_scorer,
)
from safepassage.scoring_worker.laboratory.training.stacking import (
    LabelledOpinion,
    fit_stack,
    stack_scores,
)
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.scorers.default import DefaultScorer
from safepassage.scoring_worker.scorers.folders import DEFAULT_MODEL
from safepassage.scoring_worker.scorers.words import words_found
from safepassage.scoring_worker.weighing.opinion import Opinion, opinion_of
from safepassage.scoring_worker.weighing.questions import parts_of
from safepassage.scoring_worker.weighing.stack import Stack

CHUNK = 256
"""Pairs between two signs of life."""
BEFORE = """\
before: the scorer of fixed rules that this one replaced, whose code is gone; its figures were
measured on other rows of other sets (kept-back annotations of nine fields) and only say where this
began: macro F1 .62 (word matching .60), wrong types caught .046, negation caught .21, AUROC of type
swaps by its encoder .505; held-out sources of the slots AUROC .556; of the 233 probes 127 right; on
the same 675 tribunal rows, half of which its rules were written on, F1 .982.
"""


@dataclass(frozen=True, slots=True)
class Read:
    """A case as comparators and reader saw it, before any stack weighed it.

    ``opinions``: of all parts; empty where nothing could be judged. ``words``: the share of the
    value's words that the passage has. ``value``, ``claim``: the reader's logits, scaled.
    """

    label: int
    kind: str
    group: str
    opinions: tuple[Opinion, ...]
    words: float
    value: float
    claim: float


def main() -> None:
    """Read every source, then fit the stacks, describe and print."""
    options = _options()
    keep = options.keep or Path(tempfile.mkdtemp())
    keep.mkdir(parents=True, exist_ok=True)
    every = list(sources(options.data, options.rows))
    if options.only:
        every = [s for s in every if re.search(options.only, f"{s.section}: {s.name}")]
    missing: list[Source] = []
    if options.as_kept:
        missing = [s for s in every if not list(keep.glob(f"{_stem(s)}-*.jsonl"))]
        every = [s for s in every if s not in missing]
    steps = Steps(options.data, options.readers)
    shipped = load_scorer("default", packs=())
    assert isinstance(shipped, DefaultScorer)
    reads: dict[tuple[str, str], list[Read]] = {}
    for family, own in by_family(every).items():
        folder = fold_folder(steps, family)
        reads |= _all_read(own, partial(fold_scorer, folder, steps), _digest(folder), keep)
    for packs in dict.fromkeys(source.packs for source in every if source.family is None):
        own = [s for s in every if s.family is None and s.packs == packs]
        make = partial(load_scorer, "default", packs=packs)
        reads |= _all_read(own, make, _digest(DEFAULT_MODEL), keep)
    if options.only:
        return
    rows = _weighed(every, reads, shipped)
    text, figures = report(every, rows, shipped)
    if missing:
        text += "\nNot in these tables: " + ", ".join(f"{s.name} ({s.section})" for s in missing)
    print(text)
    if options.out:
        (options.out / "general.txt").write_text(text + "\n")
        options.json = options.json or options.out / "general.json"
    if options.json:
        options.json.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--readers", type=Path, required=True, help="of training.default_scorer")
    parser.add_argument("--rows", type=int, default=250, help="of each source, about")
    parser.add_argument("--keep", type=Path, help="folder for what was read")
    parser.add_argument("--only", help="read what matches, print nothing: for several processes")
    parser.add_argument("--as-kept", action="store_true", help="tables of what was read so far")
    parser.add_argument("--out", type=Path, help="folder for general.txt and general.json")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _digest(folder: Path) -> str:
    with (folder / "reader.safetensors").open("rb") as weights:
        return hashlib.file_digest(weights, "sha256").hexdigest()[:16]


def _all_read(
    own: Sequence[Source], make: Callable[[], Any], reader: str, keep: Path
) -> dict[tuple[str, str], list[Read]]:
    made = cache(make)  # a scorer takes seconds to load: only where something is left to read
    return {(s.section, s.name): _kept(s, made, reader, keep) for s in own}


def _stem(source: Source) -> str:
    return re.sub(r"\W+", "-", f"{source.section} {source.name}")


def _kept(source: Source, made: Callable[[], Any], reader: str, keep: Path) -> list[Read]:
    """What was read of ``source``, now or before."""
    path = keep / f"{_stem(source)}-{reader}.jsonl"
    if not path.exists():
        cases = source.cases()
        started = time.monotonic()
        found = list(read_cases(made(), cases, f"{source.section}: {source.name}"))
        seconds = time.monotonic() - started
        print(f"\r{source.section}: {source.name}, {seconds:.0f} s", file=sys.stderr)
        partial = path.with_suffix(".partial")
        partial.write_bytes(b"\n".join(orjson.dumps(_stored(read)) for read in found))
        partial.rename(path)
    return [_restored(line) for line in path.read_bytes().splitlines()]


def _stored(read: Read) -> dict[str, object]:
    opinions = [{"shape": o.shape, "features": o.features, "different": o.different}
                for o in read.opinions]  # fmt: skip
    return {**asdict(read), "opinions": opinions}


def _restored(line: bytes) -> Read:
    found = orjson.loads(line)
    found["opinions"] = tuple(Opinion(**opinion) for opinion in found["opinions"])
    return Read(**found)


def read_cases(scorer: DefaultScorer, cases: Sequence[Case], name: str) -> Iterator[Read]:
    """What ``scorer`` and the baselines make of ``cases``, in their order."""
    pairs = [pair for case in cases for pair in case.pairs]
    opinions: list[tuple[Opinion, ...]] = []
    logits: list[tuple[float, float]] = []
    for at in range(0, len(pairs), CHUNK):
        chunk = pairs[at : at + CHUNK]
        opinions += (own := scorer.opinions(chunk))
        logits += reader_alone(scorer, chunk, own)
        print(f"\r{name} {len(opinions)}/{len(pairs)}   ", end="", file=sys.stderr, flush=True)
    of_pair, alone = iter(opinions), iter(logits)
    for case in cases:
        own = [next(of_pair) for _ in case.pairs]
        own_logits = [next(alone) for _ in case.pairs]
        judged = not case.lost and all(own)
        yield Read(
            label=case.label,
            kind=case.kind,
            group=case.group,
            opinions=tuple(o for part in own for o in part) if judged else (),
            words=0.0 if case.lost else min(map(words_found, case.pairs)),
            value=-1.0 if case.lost else min(value for value, _ in own_logits),
            claim=-1.0 if case.lost else min(claim for _, claim in own_logits),
        )


def reader_alone(
    scorer: DefaultScorer, pairs: Sequence[Pair], opinions: Sequence[Sequence[Opinion]]
) -> Iterator[tuple[float, float]]:
    """Of every pair the logit of its value's tokens and of its claim, the least of its parts.

    The reader is asked here of what the scorer did not ask it, since comparators had decided.
    """
    asked = {
        at: parts_of(pair)
        for at, (pair, own) in enumerate(zip(pairs, opinions, strict=True))
        if any(opinion.different for opinion in own)
    }
    tasks = [t for own in asked.values() for p in own for t in (p.question, p.claim) if t]
    readings = dict(zip(tasks, scorer.reader.read(tasks), strict=True))
    for at, own in enumerate(opinions):
        known: Iterable[Opinion | PairFailure] = own
        if at in asked:
            known = [
                opinion_of(part, readings[part.question] if part.question else None,
                           readings[part.claim])
                for part in asked[at]
            ]  # fmt: skip
        features = [one.features for one in known if isinstance(one, Opinion)]
        yield (
            min((one.get("value_mean", -1.0) for one in features), default=-1.0),
            min((one.get("entailed", -1.0) for one in features), default=-1.0),
        )


def _weighed(
    every: Sequence[Source], reads: dict[tuple[str, str], list[Read]], shipped: DefaultScorer
) -> dict[tuple[str, str], list[Row]]:
    """Every case with its score: of the shipped stack, or of one fitted without its family."""
    families = by_family(every)
    stacks: dict[str, Stack] = {}
    for family in families:
        others = [s for name, own in families.items() if name != family for s in own]
        stacks[family] = fit_stack([one for s in others for one in _labelled(s, reads)])
    rows = {}
    for source in every:
        stack = (
            Stack.of(shipped.manifest, tuple(sorted(source.packs)))
            if source.family is None
            else stacks[source.family]
        )
        key = source.section, source.name
        rows[key] = [_row(source, read, stack, shipped) for read in reads[key]]
    return rows


def _labelled(
    source: Source, reads: dict[tuple[str, str], list[Read]]
) -> Iterator[LabelledOpinion]:
    for read in reads[source.section, source.name]:
        if read.label or len(read.opinions) == 1:
            for opinion in read.opinions:
                name = f"{source.name}, {source.section}"
                yield LabelledOpinion(opinion, read.label, name)


def _row(source: Source, read: Read, stack: Stack, shipped: DefaultScorer) -> Row:
    score = NOT_JUDGED
    claimed = bool(read.opinions) and read.opinions[0].shape == "claim"
    if read.opinions:
        raw = stack_scores(stack, [read.opinions])
        score = float(apply(shipped.manifest.calibration, np.asarray(raw))[0])
    return Row(
        source=source.name,
        label=read.label,
        kind=read.kind,
        group=read.group,
        language=source.language,
        score=score,
        threshold=shipped.manifest.thresholds.of(CLAIM_TYPE if claimed else ""),
        words=read.words,
        value=read.value,
        claim=read.claim,
    )


def report(
    every: Sequence[Source],
    rows: dict[tuple[str, str], list[Row]],
    shipped: DefaultScorer,
) -> tuple[str, dict[str, object]]:
    """The text with all tables, and the same as JSON."""
    sections = {
        section: [rows[s.section, s.name] for s in every if s.section == section]
        for section in SECTIONS
    }
    summary = _summary(every, rows, sections)
    tables: dict[str, dict[str, Figures]] = {
        section: {
            s.name: describe(rows[s.section, s.name])
            for s in every
            if s.section == section and rows[s.section, s.name]
        }
        for section in SECTIONS
    }
    for section in (LEFT_OUT, MADE, NEW, PROBES):
        tables[f"{section}, by kind of error"] = of_kinds(pooled(sections[section]))
    tables["tribunal without packs, by kind of error"] = of_kinds(sections[TRIBUNAL][0])
    tables["tribunal with packs, by kind of error"] = of_kinds(sections[TRIBUNAL][1])
    tables[f"{LEFT_OUT}, by language"] = of_languages(pooled(sections[LEFT_OUT]))
    thresholds = shipped.manifest.thresholds
    used = f"threshold {thresholds.default}, of claims {thresholds.of(CLAIM_TYPE)}"
    lines = [f"default {shipped.revision}, {used}", "", SHORT_HEADING]
    lines += [short_line(name, found) for name, found in summary.items()]
    told = "".join((__doc__ or "").partition("Positive class")[1:]).strip()
    lines += ["", BEFORE, told, ""]
    for name, table in tables.items():
        lines += [name, HEADING, *(line_of(row, found) for row, found in table.items()), ""]
    lines.append(
        "By kind of error: the wrong ones of that kind beside all right ones of the section."
    )
    figures: dict[str, object] = {
        "revision": shipped.revision,
        "threshold": thresholds.default,
        "threshold of claims": thresholds.of(CLAIM_TYPE),
    }
    figures["summary"] = as_json(summary)
    figures["tables"] = {name: as_json(table) for name, table in tables.items()}
    return "\n".join(lines), figures


def _summary(
    every: Sequence[Source],
    rows: dict[tuple[str, str], list[Row]],
    sections: dict[str, list[list[Row]]],
) -> dict[str, Figures]:
    """The short table: all that is alike pooled."""
    summary = {f"{LEFT_OUT} ({len(sections[LEFT_OUT])})": pooled(sections[LEFT_OUT])}
    for family, own in by_family(every).items():
        natural = [rows[s.section, s.name] for s in own if s.section == LEFT_OUT]
        summary[f"  {family} ({len(natural)})"] = pooled(natural)
    made = pooled(sections[MADE])
    right = [row for row in made if row.label]
    summary[MADE] = made
    for kind in ("denied", "supposed", "conditional"):
        summary[f"  {kind} values"] = [
            *right,
            *(row for row in made if row.kind == kind and not row.label),
        ]
    summary[f"{NEW} ({len(sections[NEW])})"] = pooled(sections[NEW])
    summary[PROBES] = pooled(sections[PROBES])
    answers = {"ragtruth_qa", "expertqa"}
    claims = [s for s in every if s.section == CLAIMS]
    nli = [rows[s.section, s.name] for s in claims if s.name not in answers]
    summary[f"{CLAIMS}: NLI ({len(nli)})"] = pooled(nli)
    for name in (s.name for s in claims if s.name in answers):
        summary[f"{CLAIMS}: {name}"] = rows[CLAIMS, name]
    for source in every:
        if source.section == TRIBUNAL:
            summary[f"{TRIBUNAL}, {source.name}"] = rows[TRIBUNAL, source.name]
    return {name: describe(own) for name, own in summary.items() if own}


if __name__ == "__main__":
    main()
