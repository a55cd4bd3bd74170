"""What reader and words together say of a claim: a forest whose every feature works one way only.

The reader's opinion alone ranks answers of RAG systems little better than chance, and words alone
see no contradiction. A model folder may hold the forest of its own reader, `CLAIMS_FILE`; for the
others there is one beside this module. Both are made by
``python -m recipes.claim_support``.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from safepassage.scoring_worker.forest import Forest, Predictor
from safepassage.scoring_worker.manifest import ModelError

from .overlap import OVERLAP

FILE: Final = Path(__file__).with_name("claim_support.json")
CLAIMS_FILE: Final = "claims.json"
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
"""Whether P(unsupported) may only rise (1) or only fall (-1) with a feature."""
_WHOLE_SHARE = 0.75
"""How much the reading of the whole statement counts, beside that of its least founded word."""


def reading(said: Mapping[str, float]) -> dict[str, float]:
    """The reader's opinion of a claim as one number in [-1, 1], of what it says of the whole
    (``entailed``) and, where it says it, of the word that is founded least."""
    entailed = said["entailed"]
    least = said.get("founded_least", entailed)
    return {READING: _WHOLE_SHARE * entailed + (1.0 - _WHOLE_SHARE) * least}


def claim_support(features: Mapping[str, float], forest: Predictor) -> float:
    """Log-odds that a claim with these `FEATURES` is supported. Raises `KeyError` where a feature
    is missing."""
    row = np.array([features[name] for name in FEATURES])
    return -forest.log_odds(row)


def forest_of(folder: Path) -> Predictor:
    """The forest of the model in ``folder``, by default the one of this package. Raises
    `ModelError` where the file is no forest, or one of other features."""
    own = folder / CLAIMS_FILE
    return _predictor(own) if own.is_file() else packaged_forest()


def packaged_forest() -> Predictor:
    """The forest of readers that bring none."""
    return _predictor(FILE)


@lru_cache(maxsize=4)
def _predictor(path: Path) -> Predictor:
    forest = Forest.load(path)
    if forest.features != FEATURES:
        raise ModelError(f"{path}: a forest of other features than a claim has")
    return Predictor(forest)
