"""The language of a passage, where its document did not say."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from safepassage.scoring_worker.text.language import language_of

from .contract import Passage
from .denials.languages import languages, voters
from .denials.month_homonyms import words_beside_dates

_READ = 600
_SURE_WORDS, _SURE_SHARE = 2, 0.12
"""Small words of one language alone, and of no other that is read, that decide it: so many, and
such a share of all words, or else a stray "mai" makes Italian of Romanian."""
_LEAD, _LEADING_SHARE, _LEADING_OWN_SHARE = 2, 0.2, 0.05
"""Where neighbours share their small words, as Spanish and Portuguese do: so many more than the
next language has, such a share of all words, and of words that are its own."""
_FEW_WORDS = 8


def with_language(passage: Passage) -> Passage:
    """``passage`` with its language, where small words or the identifier of languages know it.

    A document's language is unless the small words of the passage clearly are of another.
    """
    texts = passage.before[-_READ:], passage.quote[:_READ], passage.after[:_READ]
    if passage.language is None:
        return replace(passage, language=_spoken(texts))
    other = _clear(texts)
    return passage if other in {None, passage.language} else replace(passage, language=other)


@lru_cache(maxsize=1024)
def _spoken(texts: tuple[str, ...]) -> str | None:
    votes = _votes(texts)
    clear = votes.clear
    if clear is not None:
        return clear
    found, _ = language_of(" ".join(texts))
    best = _alone(votes.own)
    if best is not None and found not in languages() and votes.words <= _FEW_WORDS:
        return best if found is None else None  # of so few words nobody is sure
    return found or best


@lru_cache(maxsize=1024)
def _clear(texts: tuple[str, ...]) -> str | None:
    """The language that the small words of ``texts`` clearly speak for: two of them at least, or
    the Romanian "mai mult" would be Italian in a Romanian document."""
    clear = _votes(texts).clear
    if clear is None:
        return None
    spoken = voters()
    said = sum(clear in spoken.get(word, ()) for word in set(words_beside_dates(*texts)))
    return clear if said >= _SURE_WORDS else None


@dataclass(frozen=True, slots=True)
class _Votes:
    """Small words of a text by language: those that one language alone has, and all of them."""

    own: Counter[str]
    shared: Counter[str]
    words: int

    @property
    def clear(self) -> str | None:
        """The language of most of the telling words, and of no small part of all."""
        best = _alone(self.own)
        if best is None:
            return None
        count, all_own = self.own[best], sum(self.own.values())
        enough = self.words * _SURE_SHARE
        if count > all_own / 2 and (
            count >= max(_SURE_WORDS, enough) or (count == all_own and count >= enough)
        ):
            return best
        others = [shared for code, shared in self.shared.items() if code != best]
        ahead = self.shared[best] - max(others, default=0)
        leads = ahead >= _LEAD and self.shared[best] >= self.words * _LEADING_SHARE
        own = count >= max(_SURE_WORDS, self.words * _LEADING_OWN_SHARE)
        return best if leads and own else None


def _votes(texts: tuple[str, ...]) -> _Votes:
    words = words_beside_dates(*texts)
    told = list(filter(None, map(voters().get, words)))
    own = Counter(codes[0] for codes in told if len(codes) == 1)
    shared = Counter(code for codes in told for code in codes)
    return _Votes(own, shared, len(words))


def _alone(votes: dict[str, int]) -> str | None:
    """The language with the most votes, if no other has as many."""
    most = max(votes.values(), default=0)
    first = [code for code, count in votes.items() if count == most]
    return first[0] if len(first) == 1 else None
