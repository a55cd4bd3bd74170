"""What a second judge is asked about first: doubts of a value that the first would let pass.

Measured on the natural errors of `benchmarks.general`, which are a development set (its figures are
in docs/how-to/choose-a-scorer.md): of what `default` lets pass, .62 is wrong where a check has a
doubt about the value's words and .29 elsewhere; .37 where the quote has more figures or names than
the value, and .24 elsewhere. A label in front of the value, or a word of denial in its clause, told
no more than these.
"""

import re
from typing import Final

from safepassage.schemas import Assessment, render_value
from safepassage.scoring_worker.scorer import Pair

ORDER_VERSION: Final = "1"
"""Part of a cascade's revision: another order decides otherwise."""
OF_WORDS: Final = 0.2
OF_OTHERS: Final = 0.1
_NOTATION: Final = frozenset(
    {"accents_differ", "acronym_possible", "acronym_spelt", "check_digit", "name_initial"}
    | {"name_order", "name_transliterated", "phone_prefix", "spacing_differs"}
)
"""Doubts about how a value is written, and not about which one it is."""
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_NAME: Final = re.compile(r"\b[^\W\d_a-z][^\W\d_]+")


def doubt_of(pair: Pair, assessment: Assessment) -> float:
    """How much nearer to its threshold a passing score should be held than it is; 0 to .3."""
    of_words = any(
        not finding.contradicts and finding.code not in _NOTATION for finding in assessment.findings
    )
    return OF_WORDS * of_words + OF_OTHERS * _has_others(pair)


def _has_others(pair: Pair) -> bool:
    """Whether the quote has two more figures, or names, than the value."""
    value = pair.value if isinstance(pair.value, str) else render_value(pair.value)
    kind = _FIGURE if _FIGURE.search(value) else _NAME
    return sum(found.strip(".,") not in value for found in set(kind.findall(pair.premise))) >= 2
