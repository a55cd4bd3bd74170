"""What a claim has in common with its passage and with all that was retrieved, in words.

A reader judges short statements on short passages well, and long sentences of answers badly: what
an answer adds is a word or two among many that are right. Whether those are anywhere in what was
retrieved is a question of words (RAGulator, section 2.4).
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from safepassage.passages.words import PlacedWord, content_words, placed_words

OVERLAP: Final = (
    "token_precision",
    "absent_words",
    "absent_figures",
    "unigram_surprise",
    "bigram_surprise",
)
DECIMALS = 4
"""Features are rounded: digits below would only differ between machines."""

Gram = TypeVar("Gram", bound=Hashable)


def overlap(
    claim: str, passage: str, absent: Sequence[tuple[int, int]] | None = None
) -> dict[str, float]:
    """The features `OVERLAP` by name.

    Args:
        absent: places in ``claim`` whose words are nowhere in what was retrieved; None where
            nobody looked, and then they are those that ``passage`` lacks.

    ``token_precision`` in [0, 1] is the share of the claim's different words that are not absent;
    ``absent_words`` and ``absent_figures`` count the different ones that are. The surprises, in
    nats, are of the claim's words, and pairs of neighbours, under the counts of the passage.
    """
    said = placed_words(claim)
    theirs = content_words(passage)
    known = Counter(theirs)
    stems = [word.stem for word in said]
    missing = _missing(said, known, absent)
    distinct = len(set(stems))
    pairs = list(pairwise(stems))
    unigram = mean_surprise(stems, known)
    found = {
        "token_precision": 1.0 - len(missing) / distinct if distinct else 0.0,
        "absent_words": float(len(missing)),
        "absent_figures": float(sum(stem[0].isdigit() for stem in missing)),
        "unigram_surprise": unigram,
        "bigram_surprise": mean_surprise(pairs, Counter(pairwise(theirs))) if pairs else unigram,
    }
    return {name: round(value, DECIMALS) for name, value in found.items()}


def _missing(
    said: Sequence[PlacedWord], known: Counter[str], absent: Sequence[tuple[int, int]] | None
) -> set[str]:
    if absent is None:
        return {word.stem for word in said if word.stem not in known}
    places = set(absent)
    return {word.stem for word in said if (word.start, word.end) in places}


def mean_surprise(said: Sequence[Gram], counted: Counter[Gram]) -> float:
    """The mean negative log-probability of n-grams under ``counted``, add-one smoothed.

    RAGulator's perplexity: the sum of negative log-likelihoods by the number of n-grams. In nats;
    0 where nothing is said.
    """
    total = counted.total() + len(counted) + 1
    surprises = [-math.log((counted[gram] + 1) / total) for gram in said]
    return sum(surprises) / len(surprises) if surprises else 0.0
