"""Names by which decisions call the same place or body: "U.S.", "RPD"."""

import re
from pathlib import Path

from safepassage.scoring_worker.packs.folding import fold
from safepassage.scoring_worker.text.closed_classes import lines_of

from .places import PLACES

_SHORT = 5
"""Letters up to which a name is one only in capitals: "us" is a word."""
_CERTAIN = frozenset({"us", "uk", "un", "eu"})
MAX_VALUE = 200


def synonyms_in(value: str, quote: str) -> tuple[str, ...]:
    """Other names of the place or body ``value`` that are in ``quote``, as it writes them."""
    if len(value) > MAX_VALUE:
        return ()
    patterns = _PATTERNS.get(_bare(value), ())
    return tuple(dict.fromkeys(found[0] for p in patterns if (found := p.search(quote))))


def _bare(name: str) -> str:
    return fold(name).removeprefix("the ").strip()


def _patterns() -> dict[str, tuple[re.Pattern[str], ...]]:
    rows = [line.split(" | ") for line in lines_of(Path(__file__).with_name("bodies.txt"))]
    found: dict[str, list[str]] = {}
    for row in (*rows, *PLACES):
        for name in row:
            others = (other for other in row if other != name)
            # Other names of two letters are words as well, in capitals or not: "ON", "DE", "IN".
            named = (one for one in others if len(one) != 2 or one.lower() in _CERTAIN)
            found.setdefault(_bare(name), []).extend(named)
    return {name: tuple(map(_pattern, dict.fromkeys(others))) for name, others in found.items()}


def _pattern(name: str) -> re.Pattern[str]:
    letters = re.sub(r"[^\w]", "", name)
    if len(letters) > _SHORT:
        return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    # An acronym with or without its points: U.S., U. S., US.
    spelt = r"\.?\s?".join(map(re.escape, letters.upper()))
    return re.compile(rf"(?<![\w.]){spelt}(?!\w)")


_PATTERNS = _patterns()
