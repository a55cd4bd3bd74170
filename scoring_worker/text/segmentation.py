"""The words of a text in any script, at their places in the text as it was given.

A word is a run of letters, digits and marks. Scripts without blanks are cut into characters, each
with its marks; katakana is in runs, as readers see it. Each word is folded by itself, so that
no place has to be traced back through a normalised text.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import regex

from .folding import LONGEST_WORD, Keys, keys_of, keys_of_short

LONGEST_TEXT = 100_000
"""Code points of a text that are read; the words behind them count as not there."""
_KEPT = 4_096
"""Of texts up to this length many are kept, of longer ones a few: several comparators read the
same quote, and several parts of a value."""

_NO_BLANKS = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Tham}\p{Tai_Viet}"
_KATAKANA = r"\p{Katakana}ーｰﾞﾟ"
_HIDDEN = (
    r"\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
)
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_NO_BLANKS}{_KATAKANA}]]"
_IN_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}{_HIDDEN}]--[{_NO_BLANKS}{_KATAKANA}]]"
_SIGNS = r"[\p{Sc}+±=×÷≤≥≠%‰&@#°§]"
# C++, C#, A+ and A- are words of their own; "A-" only where nothing follows the dash.
_GRADE = r"(?:(?<![\w.])[A-Za-z](?:\+{1,2}|#|[-−](?=[\s.,;:)\]]|\Z))(?!\w))"
_WORD = regex.compile(
    rf"{_GRADE}"
    rf"|[{_NO_BLANKS}][[\p{{M}}{_HIDDEN}]--[{_KATAKANA}]]*+"
    rf"|[{_KATAKANA}](?:[{_KATAKANA}\p{{M}}{_HIDDEN}])*+"
    rf"|{_LETTER}{_IN_WORD}*+(?:(?<=\p{{Nd}})[.,]\p{{Nd}}{_IN_WORD}*+)*+"
    rf"|{_SIGNS}",
    regex.V1,
)
_LATIN = re.compile(r"[\x00-\xac\xae-\u024f–—‘’“”„…€]*")
_GRADED = re.compile(r"[+#]|-[\s.,;:)\]]|-\Z")
_UNGRADED = r"[^\W_]+(?:(?<=\d)[.,]\d[^\W_]*)*|[$¢£¤¥€+±=×÷%&@#°§]"
_LATIN_WORD = re.compile(
    rf"(?<![\w.])[A-Za-z](?:\+{{1,2}}|#|-(?=[\s.,;:)\]]|\Z))(?!\w)|{_UNGRADED}"
)
"""`_WORD` for texts in Latin letters and common marks, by the faster library: most texts are."""
_PLAIN_WORD = re.compile(_UNGRADED)
"""`_LATIN_WORD` where no sign of a grade is: trying for one at every word doubles the work."""
_SOLID = regex.compile(rf"[{_NO_BLANKS}{_KATAKANA}\p{{Hangul}}]")
# Between the parts of one word: a hyphen (also at the end of a line), an apostrophe, a point
# inside an abbreviation, a slash.
_JOINT = regex.compile(r"[\p{Pd}\u00ad]\s*|['’‘ʼ`´.·・/_]|[.]\s?|")


class Word(NamedTuple):
    """A word at ``start`` to ``end`` (exclusive) of ``text``; the word before it ends at
    ``before``, -1 where it is missing."""

    keys: Keys
    start: int
    end: int
    text: str
    before: int

    @property
    def loose(self) -> bool:
        """Whether it may be written in one with the word before it (``e-mail``, ``5 mg``, and
        anywhere in scripts without blanks). Asked of few words, and not kept."""
        return self.before >= 0 and _loose(self.text, self.before, self.start)


def words_of(text: str) -> tuple[Word, ...]:
    """The words of ``text``, in order. Linear; never raises."""
    return _words_kept(text) if len(text) <= _KEPT else _long_words_kept(text[:LONGEST_TEXT])


def _words(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    before = -1
    for match in _pattern_for(text).finditer(text):
        start, end = match.span()
        keys = keys_of_short(match[0]) if end - start <= LONGEST_WORD else keys_of(match[0])
        if keys[0]:
            found.append(_made(Word, (keys, start, end, text, before)))
            before = end
    return tuple(found)


_words_kept, _long_words_kept = lru_cache(maxsize=512)(_words), lru_cache(maxsize=4)(_words)
_made = tuple.__new__
"""Makes a tuple with names in half the time of calling its class: a passage has many words."""


def _pattern_for(text: str) -> re.Pattern[str] | regex.Pattern[str]:
    if not (text.isascii() or _LATIN.fullmatch(text)):
        return _WORD
    return _LATIN_WORD if _GRADED.search(text) else _PLAIN_WORD


def _loose(text: str, end: int, start: int) -> bool:
    """Whether the words on both sides of ``text[end:start]`` may be written in one."""
    if start == end:
        return True
    if start - end > 8:
        return False
    before, after = text[end - 1], text[start]
    gap = text[end:start]
    if gap.isspace():
        if before.isascii() and after.isascii():
            return before.isdigit() != after.isdigit()
        solid = _SOLID.match(before) and _SOLID.match(after)
        return bool(solid) or before.isdecimal() != after.isdecimal()
    return _JOINT.fullmatch(gap) is not None
