"""Which corpora teach the reader to ship, how much of each, and what is held out of a fold.

Only what licences allow trains what ships. DATA is a folder with the layout of `PERMISSIVE`.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recipes.data_sets import HELD_OUT
from recipes.invented import synthetic_documents
from recipes.invented.document_questions import (
    document_questions,
    with_generated,
)
from research.corpora import PERMISSIVE_NLI, known_documents
from safepassage.scoring_worker.evaluation.splits import held_out
from safepassage.scoring_worker.training.corpora import read_rows
from safepassage.scoring_worker.training.reading.questions import (
    Place,
    ReadingQuestion,
    places_of,
)

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

NLI_CLAIMS = 24_000
DOCUMENT_QUESTIONS = 5_000


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


def nli_claims(
    rows: Iterable[Mapping[str, Any]], allowed: frozenset[str]
) -> Iterator[ReadingQuestion]:
    """The rows of an NLI file as claims, from the sources ``allowed``.

    Of an entailed claim every word is founded; of another nobody marked which are not.
    """
    for row in rows:
        if row["source"] in allowed:
            entailed = row["label"] == "entailment"
            yield ReadingQuestion(
                passage=row["premise"],
                asked=(row["hypothesis"],),
                supported=int(entailed),
                unfounded=() if entailed else None,
                source=row["source"],
                group=row["premise"][:80],
            )


def slot_questions(rows: Iterable[Mapping[str, Any]]) -> Iterator[ReadingQuestion]:
    """The questions of the rows of a slots file, in order of first appearance.

    Values that are not in the passage, and answers beside which the same words are called
    wrong, are left out.
    """
    grouped: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["premise"], str(row["slot"])), []).append(row)
    for (passage, _), together in grouped.items():
        yield _question(passage, together)


def _question(passage: str, rows: list[Mapping[str, Any]]) -> ReadingQuestion:
    answers = _places(passage, [row["value"] for row in rows if row["label"]])
    wrong = _places(passage, [row["value"] for row in rows if not row["label"]])
    first = rows[0]
    return ReadingQuestion(
        passage=passage,
        asked=tuple(dict.fromkeys(row["type"] for row in rows)),
        answers=answers,
        wrong=tuple(place for place in wrong if not any(_within(place, a) for a in answers)),
        source=first["source"],
        group=first["group"],
        language=first["lang"],
    )


def _places(passage: str, values: Iterable[str]) -> tuple[Place, ...]:
    found = (place for value in values for place in places_of(value, passage))
    return tuple(dict.fromkeys(found))


def _within(inner: Place, outer: Place) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
