"""What is beside a number and bounds it: "more than 5", "5 or less", "≥ 5", "about 5"."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from ..languages import sections_by_language
from .figure import Bound

_SIGNS: Mapping[str, Bound] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_WORDS = sections_by_language("bound")
"""By language: ``before more_than`` is what begins such a bound, ``after at_least`` what ends one,
``not`` what turns it."""
_REACH = 28


def _said(place: str) -> dict[str, Bound]:
    bounds = get_args(Bound)
    return {
        word: bound
        for own in _WORDS.values()
        for bound in bounds
        for word in own.get(f"{place} {bound}", ())
    }


_BEFORE, _AFTER = _said("before"), _said("after")
_LAST = {word.split()[-1] for word in _BEFORE}
_LAST_LETTERS = frozenset(word[-1] for word in _LAST)
_TAIL = re.compile(r"[^\s()\[\]:;,]+")
_BEGINS = re.compile(
    rf"(?:{'|'.join(map(re.escape, sorted(_AFTER, key=len, reverse=True)))})(?![^\s()\[\]:;,])"
)
_NOT = frozenset(word for own in _WORDS.values() for word in own.get("not", ()))
_TURNED: dict[Bound, Bound] = {
    "more_than": "at_most",
    "less_than": "at_least",
    "at_least": "less_than",
    "at_most": "more_than",
}
CLAIMED = frozenset(_WORDS)
"""Where a number without one of these words is known to be unbounded."""


def bound_before(lowered: str, at: int) -> tuple[Bound, int]:
    """The bound whose word or sign ends before ``at``, and where it starts; "none" and ``at``."""
    end = at
    while end > 0 and at - end < 2 and lowered[end - 1] == " ":
        end -= 1
    for length in (2, 1):
        sign = lowered[max(0, end - length) : end]
        if sign in _SIGNS:
            return _SIGNS[sign], end - len(sign)
    if end == 0 or not (lowered[end - 1] in _LAST_LETTERS or lowered[end - 1].isspace()):
        return "none", at
    start = max(0, end - _REACH)
    words = [(match.start(), match[0]) for match in _TAIL.finditer(lowered, start, end)]
    if not words or words[-1][1] not in _LAST:
        return "none", at
    spelt = ""
    found: tuple[Bound, int] = ("none", at)
    for begin in range(len(words) - 1, max(-1, len(words) - 5), -1):
        spelt = f"{words[begin][1]} {spelt}".strip()
        if spelt in _BEFORE and lowered[words[begin][0] : end].split() == spelt.split():
            found = _BEFORE[spelt], words[begin][0]
    bound, start = found
    before = _TAIL.findall(lowered, max(0, start - 8), start) if bound in _TURNED else []
    return (_TURNED[bound], start) if before and before[-1] in _NOT else found


def bound_after(lowered: str, at: int) -> tuple[Bound, int]:
    """The bound whose words start after ``at``, and where they end; "none" and ``at``."""
    if at < len(lowered) and lowered[at] == "+" and not lowered[at + 1 : at + 2].isalnum():
        return "at_least", at + 1
    start = at + 1 if lowered[at : at + 1] == " " else at
    match = _BEGINS.match(lowered, start, start + _REACH)
    return (_AFTER[match[0]], match.end()) if match else ("none", at)
