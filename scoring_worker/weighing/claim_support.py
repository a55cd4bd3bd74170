"""What reader and words together say of a claim: a forest whose every feature works one way only.

The reader's opinion alone ranks answers of RAG systems little better than chance, and words alone
see no contradiction. The forest is JSON beside this file, made by
``python -m safepassage.scoring_worker.laboratory.training.claim_support``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from safepassage.scoring_worker.forest import Forest, Predictor

from .overlap import OVERLAP

FILE: Final = Path(__file__).with_name("claim_support.json")
READING: Final = "reading"
FEATURES: Final = (READING, *OVERLAP)
RISING: Final = {
    READING: -1,
    "token_precision": -1,
    "absent_words": 1,
    "absent_figures": 1,
    "unigram_surprise": 1,
    "bigram_surprise": 1,
}
"""Whether P(not borne out) may only rise (1) or only fall (-1) with a feature."""
_WHOLE_SHARE = 0.75
"""How much the reading of the whole statement counts, beside that of its least founded word."""


def reading(said: Mapping[str, float]) -> dict[str, float]:
    """The reader's opinion of a claim as one number in [-1, 1], of what it says of the whole
    (``entailed``) and, where it says it, of the word that is founded least."""
    entailed = said["entailed"]
    least = said.get("founded_least", entailed)
    return {READING: _WHOLE_SHARE * entailed + (1.0 - _WHOLE_SHARE) * least}


def borne_out(features: Mapping[str, float]) -> float:
    """Log-odds that a claim with these `FEATURES` is borne out.

    Raises:
        KeyError: a feature is missing.
        ModelError: the file of the forest is missing or no forest.
    """
    row = np.array([features[name] for name in FEATURES])
    return -_predictor().log_odds(row)


@lru_cache(maxsize=1)
def _predictor() -> Predictor:
    return Predictor(Forest.load(FILE))
