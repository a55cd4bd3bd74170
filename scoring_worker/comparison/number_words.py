"""Numbers in words, in the 80 languages whose spelling rules CLDR has.

The rules spell numbers out; reading turns them round: every number below a thousand is spelt once
a language, in all its genders and cases, and looked up from then on. Larger numbers are such
numbers with the language's words for a thousand, a million and so on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from unicode_rbnf import RbnfEngine

_MARKS = "".join(chr(at) for at in range(0x300, 0x1100) if unicodedata.category(chr(at))[0] == "M")
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")
"""Letters with their vowel signs, which Python counts as no letters."""
_SCALES = (1_000, 100_000, 1_000_000, 10_000_000, 1_000_000_000, 1_000_000_000_000)
_MAX_SPOKEN_YEAR = 2100
_UNSPACED = frozenset({"zh", "ja", "ko", "th", "lo", "km", "my", "yue"})
"""Written without blanks: there the numerals are read character by character, if at all."""
_CONNECTORS = frozenset({"and", "und", "et", "y", "e", "en", "og", "och", "i", "și", "va"})
_ALMOST = {
    "en": {"a": "1", "an": "1", "single": "1", "once": "1", "no": "0", "none": "0", "never": "0",
           "both": "2", "pair": "2", "couple": "2", "twice": "2", "double": "2", "triple": "3",
           "dozen": "12", "half": "1/2", "quarter": "1/4", "score": "20", "solo": "1"},
    "de": {"kein": "0", "keine": "0", "keinen": "0", "einmal": "1", "beide": "2", "beiden": "2",
           "zweimal": "2", "doppelt": "2", "dreimal": "3", "dutzend": "12", "halb": "1/2",
           "halbe": "1/2", "halben": "1/2", "einem": "1", "einen": "1", "viertel": "1/4",
           "anderthalb": "3/2"},
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
class Words:
    """A number in words at ``start`` to ``end``. ``almost``: said by another word than a numeral
    ("twice") or by the article, which is the numeral one in many languages."""

    start: int
    end: int
    value: int
    denominator: int = 1
    ordinal: bool = False
    almost: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    phrases: dict[str, tuple[int, bool]]  # numbers below 1000 and years; whether an ordinal
    starts: dict[str, int]  # the first word of a phrase and the most words of one so starting
    scales: dict[str, int]
    glued: frozenset[str]  # a thousand as it stands within a word: "zweitausendfünfzig"
    almost: dict[str, tuple[int, int]]


def has_number_words(language: str | None) -> bool:
    """Whether numbers in words are read in ``language``."""
    return bool(language) and _table(str(language)) is not None


def number_words(lowered: str, language: str | None) -> Iterator[Words]:
    """The numbers in words of ``lowered``, from left to right; none in an unknown language."""
    table = _table(language) if language else None
    if table is None:
        return
    words = [(match.start(), match.end(), match[0]) for match in _WORD.finditer(lowered)]
    at = 0
    while at < len(words):
        word, found = words[at][2], None
        if word in table.starts or table.glued:
            found = _number_at(lowered, words, at, table)
        if found is None and word in table.almost:
            found = _almost_at(lowered, words, at, table)
        at += 1
        if found is not None:
            at, number = found
            yield number


_Found = list[tuple[int, int, str]]


def _number_at(lowered: str, words: _Found, at: int, table: _Table) -> tuple[int, Words] | None:
    """Phrases and scales from word ``at`` on, as long as the scales get smaller."""
    total, limit, end, first = 0, 10**15, at, at
    ordinal = scaled = False
    while (phrase := _phrase_at(lowered, words, end, table)) is not None and not ordinal:
        after, (value, ordinal) = phrase
        scale, after = _scale_at(lowered, words, after, table)
        if value * scale >= limit or (end > first and not scaled):
            ordinal = ordinal and end == first
            break
        total, limit, end, scaled = total + value * scale, scale, after, scale > 1
        if scale == 1:
            break
        if end < len(words) and words[end][2] in _CONNECTORS and _joined(lowered, words, end):
            following = _phrase_at(lowered, words, end + 1, table)
            end = end + 1 if following else end
    while end > at and words[end - 1][2] in _CONNECTORS:
        end -= 1
    if end == at:
        return None
    alone = end == at + 1 and total == 1
    if half := _half_at(lowered, words, end, table):
        return half, Words(words[at][0], words[half - 1][1], 2 * total + 1, 2)
    return end, Words(
        words[at][0], words[end - 1][1], total, ordinal=ordinal, almost=alone and not ordinal
    )


def _almost_at(lowered: str, words: _Found, at: int, table: _Table) -> tuple[int, Words]:
    start, end, word = words[at]
    top, bottom = table.almost[word]
    scale, after = _scale_at(lowered, words, at + 1, table)
    if scale > 1 and top == bottom:  # "a million"
        return after, Words(start, words[after - 1][1], scale)
    return at + 1, Words(start, end, top, bottom, almost=True)


def _half_at(lowered: str, words: _Found, at: int, table: _Table) -> int | None:
    """Where "and a half" ends that starts with word ``at``."""
    end = at
    if end < len(words) and words[end][2] in _CONNECTORS and _joined(lowered, words, end):
        end += 1
        if end < len(words) and _one_or_less(table, words[end][2]) == (1, 1):
            end += 1
        if end < len(words) and table.almost.get(words[end][2]) == (1, 2):
            return end + 1
    return None


def _one_or_less(table: _Table, word: str) -> tuple[int, int] | None:
    value, ordinal = table.phrases.get(word, (0, False))
    return (1, 1) if value == 1 and not ordinal else table.almost.get(word)


def _phrase_at(
    lowered: str, words: _Found, at: int, table: _Table
) -> tuple[int, tuple[int, bool]] | None:
    if at >= len(words):
        return None
    most = table.starts.get(words[at][2], 0)
    best = None
    if not most and (value := _glued(words[at][2], table)) is not None:
        return at + 1, (value, False)
    spelt = ""
    for end in range(at, min(at + most + 1, len(words))):
        if end > at and not _joined(lowered, words, end):
            break
        spelt = f"{spelt} {words[end][2]}" if spelt else words[end][2]
        if spelt in table.phrases:
            best = end + 1, table.phrases[spelt]
    return best


def _glued(word: str, table: _Table) -> int | None:
    for stem in table.glued:
        before, found, after = word.partition(stem)
        if found:
            thousands, _ = table.phrases.get(before, (0, False)) if before else (1, False)
            rest, _ = table.phrases.get(after, (0, False)) if after else (0, False)
            if 0 < thousands < 1000 and (rest or not after):
                return thousands * 1000 + rest
    return None


def _scale_at(lowered: str, words: _Found, at: int, table: _Table) -> tuple[int, int]:
    if at < len(words) and _joined(lowered, words, at) and words[at][2] in table.scales:
        return table.scales[words[at][2]], at + 1
    return 1, at


def _joined(lowered: str, words: _Found, at: int) -> bool:
    """Whether nothing but a blank or a hyphen parts word ``at`` from the one before it."""
    return lowered[words[at - 1][1] : words[at][0]] in {" ", "-", "  "}


@lru_cache(maxsize=32)
def _table(language: str) -> _Table | None:
    language = {"nb": "no", "iw": "he", "tl": "fil"}.get(language, language)
    if language in _UNSPACED or language not in _supported():
        return None
    engine = RbnfEngine.for_language(language)
    cardinal = _rulesets(engine, "spellout-numbering", "spellout-cardinal")
    phrases: dict[str, tuple[int, bool]] = {}
    for number in range(1000):
        for spelt in _spellings(engine, number, cardinal):
            phrases.setdefault(spelt, (number, False))
    for number in range(1000, _MAX_SPOKEN_YEAR):
        for spelt in _spellings(engine, number, _rulesets(engine, "spellout-numbering-year")):
            phrases.setdefault(spelt, (number, False))
    for spelt in _spellings(engine, 100, cardinal):
        one, _, hundred = spelt.partition(" ")
        if hundred and phrases.get(one) == (1, False):
            phrases.setdefault(hundred, (100, False))
    scales = dict(_scales(engine, cardinal, phrases))
    for number in range(1, 101):
        for spelt in _spellings(engine, number, _rulesets(engine, "spellout-ordinal")):
            phrases.setdefault(spelt, (number, True))
    starts: dict[str, int] = {}
    for phrase in phrases:
        words = phrase.split()
        starts[words[0]] = max(len(words), starts.get(words[0], 0))
    return _Table(phrases, starts, scales, _stems(engine, cardinal), _almost(language))


def _stems(engine: RbnfEngine, rulesets: list[str]) -> frozenset[str]:
    """How a thousand is written within a word: what 3,000, 4,000 and 8,000 add to 3, 4 and 8."""
    stems = [
        {
            many.removeprefix(one)
            for one in _spellings(engine, number, rulesets)
            for many in _spellings(engine, number * 1000, rulesets)
            if many.startswith(one) and " " not in many
        }
        for number in (3, 4, 8)
    ]
    return frozenset(stem for stem in set.intersection(*stems) if len(stem) > 3)


@lru_cache(maxsize=1)
def _supported() -> frozenset[str]:
    return frozenset(RbnfEngine.get_supported_languages())


def _almost(language: str) -> dict[str, tuple[int, int]]:
    said = _ALMOST.get(language, {}).items()
    return {
        word: (int(number.partition("/")[0]), int(number.partition("/")[2] or 1))
        for word, number in said
    }


def _rulesets(engine: RbnfEngine, *prefixes: str) -> list[str]:
    return [
        name
        for name, rules in engine.rulesets.items()
        if name.startswith(prefixes) and not rules.is_private
    ]


def _spellings(engine: RbnfEngine, number: int, rulesets: list[str]) -> set[str]:
    if not rulesets:
        return set()
    try:
        spelt = engine.format_number(number, ruleset_names=rulesets).text_by_ruleset.values()
    except ValueError:
        return set()
    cleaned = {" ".join(_WORD.findall(text.lower())) for text in spelt if not _has_digits(text)}
    return cleaned - {""}


def _has_digits(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _scales(
    engine: RbnfEngine, rulesets: list[str], phrases: dict[str, tuple[int, bool]]
) -> Iterator[tuple[str, int]]:
    """The words for a thousand, a million and so on: what is left of their multiples."""
    for scale in _SCALES:
        for multiple in (1, 2, 3, 5, 21):
            for spelt in _spellings(engine, scale * multiple, rulesets):
                head, _, word = spelt.rpartition(" ")
                if word in phrases and multiple > 1:
                    continue
                if not head and multiple == 1:
                    phrases.setdefault(word, (scale, False))
                    yield word, scale
                elif phrases.get(head, (0, False)) == (multiple, False):
                    yield word, scale
