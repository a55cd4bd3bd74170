"""What the large reader is taught: English questions, two fifths of them short quotes."""

import random
from collections.abc import Iterable
from pathlib import Path

from recipes.claim_sets import ANSWER_SETS, CLAIM_SETS, judged_claims
from recipes.data_sets import redocred_documents
from recipes.invented.claims import (
    altered_sentences,
    value_claims,
)
from recipes.invented.document_questions import (
    document_questions,
)
from recipes.invented.generators import SlotPool, generated
from recipes.label_quotes import label_quotes
from recipes.reading_corpus import Corpus, nli_claims, questions_of_documents, slot_file
from recipes.relation_questions import relation_questions
from recipes.short_quotes import cut_quotes, foreign_questions
from research.corpora import PERMISSIVE_NLI
from safepassage.scoring_worker.training.corpora import read_rows
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion

ENGLISH = {
    "sgd_train": 4_000,
    "sgd_unseen": 1_500,
    "qamr": 5_500,
    "qanom": 1_400,
    "qasrl_gs": 1_900,
    "wikitables": 4_500,
    "snips": 1_700,
    "e2e_clean": 1_200,
    "templates": 2_000,
    "slurp": 1_100,
    "qed": 1_000,
    "kpi_edgar": 1_000,
    "materials": 1_500,
    "tatqa": 900,
    "xquad_en": 1_500,
    "recognizers": 500,
}
"""Questions of every slots file at the most."""
CUT, FOREIGN = 0.62, 0.07
GENERATED = {"rewritten": 0.06, "sentence": 0.08, "conditional": 0.06, "form": 0.14}
CUT_GENERATED = 0.5
VALUE_CLAIMS, ALTERED = 0.1, 0.07
DOCUMENTS, RELATIONS, TYPED, NLI = 2_100, 5_000, 700, 7_000


def large_corpus(
    data: Path, *, without: Iterable[str] = (), share: float = 1.0, seed: int = 0
) -> Corpus:
    """Everything the large reader is taught, without the slots files ``without``.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    left_out = set(without)
    questions: list[ReadingQuestion] = []
    names = [name for name in ENGLISH if name not in left_out]
    for name in names:
        own = _english(data, name, rng)
        questions += taught(own[: int(ENGLISH[name] * share)], seed)
    documents = questions_of_documents(data, int(DOCUMENTS * share), rng)
    questions += [*documents, *cut_quotes(documents, CUT, seed)]
    annotated = list(read_rows(data / "triples/redocred.jsonl.gz"))
    relations = list(relation_questions(annotated, seed))
    chosen = rng.sample(relations, min(len(relations), int(RELATIONS * share)))
    questions += [*chosen, *cut_quotes(chosen, 0.25, seed)]
    questions += value_claims(chosen, SlotPool(), 0.15, seed)
    typed = [q for d in redocred_documents(annotated) for q in document_questions(d, "redocred")]
    questions += rng.sample(typed, min(len(typed), int(TYPED * share)))
    nli = list(nli_claims(read_rows(data / "nli/train.jsonl.gz"), PERMISSIVE_NLI))
    questions += rng.sample(nli, min(len(nli), int(NLI * share)))
    questions += judged_claims(data, share, seed)
    rng.shuffle(questions)
    sources = (*names, "redocred", "documents", *CLAIM_SETS, *ANSWER_SETS, *sorted(PERMISSIVE_NLI))
    return Corpus(questions, sources)


LABELLED = {
    "sgd_train": 0.5,
    "wikitables": 0.3,
    "snips": 0.4,
    "e2e_clean": 0.3,
    "templates": 0.5,
    "slurp": 0.6,
    "recognizers": 0.5,
}
"""Quotes that name a field, of each file, per question."""
QUESTIONS_A_FILE, QUOTES_A_FILE = 6_000, 2_600
AGAIN = 8_000
"""Questions of the first pass that are asked again in the second."""
SECOND_PASS = 21_500


def second_corpus(data: Path, *, without: Iterable[str] = (), seed: int = 2) -> Corpus:
    """What the large reader is taught in a second pass: quotes that name their field or another,
    more relations and their short quotes, and questions of the first pass.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    left_out = set(without)
    questions: list[ReadingQuestion] = []
    for name, share in LABELLED.items():
        if name in left_out:
            continue
        own = _english(data, name, rng)
        quotes = list(label_quotes(own[:QUESTIONS_A_FILE], share, seed))
        rng.shuffle(quotes)
        questions += quotes[:QUOTES_A_FILE]
    annotated = list(read_rows(data / "triples/redocred.jsonl.gz"))
    relations = list(relation_questions(annotated, seed - 1))
    relations = rng.sample(relations, min(len(relations), 3_000))
    documents = questions_of_documents(data, 1_500, rng)
    questions += label_quotes(documents, 1.0, seed)
    questions += [*relations, *cut_quotes(relations, 1.0, seed - 1)]
    first = large_corpus(data, without=left_out).questions
    questions += rng.sample(first, min(len(first), AGAIN))
    rng.shuffle(questions)
    return Corpus(questions[:SECOND_PASS], (*LABELLED, "redocred", "documents"))


def _english(data: Path, name: str, rng: random.Random) -> list[ReadingQuestion]:
    """The English questions of a slots file, in random order."""
    own = [question for question in slot_file(data, name) if question.language == "en"]
    rng.shuffle(own)
    return own


def taught(own: list[ReadingQuestion], seed: int) -> list[ReadingQuestion]:
    """``own`` with the short quotes, forms, denials and claims that are made of them."""
    pool = SlotPool.of(own)
    made = list(generated(own, GENERATED, seed))
    cut = [*cut_quotes(own, CUT, seed), *cut_quotes(made, CUT_GENERATED, seed)]
    return [
        *own,
        *made,
        *cut,
        *foreign_questions(own, FOREIGN, seed),
        *value_claims(own, pool, VALUE_CLAIMS, seed),
        *value_claims(cut, pool, VALUE_CLAIMS, seed + 1),
        *altered_sentences(own, pool, ALTERED, seed),
    ]
