"""How a language spells numbers, by the rules of CLDR: every number below a thousand, the words for
larger ones, and words that say a number without being its numeral."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..cldr_spellout import CARDINAL, ORDINAL, YEAR, spelling_languages, spellings
from ..languages import sections_by_language

_MARKS = "".join(chr(at) for at in range(0x300, 0x1100) if unicodedata.category(chr(at))[0] == "M")
WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")
"""Letters with their vowel signs, which Python counts as no letters."""
_SCALES = (1_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000, 1_000_000_000_000)
_MAX_SPOKEN_YEAR = 2100
_UNSPACED = frozenset({"zh", "ja", "ko", "th", "lo", "km", "my", "yue"})
"""Written without blanks: there the numerals are read character by character, if at all."""


@dataclass(frozen=True, slots=True)
class Table:
    phrases: dict[str, tuple[int, bool]]  # numbers below 1000 and years; whether an ordinal
    starts: dict[str, int]  # the first word of a phrase and the most words of one so starting
    scales: dict[str, int]
    glued: frozenset[str]  # a thousand as it is within a word: "zweitausendfünfzig"
    almost: dict[str, tuple[int, int]]


@lru_cache(maxsize=32)
def table_of(language: str) -> Table | None:
    language = {"nb": "no", "iw": "he", "tl": "fil"}.get(language, language)
    if language in _UNSPACED or language not in spelling_languages():
        return None
    phrases: dict[str, tuple[int, bool]] = {}
    for number in range(1000):
        for spelt in _cleaned(language, number):
            phrases.setdefault(spelt, (number, False))
    for number in range(1000, _MAX_SPOKEN_YEAR):
        for spelt in _cleaned(language, number, YEAR):
            phrases.setdefault(spelt, (number, False))
    for spelt in _cleaned(language, 100):
        one, _, hundred = spelt.partition(" ")
        if hundred and phrases.get(one) == (1, False):
            phrases.setdefault(hundred, (100, False))
    scales = dict(_scales(language, phrases))
    for number in range(1, 101):
        for spelt in _cleaned(language, number, ORDINAL):
            phrases.setdefault(spelt, (number, True))
    starts: dict[str, int] = {}
    for phrase in phrases:
        words = phrase.split()
        starts[words[0]] = max(len(words), starts.get(words[0], 0))
    return Table(phrases, starts, scales, _stems(language), _almost(language))


def _stems(language: str) -> frozenset[str]:
    """How a thousand is written within a word: what 3,000, 4,000 and 8,000 add to 3, 4 and 8."""
    stems = [
        {
            many.removeprefix(one)
            for one in _cleaned(language, number)
            for many in _cleaned(language, number * 1000)
            if many.startswith(one) and " " not in many
        }
        for number in (3, 4, 8)
    ]
    return frozenset(stem for stem in set.intersection(*stems) if len(stem) > 3)


def _almost(language: str) -> dict[str, tuple[int, int]]:
    """Words that say a number without being its numeral, as top and bottom of it; ``number 1/2``
    in a language's file. A figure is not missing where one is."""
    return {
        word: (int(number.partition("/")[0]), int(number.partition("/")[2] or 1))
        for number, words in sections_by_language("number").get(language, {}).items()
        for word in words
    }


def _cleaned(language: str, number: int, kind: str = CARDINAL) -> set[str]:
    spelt = {" ".join(WORD.findall(text.lower())) for text in spellings(language, number, kind)}
    return spelt - {""}


def _scales(language: str, phrases: dict[str, tuple[int, bool]]) -> Iterator[tuple[str, int]]:
    """The words for a thousand, a million and so on: what is left of their multiples."""
    for scale in _SCALES:
        for multiple in (1, 2, 3, 5, 21):
            for spelt in _cleaned(language, scale * multiple):
                head, _, word = spelt.rpartition(" ")
                if word in phrases and multiple > 1:
                    continue
                if not head and multiple == 1:
                    phrases.setdefault(word, (scale, False))
                    yield word, scale
                elif phrases.get(head, (0, False)) == (multiple, False):
                    yield word, scale
