"""What `general.py` judges: labelled cases by source. None of them taught the large reader."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recipes.data_sets import answer_rows, nli_pairs
from recipes.invented.claims import altered_sentences
from recipes.invented.generators import SlotPool, generated
from recipes.large_scorer import LEFT_OUT
from recipes.reading_corpus import MEASURE_ONLY, slot_file
from recipes.source_figures import ANSWERS
from recipes.stack_pairs import cut_pairs, slot_pairs
from research.corpora import PERMISSIVE_NLI
from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.scoring_worker.evaluation.datasets import read_dataset
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.training.corpora import read_rows
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion
from safepassage.streams.cli.label_options import label_sources

SEED = 0
MADE_SHARES = {"rewritten": 0.2, "sentence": 0.35, "conditional": 0.25, "form": 0.25}
"""New questions of each generator per question of a source."""
MADE_PER_ROW = 1 / 3
"""Questions made of a source, for each row of it that is judged."""
PACKS = ("contracts", "legal")

NATURAL = "natural errors of LLMs"
FIELDS = "fields left out of the large reader"
QUOTES = "short quotes of these"
MADE = "made from these"
NEW = "fields that trained no reader"
LANGUAGES = "languages without training data"
LANGUAGE_CLAIMS = "claims in languages without training data"
PROBES = "probes"
CLAIMS = "free claims"
RAG = "answers"
TRIBUNAL = "tribunal"
SECTIONS = (
    NATURAL,
    FIELDS,
    QUOTES,
    MADE,
    NEW,
    LANGUAGES,
    LANGUAGE_CLAIMS,
    PROBES,
    CLAIMS,
    RAG,
    TRIBUNAL,
)
UNTAUGHT = {
    "piaf": "fr", "squad_it": "it", "faquad": "pt", "europeana_nl": "nl", "cmrc2018": "zh",
    "uner_zh": "zh", "jsquad": "ja", "ja_gsd_ne": "ja", "klue_ner": "ko", "tydiqa_ko": "ko",
    "arcd": "ar", "tydiqa_ar": "ar", "hiner": "hi", "xquad_hi": "hi", "uner_sv": "sv",
    "norquad": "no", "xquad_th": "th", "pquad": "fa", "heq": "he", "tydiqa_id": "id",
}  # fmt: skip
"""Sources in languages that the small reader covers and was never taught, by language."""
UNTAUGHT_CLAIMS = {"jnli": "ja", "klue_nli": "ko", "farstail": "fa"}
"""The same of claims."""
ANSWER_ROWS = 150


@dataclass(frozen=True, slots=True)
class Case:
    """What gets one label: a pair, or all sentences of an answer. ``lost``: stopped before."""

    pairs: tuple[Pair, ...]
    label: int
    kind: str
    group: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Cases from one place, judged with ``packs``."""

    name: str
    section: str
    cases: Callable[[], list[Case]]
    language: str = "en"
    packs: tuple[str, ...] = ()


def sources(data: Path, rows: int) -> Iterator[Source]:
    """Every source in the order of the table; at most about ``rows`` cases of each, but all
    natural errors, probes and tribunal extractions."""
    general = data / "general"
    natural = general / "natural_extractions.jsonl.gz"
    for name in sorted({row["source"] for row in read_rows(natural)}):
        yield Source(name, NATURAL, partial(natural_cases, general, name))
    for name in LEFT_OUT:
        yield Source(name, FIELDS, partial(slot_cases, data, name, rows))
    for name in LEFT_OUT:
        yield Source(name, QUOTES, partial(quote_cases, data, name, rows))
    for name in LEFT_OUT:
        yield Source(name, MADE, partial(made_cases, data, name, int(rows * MADE_PER_ROW)))
    for name in MEASURE_ONLY:
        yield Source(name, NEW, partial(slot_cases, data, name, rows))
    for name, language in UNTAUGHT.items():
        yield Source(name, LANGUAGES, partial(slot_cases, data, name, rows), language)
    for name, language in UNTAUGHT_CLAIMS.items():
        cases = partial(claim_set_cases, data, name, rows)
        yield Source(name, LANGUAGE_CLAIMS, cases, language)
    probes = general / "probe_extractions.jsonl.gz", general / "probe_documents.jsonl.gz"
    yield Source("probes", PROBES, partial(file_cases, *probes), language="several")
    for name in sorted(PERMISSIVE_NLI):
        yield Source(name, CLAIMS, partial(nli_cases, data, name, rows))
    for name in ANSWERS:
        yield Source(name, RAG, partial(answer_cases, data, name, ANSWER_ROWS))
    tribunal = partial(
        file_cases, data / "tribunal/extractions.jsonl.gz", data / "tribunal/documents.jsonl.gz"
    )
    yield Source("no packs", TRIBUNAL, tribunal)
    yield Source(f"packs {', '.join(PACKS)}", TRIBUNAL, tribunal, packs=PACKS)


