"""Words as the features compare them: lower case, no punctuation, no stop words, stemmed.

The preprocessing of RAGulator, appendix A, for response and context alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

import snowballstemmer

from passages.function_words import FUNCTION_WORDS

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_STEMMER = snowballstemmer.stemmer("english")


def content_words(text: str) -> list[str]:
    """The stems of the words of ``text`` in order, stop words left out.

    Figures stay whole ("1,800.5" is one word). A text of nothing but stop words keeps them: "It is"
    has to be comparable with something.
    """
    words = _WORD.findall(text.casefold())
    kept = [word for word in words if word not in FUNCTION_WORDS] or words
    return [_stem(word) for word in kept]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stem: str = _STEMMER.stemWord(word)
    return stem
