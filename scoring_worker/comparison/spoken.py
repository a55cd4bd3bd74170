"""The language of a passage, where its document did not say."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .contract import Passage
from .denials.languages import languages, voters
from .denials.tokens import small_words
from .language import language_of

_READ = 600
_SURE_WORDS, _SURE_SHARE = 2, 0.12
"""Small words of one language alone, and of no other that is read, that decide it: so many, and
such a share of all words, or else a stray "mai" makes Italian of Romanian."""
_FEW_WORDS = 8


def with_language(passage: Passage) -> Passage:
    """``passage`` with its language, where small words or the identifier of languages know it."""
    if passage.language is not None:
        return passage
    text = f"{passage.before[-_READ:]} {passage.quote[:_READ]} {passage.after[:_READ]}"
    return replace(passage, language=_spoken(text))


@lru_cache(maxsize=1024)
def _spoken(text: str) -> str | None:
    own: dict[str, int] = {}
    words = small_words(text)
    for word in words:
        codes = voters().get(word, ())
        for code in codes:
            if len(codes) == 1:
                own[code] = own.get(code, 0) + 1
    best = _alone(own)
    if best is not None and _is_clear(own, best, len(words)):
        return best
    found, _ = language_of(text)
    if best is not None and found not in languages() and len(words) <= _FEW_WORDS:
        return best if found is None else None  # of so few words nobody is sure
    return found or best


def _is_clear(own: dict[str, int], best: str, words: int) -> bool:
    """Whether most of the telling words, and no small part of all, are of ``best``."""
    return own[best] > sum(own.values()) / 2 and (
        own[best] >= max(_SURE_WORDS, words * _SURE_SHARE)
        or (own[best] == sum(own.values()) and own[best] >= words * _SURE_SHARE)
    )


def _alone(votes: dict[str, int]) -> str | None:
    """The language with the most votes, if no other has as many."""
    most = max(votes.values(), default=0)
    first = [code for code, count in votes.items() if count == most]
    return first[0] if len(first) == 1 else None
