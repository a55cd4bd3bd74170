"""The language of a passage, where its document did not say."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .contract import Passage
from .denials.languages import languages, voters
from .denials.tokens import tokens_of
from .language import language_of

_READ = 600
_SURE_WORDS = 2
"""Small words of one language alone, and of no other that is read, that decide it."""


def with_language(passage: Passage) -> Passage:
    """``passage`` with its language, where small words or the identifier of languages know it."""
    if passage.language is not None:
        return passage
    text = f"{passage.before[-_READ:]} {passage.quote[:_READ]} {passage.after[:_READ]}"
    return replace(passage, language=_spoken(text))


@lru_cache(maxsize=1024)
def _spoken(text: str) -> str | None:
    own: dict[str, int] = {}
    shared: dict[str, int] = {}
    for token in tokens_of(text):
        codes = voters().get(token.text, ())
        for code in codes:
            counts = own if len(codes) == 1 else shared
            counts[code] = counts.get(code, 0) + 1
    best = _alone(own)
    if best is not None and own[best] >= _SURE_WORDS and own[best] > sum(own.values()) / 2:
        return best
    found, _ = language_of(text)
    if found is not None and best is not None and found not in languages():
        return None  # the two disagree
    return found or best


def _alone(votes: dict[str, int]) -> str | None:
    """The language with the most votes, if no other has as many."""
    most = max(votes.values(), default=0)
    first = [code for code, count in votes.items() if count == most]
    return first[0] if len(first) == 1 else None
