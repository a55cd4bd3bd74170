"""Which corpora teach the reader to ship, how much of each, and what is held out of a fold.

Only what licences allow trains what ships. DATA is a folder with the layout of `PERMISSIVE`.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safepassage.scoring_worker.laboratory.evaluation.splits import held_out
from safepassage.scoring_worker.laboratory.training.corpora import (
    HELD_OUT,
    PERMISSIVE_NLI,
    known_documents,
    read_rows,
)
from safepassage.scoring_worker.laboratory.training.corruption.known_documents import KnownDocument
from safepassage.scoring_worker.laboratory.training.corruption.synthesis import synthetic_documents

from .claims import altered_sentences, nli_claims, value_claims
from .generators import SlotPool, generated
from .questions import Place, ReadingQuestion, slot_questions

LANGUAGES = ("de", "el", "en", "es", "ro", "ru", "tr", "vi")

PERMISSIVE = {
    "sgd_train": 14_000,
    "sgd_unseen": 3_000,
    "qamr": 13_000,
    "qanom": 4_000,
    "qasrl_gs": 5_000,
    "wikitables": 13_000,
    "snips": 5_000,
    "e2e_clean": 3_000,
    "templates": 3_500,
    "slurp": 3_000,
    "qed": 1_300,
    "kpi_edgar": 1_700,
    "materials": 3_500,
    "tatqa": 1_500,
    **{f"xquad_{language}": 1_700 for language in LANGUAGES},
}
"""Questions of every slots file at the most."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "dialogue": ("sgd_train", "sgd_unseen", "snips", "slurp"),
    "predicates": ("qamr", "qanom", "qasrl_gs"),
    "tables": ("wikitables", "tatqa", "kpi_edgar"),
    "descriptions": ("e2e_clean", "templates", "materials"),
    "encyclopaedia": ("qed", *(f"xquad_{language}" for language in LANGUAGES)),
}
"""Sources that resemble each other. A fold leaves a whole family out, which is stricter than
leaving one source out: what is measured on a source was learnt from none of its kin."""

MEASURE_ONLY = ("covidqa", "products", "lct_trials", "measeval")
"""Licences that do not clearly allow training what ships."""

GENERATED = {"rewritten": 0.12, "sentence": 0.14, "conditional": 0.1, "form": 0.14}
"""New questions of each generator per question of a slots file."""

VALUE_CLAIMS, ALTERED = 0.12, 0.1
NLI_CLAIMS = 24_000
DOCUMENT_QUESTIONS = 5_000
_AROUND = 120


@dataclass(frozen=True, slots=True)
class Corpus:
    """Questions to train on, shuffled, and the sources they came from."""

    questions: list[ReadingQuestion]
    sources: tuple[str, ...]


def training_corpus(
    data: Path, *, without: Iterable[str] = (), share: float = 1.0, seed: int = 0
) -> Corpus:
    """Everything the reader is taught, without the slots files ``without``.

    ``share`` scales every corpus, for a shorter run.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    left_out = set(without)
    rng = random.Random(seed)
    questions: list[ReadingQuestion] = []
    names = [name for name in PERMISSIVE if name not in left_out]
    for name in names:
        of_file = slot_file(data, name)
        rng.shuffle(of_file)
        own = of_file[: int(PERMISSIVE[name] * share)]
        questions += with_generated(own, seed)
    documents = questions_of_documents(data, int(DOCUMENT_QUESTIONS * share), rng)
    nli = list(nli_claims(read_rows(data / "nli/train.jsonl.gz"), PERMISSIVE_NLI))
    questions += documents + rng.sample(nli, min(len(nli), int(NLI_CLAIMS * share)))
    rng.shuffle(questions)
    return Corpus(questions, (*names, "documents", *sorted(PERMISSIVE_NLI)))


def slot_file(data: Path, name: str) -> list[ReadingQuestion]:
    """The questions of one slots file that have a place in their passage.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    rows = read_rows(slots_path(data, name))
    return [question for question in slot_questions(rows) if question.answers or question.wrong]


def slots_path(data: Path, name: str) -> Path:
    """Where the slots file of that name is."""
    folder = "slots_measure" if name in ("products", "lct_trials", "measeval") else "slots"
    return data / "general" / folder / f"{name}.jsonl.gz"


def with_generated(own: Sequence[ReadingQuestion], seed: int) -> list[ReadingQuestion]:
    """``own`` with what the generators make of them, and claims of their values."""
    pool = SlotPool.of(own)
    return [
        *own,
        *generated(own, GENERATED, seed),
        *value_claims(own, pool, VALUE_CLAIMS, seed),
        *altered_sentences(own, pool, ALTERED, seed),
    ]


def questions_of_documents(data: Path, most: int, rng: random.Random) -> list[ReadingQuestion]:
    """Questions to annotated contracts and judgments, and to documents invented here."""
    invented = list(synthetic_documents(400, rng.randrange(1 << 30)))
    sources = {
        "cuad": known_documents(read_rows(data / "legal/cuad.jsonl.gz")),
        "inlegal_ner": known_documents(read_rows(data / "legal/inlegal_ner.jsonl.gz")),
        "invented": invented,
    }
    chosen: list[ReadingQuestion] = []
    for name, documents in sources.items():
        trained = (d for d in documents if not held_out(d.id, HELD_OUT))
        of_source = [q for d in trained for q in document_questions(d, name)]
        chosen += rng.sample(of_source, min(len(of_source), most // len(sources)))
    return chosen


def document_questions(document: KnownDocument, source: str) -> list[ReadingQuestion]:
    """One question per field of ``document``: its type, asked of what stands around it.

    Fields of other types in that passage are wrong answers; the same words are not.
    """
    made = []
    for known in document.fields:
        if not known.entity_types:
            continue
        start = max(0, known.context_start - _AROUND, known.start - 2 * _AROUND)
        end = min(len(document.text), known.context_end + _AROUND, known.end + 2 * _AROUND)
        inside = [f for f in document.fields if start <= f.start and f.end <= end]
        right, wrong = [], []
        for other in inside:
            place: Place = (other.start - start, other.end - start)
            same = set(other.entity_types) & set(known.entity_types)
            said = document.text[other.start : other.end] == document.text[known.start : known.end]
            if same or said:
                right.append(place)
            elif other.entity_types:
                wrong.append(place)
        made.append(
            ReadingQuestion(
                passage=document.text[start:end],
                asked=known.entity_types,
                answers=tuple(dict.fromkeys(right)),
                wrong=tuple(dict.fromkeys(wrong)),
                source=source,
                group=document.id,
            )
        )
    return made
