"""Words as texts are compared by them: lower case, no punctuation, no stop words, stemmed.

The preprocessing of RAGulator, appendix A, for response and context alike.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from .function_words import FUNCTION_WORDS

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3041-\u30ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
"""Characters of scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, Chinese and
Japanese. Each counts as a word: a sentence without blanks would be one word that nothing has."""
WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+(?:[.,]\d+)*")
_STEMMER = snowballstemmer.stemmer("english")


class PlacedWord(NamedTuple):
    """A word's place in its text in code points, and its stem."""

    start: int
    end: int
    stem: str


def placed_words(text: str) -> list[PlacedWord]:
    """The words of ``text`` in order, stop words left out.

    Figures stay whole ("1,800.5" is one word). A text of nothing but stop words keeps them: "It is"
    has to be comparable with something.
    """
    words = [(found.start(), found.end(), found[0].casefold()) for found in WORD.finditer(text)]
    kept = [word for word in words if word[2] not in FUNCTION_WORDS] or words
    return [PlacedWord(start, end, _stem(word)) for start, end, word in kept]


def content_words(text: str) -> list[str]:
    """The stems of `placed_words`."""
    return [word.stem for word in placed_words(text)]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stem: str = _STEMMER.stemWord(word)
    return stem
