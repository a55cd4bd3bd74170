"""What teaches the small reader more languages: questions, entities, claims, and a rehearsal.

Of every language a source is left out (`LEFT_OUT`), on which it is measured; a language whose
figures are not those of the languages read before stays uncovered.
"""

import random
from pathlib import Path

from safepassage.scoring_worker.laboratory.training.corpora import read_rows

from .claim_sets import judged_claims
from .claims import nli_claims, value_claims
from .corpora import Corpus, slot_file, training_corpus
from .cut_quotes import cut_quotes, foreign_questions
from .generators import SlotPool

QUESTIONS = {
    "drcd": 2_000,
    "xquad_zh": 900,
    "jaquad": 2_200,
    "stockmark_ner": 1_000,
    "tydiqa_ko": 1_800,
    "xquad_ar": 900,
    "tydiqa_ar": 800,
    "xquad_hi": 1_500,
    "europeana_fr": 700,
    "uner_pt": 700,
    "norquad": 600,
    "xsid": 2_200,
    "recognizers": 1_500,
    "pquad": 500,
    "heq": 400,
    "tydiqa_id": 300,
    "tydiqa_fi": 400,
}
"""Questions of every slots file at the most."""
LEFT_OUT = {
    "cmrc2018": "zh",
    "uner_zh": "zh",
    "jsquad": "ja",
    "ja_gsd_ne": "ja",
    "klue_ner": "ko",
    "arcd": "ar",
    "hiner": "hi",
    "piaf": "fr",
    "squad_it": "it",
    "faquad": "pt",
    "europeana_nl": "nl",
    "uner_sv": "sv",
}
"""The language of every source that teaches nothing."""
CLAIMS = {"jnli": 700, "janli": 400, "klue_nli": 900, "farstail": 500}
"""Rows of every set of claims in other languages than English at the most."""
CUT, FOREIGN, VALUE_CLAIMS = 0.4, 0.1, 0.12
REHEARSAL, JUDGED = 0.075, 0.15
"""Shares of what the reader was taught before, and of the sets of judged English claims."""


def languages_corpus(data: Path, seed: int = 3) -> Corpus:
    """Everything that is taught in this pass.

    Raises:
        CorpusError: a file is missing or unreadable.
    """
    rng = random.Random(seed)
    questions = []
    for name, most in QUESTIONS.items():
        every = slot_file(data, name)
        own = rng.sample(every, min(most, len(every)))
        pool = SlotPool.of(own)
        questions += [
            *own,
            *cut_quotes(own, CUT, seed),
            *foreign_questions(own, FOREIGN, seed),
            *value_claims(own, pool, VALUE_CLAIMS, seed),
        ]
    for name, most in CLAIMS.items():
        rows = list(read_rows(data / f"claims/{name}.jsonl.gz"))
        made = list(nli_claims(rows, frozenset({row["source"] for row in rows})))
        questions += rng.sample(made, min(most, len(made)))
    questions += judged_claims(data, JUDGED, seed)
    rehearsal = training_corpus(data, share=REHEARSAL, seed=seed)
    questions += rehearsal.questions
    rng.shuffle(questions)
    return Corpus(questions, (*QUESTIONS, *CLAIMS, *rehearsal.sources))
