"""Places, and the ways to write them (places.txt)."""

import re
from functools import cache
from pathlib import Path

from safepassage.scoring_worker.text.closed_classes import lines_of


@cache
def place_rows() -> tuple[tuple[str, ...], ...]:
    """The ways to write each place of the lexicon, the plain name first."""
    lines = lines_of(Path(__file__).with_name("places.txt"))
    return tuple(tuple(line.split(" | ")) for line in lines)


@cache
def _place_variants() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of all longer names, and the plain one of each; "british columbia" is its own,
    so that its second word is not taken for another spelling of Colombia."""
    plain = {v: row[0] for row in place_rows() for v in row if len(v) > 2}
    longest_first = sorted(plain, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w'-])(?:{alternatives})(?![\w'-])"), plain


@cache
def _short_places() -> dict[str, str]:
    """Two-letter forms, which count only behind a comma or a bracket, or alone."""
    return {v: row[0] for row in place_rows() for v in row[1:] if len(v) == 2}


_SHORT_FORM = re.compile(
    r"(?:(?<=, )|(?<=,)|(?<=\())([a-z]{2})(?=\W|$)|^[a-z]{2}$|\buk\b|(?<=\bthe )us\b|"
    r"\bus(?= (?:department|government|visa|citizen|embassy|immigration|border|state|federal))"
)
"""Where two letters are a place: not the "us" of "told us"."""


def plain_places(folded: str) -> str:
    """Every place under its plain name, so that "Vancouver, BC" and "B.C." agree."""
    pattern, plain = _place_variants()
    folded = _SHORT_FORM.sub(lambda match: _short_places().get(match[0], match[0]), folded)
    return pattern.sub(lambda match: plain[match[0]], folded)


@cache
def known_places() -> frozenset[str]:
    """Plain names and variants of places, folded."""
    return frozenset(name for row in place_rows() for name in row)
