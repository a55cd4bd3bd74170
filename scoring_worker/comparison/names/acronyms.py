"""An acronym against the words that it represents.

Only words that are there count: an acronym in the value is supported by words of the passage that
spell it. The other way round nothing is shown, since many names have the same initials; but an
acronym of the same length and the same first letter that the value does *not* spell is another
name (WHO for the World Trade Organization).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Place
from .parts import CONJUNCTIONS, PARTICLES, place_of, without_form

_SHORTEST, _LONGEST = 2, 8
_SOLID_LETTERS = 4
"""Letters that a compound has at the least for each one of its acronym."""
_MOST_LETTERS = 200
_VOWELS = "aeiouy"
_SKIPPED = PARTICLES | CONJUNCTIONS | word_list("small")

Verdict = Literal["spelt", "possible", "other"]


class Acronym(NamedTuple):
    """Capital letters that represent words ("U.S." is "us"), at ``place``."""

    letters: str
    place: Place


class Spelling(NamedTuple):
    """``spelt``: capitalised words of the passage spell the value. ``possible``: they may
    represent each other. ``other``: the passage holds another one of the same shape."""

    verdict: Verdict
    place: Place


def spelling(
    sought: Sequence[Word], value: str, quoted: Sequence[Word], quote: str
) -> Spelling | None:
    """How the acronym on one side relates to the words on the other; None without an acronym."""
    alone = list(acronyms(sought, value))
    if len(alone) == 1 and alone[0].place == place_of(sought[0], sought[-1]):
        return _spelt_by_passage(alone[0].letters, quoted, quote)
    if len(sought) > 3 * _LONGEST or quote.isupper():
        return None
    return _acronym_of_value(sought, quoted, quote)


def acronyms(words: Sequence[Word], text: str) -> Iterator[Acronym]:
    """The acronyms among ``words``: two to eight capitals, with or without points."""
    number = 0
    while number < len(words):
        word = words[number]
        raw = text[word.start : word.end]
        if _SHORTEST <= len(raw) <= _LONGEST and raw.isupper() and raw.isalpha():
            yield Acronym(word.keys.plain, place_of(word))
        elif len(raw) == 1 and raw.isupper():
            last = number
            while last + 1 < len(words) and _next_letter(words[last], words[last + 1], text):
                last += 1
            if _SHORTEST <= last + 1 - number <= _LONGEST:
                letters = "".join(w.keys.plain for w in words[number : last + 1])
                yield Acronym(letters, place_of(word, words[last]))
            number = last
        number += 1


def _next_letter(word: Word, following: Word, text: str) -> bool:
    raw = text[following.start : following.end]
    return text[word.end : following.start] in {".", ". "} and len(raw) == 1 and raw.isupper()


def _spelt_by_passage(letters: str, quoted: Sequence[Word], quote: str) -> Spelling | None:
    possible: Spelling | None = None
    for start, word in enumerate(quoted):
        if not word.keys.plain.startswith(letters[0]):
            continue
        end = _spells(letters, quoted, start)
        if end:
            titled = quote[word.start].isupper() and quote[quoted[end - 1].start].isupper()
            spelt = Spelling("spelt" if titled else "possible", place_of(word, quoted[end - 1]))
            if titled:
                return spelt
            possible = possible or spelt
        elif possible is None and quote[word.start].isupper() and not quote.isupper():
            end = _titled_run(quoted, quote, start)
            initials = _initials(quoted[start:end])
            if initials not in {"", letters} and _same_shape(letters, initials):
                possible = Spelling("other", place_of(word, quoted[end - 1]))
    return possible


def _spells(letters: str, words: Sequence[Word], start: int) -> int:
    """The position behind the words from ``start`` on whose initials are ``letters``; 0 where
    they are not. Small words may be passed over."""
    spelt = 0
    for number in range(start, min(len(words), start + 3 * len(letters))):
        plain = words[number].keys.plain
        if plain[:1] == letters[spelt] and len(plain) > 1:
            spelt += 1
            if spelt == len(letters):
                return number + 1
        elif plain not in _SKIPPED:
            return 0
    return 0


def _titled_run(words: Sequence[Word], quote: str, start: int) -> int:
    """The end of the capitalised words from ``start`` on, small words among them."""
    end = start + 1
    for number in range(start + 1, min(len(words), start + 3 * _LONGEST)):
        if quote[words[number - 1].end : words[number].start].strip(" \t&-"):
            break
        if quote[words[number].start].isupper():
            end = number + 1
        elif words[number].keys.plain not in _SKIPPED:
            break
    return end


def _acronym_of_value(
    sought: Sequence[Word], quoted: Sequence[Word], quote: str
) -> Spelling | None:
    kept, _ = without_form(sought)
    spelt = {
        "".join(word.keys.plain[:1] for word in sought),
        "".join(word.keys.plain[:1] for word in kept),
        _initials(sought),
        _initials(kept),
    }
    other: Spelling | None = None
    for acronym in acronyms(quoted, quote):
        if acronym.letters in spelt or _from_inside(acronym.letters, kept):
            return Spelling("possible", acronym.place)
        if any(_same_shape(letters, acronym.letters) for letters in spelt):
            other = other or Spelling("other", acronym.place)
    return other


def _from_inside(letters: str, words: Sequence[Word]) -> bool:
    """Whether consonants inside compounds are among the initials: MRT for
    "Magnetresonanztomographie". Each has to begin a syllable, and every word gives its first."""
    kept = [word.keys.plain for word in words if word.keys.plain not in _SKIPPED]
    if not _SHORTEST < len(letters) <= _LONGEST or len(kept) >= len(letters):
        return False
    enough = _SOLID_LETTERS * len(letters) <= sum(map(len, kept)) <= _MOST_LETTERS
    return enough and _given_by(letters, kept)


def _given_by(letters: str, words: Sequence[str]) -> bool:
    """Greedy from the left: a word takes the next letter at the first syllable that gives it."""
    at = 0
    for number, word in enumerate(words):
        if at >= len(letters) or not word.startswith(letters[at]):
            return False
        at, after = at + 1, 2
        while at < len(letters) - (len(words) - number - 1):
            onset = re.compile(rf"{letters[at]}[lr]?[{_VOWELS}]").search(word, after)
            if onset is None or letters[at] in _VOWELS:
                break
            at, after = at + 1, onset.start() + 2
    return at == len(letters)


def _initials(words: Sequence[Word]) -> str:
    return "".join(word.keys.plain[:1] for word in words if word.keys.plain not in _SKIPPED)


def _same_shape(letters: str, other: str) -> bool:
    return len(letters) == len(other) and len(letters) > 1 and letters[0] == other[0]
