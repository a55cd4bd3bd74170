"""How a language spells numbers, by the rules of CLDR: every number below a thousand, the words for
larger ones, and words that say a number without being its numeral."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from safepassage.scoring_worker.comparison.spelt_numbers import (
    CARDINAL,
    ORDINAL,
    YEAR,
    spelling_languages,
    spellings,
)

_MARKS = "".join(chr(at) for at in range(0x300, 0x1100) if unicodedata.category(chr(at))[0] == "M")
WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")
"""Letters with their vowel signs, which Python counts as no letters."""
_SCALES = (1_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000, 1_000_000_000_000)
_MAX_SPOKEN_YEAR = 2100
_UNSPACED = frozenset({"zh", "ja", "ko", "th", "lo", "km", "my", "yue"})
"""Written without blanks: there the numerals are read character by character, if at all."""
_ALMOST = {
    "en": {"a": "1", "an": "1", "single": "1", "once": "1", "no": "0", "none": "0", "never": "0",
           "both": "2", "pair": "2", "couple": "2", "twice": "2", "double": "2", "triple": "3",
           "dozen": "12", "half": "1/2", "quarter": "1/4", "score": "20", "solo": "1"},
    "de": {"kein": "0", "keine": "0", "keinen": "0", "einmal": "1", "beide": "2", "beiden": "2",
           "zweimal": "2", "doppelt": "2", "dreimal": "3", "dutzend": "12", "halb": "1/2",
           "halbe": "1/2", "halben": "1/2", "halbes": "1/2", "halber": "1/2", "einem": "1",
           "einen": "1", "viertel": "1/4", "anderthalb": "3/2"},
    "fr": {"aucun": "0", "aucune": "0", "pas": "0", "double": "2", "triple": "3", "demi": "1/2",
           "demie": "1/2", "moitié": "1/2", "quart": "1/4", "douzaine": "12"},
    "es": {"ningún": "0", "ninguna": "0", "ninguno": "0", "no": "0", "sin": "0", "ambos": "2",
           "ambas": "2", "doble": "2", "triple": "3", "medio": "1/2", "media": "1/2",
           "docena": "12"},
    "it": {"nessun": "0", "nessuno": "0", "nessuna": "0", "entrambi": "2", "doppio": "2",
           "mezzo": "1/2", "mezza": "1/2", "dozzina": "12"},
    "pt": {"nenhum": "0", "nenhuma": "0", "sem": "0", "não": "0", "ambos": "2", "dobro": "2",
           "meio": "1/2", "meia": "1/2", "dúzia": "12"},
    "nl": {"geen": "0", "beide": "2", "dubbel": "2", "half": "1/2", "halve": "1/2", "dozijn": "12",
           "anderhalf": "3/2"},
}  # fmt: skip
"""Words that say a number without being its numeral. A figure is not missing where one stands."""


@dataclass(frozen=True, slots=True)
class Table:
    phrases: dict[str, tuple[int, bool]]  # numbers below 1000 and years; whether an ordinal
    starts: dict[str, int]  # the first word of a phrase and the most words of one so starting
    scales: dict[str, int]
    glued: frozenset[str]  # a thousand as it stands within a word: "zweitausendfünfzig"
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
    said = _ALMOST.get(language, {}).items()
    return {
        word: (int(number.partition("/")[0]), int(number.partition("/")[2] or 1))
        for word, number in said
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
