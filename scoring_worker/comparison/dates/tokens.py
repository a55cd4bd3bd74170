"""Numbers, words and signs of a text, with their code points; and words without case and accents.

A word is a run of anything but blanks, digits and punctuation: the letters of an Indic script are
interrupted by vowel signs that ``\\w`` does not know.
"""

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from safepassage.scoring_worker.text.closed_classes import sections_of

UNSEEN = "\u200b\u200e\u200f\u061c\u2060\u2066-\u2069\u202a-\u202e\ufeff"
"""Characters without width, among them the marks that keep Arabic digits in order."""
_SIGNS = (
    r"!-/:-@\[-`{-~\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7"
    r"\u0589\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0970"
    r"\u0e2f\u0e46\u104a\u104b\u2000-\u200b\u200e-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_TOKEN = re.compile(rf"(\d+)|((?:[^\s\d{_SIGNS}]|\u00ad)+)|([^\s{UNSEEN}])")
_LONGEST_NUMBER = 8  # digits; a date's compact form
_DROPPED = frozenset("\u00ad\u200c\u200d")


class Token(NamedTuple):
    """``number`` is None unless the token is a number of at most eight digits."""

    kind: Literal["number", "word", "sign"]
    start: int
    end: int
    text: str  # a word is folded
    number: int | None = None

    @property
    def width(self) -> int:
        """How many code points."""
        return self.end - self.start


def tokens(text: str) -> list[Token]:
    """Every token of ``text``, in order."""
    return [_token(match) for match in _TOKEN.finditer(text)]


def _token(match: re.Match[str]) -> Token:
    start, end = match.span()
    if match.lastindex == 2:
        return _made(Token, ("word", start, end, fold(match[0]), None))
    if match.lastindex == 3:
        return _made(Token, ("sign", start, end, match[0], None))
    number = int(match[0]) if end - start <= _LONGEST_NUMBER else None
    return _made(Token, ("number", start, end, match[0], number))


_made = tuple.__new__
"""Makes a tuple with names in half the time of calling its class: a passage has many tokens."""


def fold(word: str) -> str:
    """``word`` without case and accents. Vowel signs of other scripts stay: without them June and
    January are one word in Hindi."""
    return word.casefold() if word.isascii() else _fold(word)


@lru_cache(maxsize=8192)
def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word).casefold()
    kept = (c for c in decomposed if not _is_accent(c) and c not in _DROPPED)
    return "".join(kept).replace("ı", "i").replace("ς", "σ")


def _is_accent(char: str) -> bool:
    return (
        "\u0300" <= char <= "\u036f"  # Latin, Greek, Cyrillic
        or "\u0591" <= char <= "\u05c7"  # points of Hebrew
        or "\u064b" <= char <= "\u0652"  # vowels of Arabic
        or char == "\u0640"
    )


@cache
def _sections() -> dict[str, list[str]]:
    return sections_of(Path(__file__).with_name("words.txt"))


def words_in(section: str) -> frozenset[str]:
    """The words of a section of ``words.txt``, folded."""
    return frozenset(map(fold, _sections()[section]))


def pattern_of(section: str) -> str:
    """The patterns of a section of ``words.txt`` as alternatives."""
    return "|".join(_sections()[section])
