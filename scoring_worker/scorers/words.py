"""Word matching, the baseline beside which every judge is: are the value's words there?"""

import re
from collections.abc import Sequence

from safepassage.schemas import Assessment, render_value, stable_id
from safepassage.scoring_worker.learnt_from import LearntFrom
from safepassage.scoring_worker.scorer import Pair

THRESHOLD = 1.0
"""Every word has to be there."""
_WORD = re.compile(r"\w+")
_VERSION = "1"


class WordMatching:
    """Scores by the share of the value's words (of a claim, of its words) that the passage has,
    in any order and case. It knows nothing of types, figures, dates or denials."""

    name = "words"

    def __init__(self) -> None:
        self.learnt_from = LearntFrom()
        self.revision = stable_id(self.name, _VERSION)[:16]

    def assess(self, pairs: Sequence[Pair]) -> list[Assessment]:
        """One assessment per pair, in order."""
        by = self.name, self.revision
        return [Assessment.scored(by, words_found(pair), THRESHOLD) for pair in pairs]

    def close(self) -> None:
        """Nothing is held open."""


def words_found(pair: Pair) -> float:
    """The share of the value's words that the passage has; 0 of a value without words."""
    value = pair.value if isinstance(pair.value, str) else render_value(pair.value)
    words = _WORD.findall(value.casefold())
    there = set(_WORD.findall(pair.premise.casefold()))
    return sum(word in there for word in words) / max(len(words), 1)
