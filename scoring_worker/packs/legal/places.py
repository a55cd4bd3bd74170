"""Places, and the ways to write them (places.txt)."""

import re
from pathlib import Path

from safepassage.scoring_worker.text.closed_classes import lines_of

PLACES = [line.split(" | ") for line in lines_of(Path(__file__).with_name("places.txt"))]
"""The ways to write each place of the lexicon, folded, the plain name first."""
KNOWN_PLACES = frozenset(name for row in PLACES for name in row)
_PLAIN = {name: row[0] for row in PLACES for name in row if len(name) > 2}
"""The plain name of each longer one; "british columbia" is its own, so that its second word is not
taken for another spelling of Colombia."""
_LONG_FORM = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(map(re.escape, sorted(_PLAIN, key=len, reverse=True)))})(?![\w'-])"
)
_SHORT = {name: row[0] for row in PLACES for name in row[1:] if len(name) == 2}
"""Two-letter forms, which count only behind a comma or a bracket, or alone."""
_SHORT_FORM = re.compile(
    r"(?:(?<=, )|(?<=,)|(?<=\())([a-z]{2})(?=\W|$)|^[a-z]{2}$|\buk\b|(?<=\bthe )us\b|"
    r"\bus(?= (?:department|government|visa|citizen|embassy|immigration|border|state|federal))"
)
"""Where two letters are a place: not the "us" of "told us"."""


def plain_places(folded: str) -> str:
    """Every place under its plain name, so that "Vancouver, BC" and "B.C." agree."""
    folded = _SHORT_FORM.sub(lambda match: _SHORT.get(match[0], match[0]), folded)
    return _LONG_FORM.sub(lambda match: _PLAIN[match[0]], folded)
