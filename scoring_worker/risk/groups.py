"""Groups of values that err alike: kind of value, found in words or not, language.

Where a type has too few labels of its own, its group lends it a threshold. A group is a name that
anybody can read and that the question alone decides, so that it is known before anything is read.
"""

from pydantic import JsonValue

from safepassage.schemas import render_value
from safepassage.scoring_worker.manifest import Thresholds
from safepassage.scoring_worker.scorer import Pair

NOTHING_PASSES = 1.0
"""A threshold that no score reaches: everything of the type or group goes to people."""
BELOW = 1e-6
"""By how much a score is at least below a threshold that it may not reach."""


def kind_of(value: JsonValue) -> str:
    """The kind of a value by its form: parts, truth, figures or words."""
    if isinstance(value, dict | list):
        return "parts"
    if value is None or isinstance(value, bool):
        return "truth"
    digits = any(sign.isdigit() for sign in str(value))
    return "figures" if digits else "words"


def group_of(pair: Pair) -> str:
    """The group of a question, such as "figures, not in words, en"."""
    value = render_value(pair.value).casefold()
    found = bool(value) and value in pair.premise.casefold()
    language = pair.language or "any language"
    return f"{kind_of(pair.value)}, {'in words' if found else 'not in words'}, {language}"


def below(score: float, threshold: float) -> float:
    """``score``, under a threshold that nothing passes."""
    return min(score, NOTHING_PASSES - BELOW) if threshold >= NOTHING_PASSES else score


def threshold_of(thresholds: Thresholds, pair: Pair) -> float:
    """The threshold for ``pair``: its type's, else its group's, else the default."""
    return thresholds.of(pair.entity_type, group_of(pair) if thresholds.by_group else "")
