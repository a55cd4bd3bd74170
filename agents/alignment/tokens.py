"""Widening a span to the edges of the tokens it cuts."""

from __future__ import annotations

import re

# A number, date or reference is one token: "1,250.00", "2013-06-19", "MA1-01234", "l'audience".
_TOKEN = re.compile(r"\w+(?:[.,:/'’\-–]\w+)*")
# Scripts without blanks would otherwise pull in whole sentences.
_REACH = 32


def widen_to_tokens(text: str, start: int, end: int) -> tuple[int, int]:
    """``start`` and ``end`` moved outward where they cut a token of ``text``.

    The best local alignment of "june 19, 2014" with "june 19, 2013" ends before the last
    digit: the scorer would judge "june 19, 201" and could not see that the value is wrong.
    """
    return _token_around(text, start)[0], _token_around(text, end)[1]


def _token_around(text: str, edge: int) -> tuple[int, int]:
    """The token that ``edge`` cuts, or (edge, edge) where it cuts none."""
    if not text[edge - 1 : edge].strip() or not text[edge : edge + 1].strip():
        return edge, edge  # beside a blank or at an end of the text: by far the most frequent
    first = max(0, edge - _REACH)
    for token in _TOKEN.finditer(text[first : edge + _REACH]):
        if first + token.start() < edge < first + token.end():
            return first + token.start(), first + token.end()
    return edge, edge
