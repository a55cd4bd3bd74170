"""The labelled pairs that the stack is fitted on: what the reader that judges them never read."""

import random
from collections import defaultdict
from pathlib import Path

from recipes.corruption.corruptors import labelled_pairs
from recipes.data_sets import answer_rows, held_documents, nli_pairs
from recipes.invented import synthetic_documents
from recipes.invented.claims import altered_sentences
from recipes.invented.document_questions import GENERATED
from recipes.invented.generators import SlotPool, generated
from recipes.reading_corpus import Corpus, slot_file, slots_path
from recipes.short_quotes import cut_quotes
from research.corpora import PERMISSIVE_NLI
from safepassage.passages.index import PassageIndex
from safepassage.passages.pleasantries import claims_nothing
from safepassage.passages.sentence_splitting import sentences
from safepassage.schemas import CLAIM_TYPE, hypothesis
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.scorer import Pair
from safepassage.scoring_worker.training.corpora import read_rows

CLAIMS = 220
"""Rows of each NLI collection."""
LONGEST_PREMISE = 600
DOCUMENT_PAIRS = 600
"""Pairs of each kind of document."""
ALTERED_SHARE = 0.3


def slot_pairs(data: Path, name: str, rows: int, seed: int = 0) -> list[LabelledPair]:
    """About ``rows`` rows of a slots file, all of a passage and slot together.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    together: dict[tuple[str, str], list[LabelledPair]] = defaultdict(list)
    for row in read_rows(slots_path(data, name)):
        together[row["premise"], str(row["slot"])].append(
            LabelledPair(
                row["premise"],
                row["type"],
                row["value"],
                1 if row["label"] else 0,
                row["kind"],
                row["group"],
            )
        )
    keys = sorted(together)
    random.Random(seed).shuffle(keys)
    chosen: list[LabelledPair] = []
    for key in keys:
        if len(chosen) >= rows:
            break
        chosen += together[key]
    return chosen


def generated_pairs(data: Path, name: str, rows: int, seed: int = 0) -> list[LabelledPair]:
    """About ``rows`` values of what the generators make of a slots file: denials, forms, …, and
    half as many claims: sentences of its passages, some with a value exchanged.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    own = slot_file(data, name)
    random.Random(seed).shuffle(own)
    chosen: list[LabelledPair] = []
    for question in generated(own, GENERATED, seed):
        if len(chosen) >= rows:
            break
        for places, right in ((question.answers, True), (question.wrong, False)):
            for start, end in places:
                chosen.append(
                    LabelledPair(
                        question.passage,
                        question.asked[0],
                        question.passage[start:end],
                        1 if right else 0,
                        "generated",
                        question.group,
                    )
                )
    altered = list(altered_sentences(own[: 6 * rows], SlotPool.of(own), ALTERED_SHARE, seed))
    return chosen + [
        LabelledPair(q.passage, CLAIM_TYPE, q.asked[0], 1 if q.supported else 0, "altered", q.group)
        for q in altered[: rows // 2]
    ]


def cut_pairs(data: Path, name: str, rows: int, seed: int = 0) -> list[LabelledPair]:
    """About ``rows`` values of short quotes of a slots file's passages, as LLMs quote them.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    rng = random.Random(seed)
    own = slot_file(data, name)
    rng.shuffle(own)
    chosen: list[LabelledPair] = []
    for question in cut_quotes(own, 1.0, seed):
        if len(chosen) >= rows:
            break
        places, right = (question.answers, True) if question.answers else (question.wrong, False)
        start, end = rng.choice(places)
        chosen.append(
            LabelledPair(
                question.passage,
                rng.choice(question.asked),
                question.passage[start:end],
                1 if right else 0,
                "cut",
                question.group,
            )
        )
    return chosen


def unread_claims(data: Path, corpus: Corpus, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """By collection, NLI rows that taught nothing to the reader trained on ``corpus``; the
    development rows are left to measure on.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    read = {(question.passage, question.asked[0]) for question in corpus.questions}
    unread: dict[str, list[LabelledPair]] = defaultdict(list)
    for name in sorted(PERMISSIVE_NLI):
        for pair in nli_pairs(read_rows(data / "nli/train.jsonl.gz"), frozenset({name})):
            short = len(pair.premise) < LONGEST_PREMISE
            if short and (pair.premise, pair.value) not in read:
                unread[name].append(pair)
    rng = random.Random(seed)
    return {name: rng.sample(own, min(CLAIMS, len(own))) for name, own in unread.items()}


def answer_pairs(data: Path, name: str, answers: int, seed: int = 0) -> list[LabelledPair]:
    """The claims of about ``answers`` answers of a groundedness file as the pipeline grounds them;
    none that teaches.

    The label is the answer's, whose id is the group: of a bad one no claim by itself need be wrong.
    Claims of which nothing retrieved speaks are left out: no scorer is asked about them.

    Raises:
        CorpusError: the file is missing or unreadable.
    """
    rows = answer_rows(data, name)
    chosen = random.Random(seed).sample(rows, min(answers, len(rows)))
    pairs = []
    for row in chosen:
        context = row["context"]
        passages = PassageIndex(context if isinstance(context, str) else "\n\n".join(context))
        text = row.get("claim") or row["response"]
        places = [(0, len(text))] if row.get("claim") else sentences(text)
        for start, end in places:
            claim = text[start:end]
            found = passages.retrieve(claim)
            if found.found and not claims_nothing(claim):
                said = hypothesis(CLAIM_TYPE, claim)
                pair = Pair.at(found, hypothesis=said, entity_type=CLAIM_TYPE, value=claim)
                pairs.append(
                    LabelledPair(
                        pair.premise,
                        CLAIM_TYPE,
                        claim,
                        1 if row["label"] else 0,
                        "answer",
                        f"{name}:{row['id']}",
                        around=pair,
                    )
                )
    return pairs


def document_pairs(data: Path, seed: int = 0) -> dict[str, list[LabelledPair]]:
    """Facts and corrupted facts of documents that trained nothing, and of invented ones.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    pairs: dict[str, list[LabelledPair]] = {}
    invented = list(labelled_pairs(synthetic_documents(120, seed + 77), seed))
    for name, own in {**held_documents(data, seed), "invented": invented}.items():
        pairs[name] = rng.sample(own, min(DOCUMENT_PAIRS, len(own)))
    return pairs