def answer_cases(data: Path, name: str, rows: int) -> list[Case]:
    """About ``rows`` answers of a groundedness file, of those that taught nothing."""
    measured = {str(row["id"]) for row in answer_rows(data, name)}
    cases = file_cases(data / "groundedness" / f"{name}.jsonl.gz")
    own = [case for case in cases if case.group in measured]
    return random.Random(SEED).sample(own, min(rows, len(own)))


def natural_cases(general: Path, name: str) -> list[Case]:
    """The extractions of one task; their documents are named after it."""
    files = general / "natural_extractions.jsonl.gz", general / "natural_documents.jsonl.gz"
    return [case for case in file_cases(*files) if case.group.startswith(f"{name}:")]


def slot_cases(data: Path, name: str, rows: int) -> list[Case]:
    """About ``rows`` rows of a slots file, all of a passage and slot together."""
    return [_case(pair) for pair in slot_pairs(data, name, rows, SEED)]


def quote_cases(data: Path, name: str, rows: int) -> list[Case]:
    """About ``rows`` short quotes of a slots file; others than the stack was fitted on."""
    return [_case(pair) for pair in cut_pairs(data, name, rows, SEED + 1)]


def nli_cases(data: Path, name: str, rows: int) -> list[Case]:
    """``rows`` of the development rows of one collection; a premise is a document."""
    pairs = list(nli_pairs(read_rows(data / "nli/dev.jsonl.gz"), frozenset({name})))
    chosen = random.Random(SEED).sample(pairs, min(rows, len(pairs)))
    return [Case((pair.pair,), pair.label, "nli", pair.premise) for pair in chosen]


def claim_set_cases(data: Path, name: str, rows: int) -> list[Case]:
    """``rows`` rows of a set of claims; a premise is a document."""
    every = list(read_rows(data / f"claims/{name}.jsonl.gz"))
    chosen = random.Random(SEED).sample(every, min(rows, len(every)))
    pairs = nli_pairs(chosen, frozenset({row["source"] for row in chosen}))
    return [Case((pair.pair,), pair.label, "nli", pair.premise) for pair in pairs]


def file_cases(path: Path, documents: Path | None = None, rows: int | None = None) -> list[Case]:
    """Labelled extractions or answers as the pipeline meets them, aligned and with what is
    around; a sample of ``rows``."""
    given = label_sources([documents] if documents else [], SEED, lambda *_: None)
    cases = list(read_dataset(path, given).cases)
    if rows is not None and len(cases) > rows:
        cases = random.Random(SEED).sample(cases, rows)
    return [
        Case(
            tuple(case.pairs),
            int(case.supported),
            case.kind or "",
            case.group,
            lost=len(case.pairs) < len(case.parts) or not case.parts,
        )
        for case in cases
    ]


def made_cases(data: Path, name: str, count: int) -> list[Case]:
    """What the generators make of a slots file: denials, suppositions, conditions, forms and
    altered sentences. ``count`` questions, and half as many claims."""
    questions = slot_file(data, name)
    rng = random.Random(SEED)
    rng.shuffle(questions)
    own = questions[: 6 * count]
    made = list(generated(own, MADE_SHARES, SEED))
    altered = list(altered_sentences(own, SlotPool.of(own), 0.3, SEED))
    rng.shuffle(made)
    rng.shuffle(altered)
    values = [case for question in made[:count] for case in values_of(question, rng)]
    return values + [claim_of(question) for question in altered[: count // 2]]


def values_of(question: ReadingQuestion, rng: random.Random) -> Iterator[Case]:
    """At most two of the question's values, right or wrong, each as a case."""
    asked = rng.choice(question.asked)
    places = [(place, 1) for place in question.answers] + [(place, 0) for place in question.wrong]
    for (start, end), label in rng.sample(places, min(2, len(places))):
        value = question.passage[start:end]
        if value.strip():
            kind = question.source.rpartition("+")[2]
            made = LabelledPair(question.passage, asked, value, 1 if label else 0, kind)
            yield Case((made.pair,), label, kind, question.group)


def claim_of(question: ReadingQuestion) -> Case:
    """A claim of the generators as a case."""
    claim = question.asked[0]
    pair = Pair(question.passage, hypothesis(CLAIM_TYPE, claim), CLAIM_TYPE, claim)
    kind = "altered sentence"
    return Case((pair,), int(question.supported or 0), kind, question.group)


def _case(pair: LabelledPair) -> Case:
    return Case((pair.pair,), pair.label, pair.kind, pair.group)


def by_packs(found: Sequence[Source]) -> dict[tuple[str, ...], list[Source]]:
    """The sources by the packs that they are judged with."""
    grouped: dict[tuple[str, ...], list[Source]] = {}
    for source in found:
        grouped.setdefault(source.packs, []).append(source)
    return grouped
