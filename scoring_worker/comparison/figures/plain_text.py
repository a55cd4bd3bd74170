"""Text in which every digit is ASCII and every blank, dash and apostrophe one of a few."""

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..contract import Place

NO_BREAK = "\u00a0"
"""Represents every blank that is not the space bar's: within a number it groups digits."""
_SHAPES: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Other shapes of a sign, by the one that represents them."""
_BLANKS = "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_LAST_DIGITS = 0x20000
"""Behind the planes with scripts there are no digits, but a million code points to ask."""
_BLANKED = f"\t\r\n{NO_BREAK}"
_ANY_BLANK = dict.fromkeys(map(ord, _BLANKED), " ")
_UNSEEN = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066"
    "\u2067\u2068\u2069\ufeff"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """``text`` folded, ``lowered`` of the same length with every blank the space bar's, and where
    its characters came from (None: none of them moved)."""

    text: str
    lowered: str
    offsets: tuple[int, ...] | None

    def place(self, start: int, end: int) -> Place:
        """Where ``text[start:end]`` was before it was folded."""
        if self.offsets is None:
            return Place(start, end)
        return Place(self.offsets[start], self.offsets[end - 1] + 1)


def fold(text: str) -> Folded:
    """``text`` without the marks that nobody sees, all else one to one."""
    if text.isascii():
        return Folded(text, _lower(text), None)
    folded = text.translate(_table())
    if len(folded) == len(text):
        return Folded(folded, _lower(folded), None)
    kept = tuple(at for at, char in enumerate(text) if char not in _UNSEEN)
    return Folded(folded, _lower(folded), kept)


def is_unspaced(char: str) -> bool:
    """Whether ``char`` is of a script that leaves no blank between words (Thai, Lao, Burmese,
    Khmer, Chinese, Japanese) or puts its particles against them (Korean)."""
    return "\u0e00" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff" or char >= "\u2e80"


def _lower(text: str) -> str:
    blanked = text.translate(_ANY_BLANK) if any(map(text.__contains__, _BLANKED)) else text
    lowered = blanked.lower()
    if len(lowered) == len(text):
        return lowered
    # A capital I with a dot becomes two characters.
    return "".join(low if len(low := char.lower()) == 1 else char for char in blanked)


@cache
def _table() -> dict[int, str | None]:
    digits = re.findall(r"\d", "".join(map(chr, range(128, _LAST_DIGITS))))
    table: dict[int, str | None] = {ord(one): str(unicodedata.decimal(one)) for one in digits}
    for char, shapes in _SHAPES.items():
        table.update(dict.fromkeys(map(ord, shapes), char))
    table.update(dict.fromkeys(map(ord, _BLANKS), NO_BREAK))
    table.update(dict.fromkeys(map(ord, _UNSEEN), None))
    return table
