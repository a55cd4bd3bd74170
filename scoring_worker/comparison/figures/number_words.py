"""Numbers in words, in the 80 languages whose spelling rules CLDR has.

The rules spell numbers out; reading turns them round: every number below a thousand is spelt once
a language, in all its genders and cases, and looked up from then on. Larger numbers are such
numbers with the language's words for a thousand, a million and so on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .spelling_tables import WORD, Table, table_of

_ASCII_WORD = re.compile(r"[a-zA-Z]+")
"""`WORD` where there are no marks to look for."""
_CONNECTORS = frozenset({"and", "und", "et", "y", "e", "en", "og", "och", "i", "și", "va"})


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


def has_number_words(language: str | None) -> bool:
    """Whether numbers in words are read in ``language``."""
    return bool(language) and table_of(str(language)) is not None


def number_words(lowered: str, language: str | None) -> Iterator[Words]:
    """The numbers in words of ``lowered``, from left to right; none in an unknown language."""
    table = table_of(language) if language else None
    if table is None:
        return
    pattern = _ASCII_WORD if lowered.isascii() else WORD
    words = [(match.start(), match.end(), match[0]) for match in pattern.finditer(lowered)]
    at = 0
    while at < len(words):
        word = words[at][2]
        found = _parts_at(lowered, words, at, table) if language == "en" else None
        if found is None and (word in table.starts or table.glued):
            found = _number_at(lowered, words, at, table)
        if found is None and word in table.almost:
            found = _almost_at(lowered, words, at, table)
        at += 1
        if found is not None:
            at, number = found
            yield number


_Found = list[tuple[int, int, str]]
_PARTS = {
    "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10,
}  # fmt: skip
_OF_ALL = re.compile(r" (?:of(?! an? (?:hundred|thousand|million|billion))|share|interest)\b")


def _parts_at(lowered: str, words: _Found, at: int, table: Table) -> tuple[int, Words] | None:
    """ "Two fifths", "a third of": English says parts by its ordinals. A quarter may be of a year,
    and "a third" one more of them, so that these are parts "of" something alone."""
    start, _, first = words[at]
    top, ordinal = (1, False) if first == "a" else table.phrases.get(first, (0, True))
    if ordinal or not 0 < top < 10 or at + 1 == len(words) or not _joined(lowered, words, at + 1):
        return None
    _, end, part = words[at + 1]
    bottom = _PARTS.get(part.removesuffix("s") if top > 1 else part, 0)
    if top >= bottom or ((first == "a" or bottom == 4) and not _OF_ALL.match(lowered, end)):
        return None
    return at + 2, Words(start, end, top, bottom)


def _number_at(lowered: str, words: _Found, at: int, table: Table) -> tuple[int, Words] | None:
    """Phrases and scales from word ``at`` on, as long as the scales get smaller."""
    total, limit, end = 0, 10**15, at
    ordinal = scaled = False
    while (phrase := _phrase_at(lowered, words, end, table)) is not None and not ordinal:
        after, (value, ordinal) = phrase
        scale, after = _scale_at(lowered, words, after, table)
        if value * scale >= limit or (end > at and not scaled):
            ordinal = ordinal and end == at
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


def _almost_at(lowered: str, words: _Found, at: int, table: Table) -> tuple[int, Words]:
    start, end, word = words[at]
    top, bottom = table.almost[word]
    if top == bottom and at + 1 < len(words) and _joined(lowered, words, at + 1):
        following = words[at + 1][2]
        if table.almost.get(following, (1, 1))[1] > 1:  # "a quarter of a million"
            after, fraction = _almost_at(lowered, words, at + 1, table)
            if not fraction.almost:
                return after, replace(fraction, start=start)
    unit = _after_article(lowered, words, at + 1, table) if bottom > 1 else at + 1
    scale, after = _scale_at(lowered, words, unit, table)
    if scale > 1 and (top == bottom or bottom > 1):  # "a million", "half a million"
        return after, Words(start, words[after - 1][1], top * scale, bottom)
    if unit > at + 1:  # "half a gram"
        return unit, Words(start, words[unit - 1][1], top, bottom)
    return at + 1, Words(start, end, top, bottom, almost=True)


def _after_article(lowered: str, words: _Found, at: int, table: Table) -> int:
    """The word behind "a" or "of a" that follows a fraction; ``at`` where neither does."""
    end = at + 1 if at < len(words) and words[at][2] == "of" and _joined(lowered, words, at) else at
    if end + 1 >= len(words) or not (
        _joined(lowered, words, end) and _joined(lowered, words, end + 1)
    ):
        return at
    is_article = table.almost.get(words[end][2]) == (1, 1) and len(words[end][2]) <= 2
    return end + 1 if is_article else at


def _half_at(lowered: str, words: _Found, at: int, table: Table) -> int | None:
    """Where "and a half" ends that starts with word ``at``."""
    end = at
    if end < len(words) and words[end][2] in _CONNECTORS and _joined(lowered, words, end):
        end += 1
        if end < len(words) and _one_or_less(table, words[end][2]) == (1, 1):
            end += 1
        if end < len(words) and table.almost.get(words[end][2]) == (1, 2):
            return end + 1
    return None


def _one_or_less(table: Table, word: str) -> tuple[int, int] | None:
    value, ordinal = table.phrases.get(word, (0, False))
    return (1, 1) if value == 1 and not ordinal else table.almost.get(word)


def _phrase_at(
    lowered: str, words: _Found, at: int, table: Table
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


def _glued(word: str, table: Table) -> int | None:
    for stem in table.glued:
        before, found, after = word.partition(stem)
        if found:
            thousands, _ = table.phrases.get(before, (0, False)) if before else (1, False)
            rest, _ = table.phrases.get(after, (0, False)) if after else (0, False)
            if 0 < thousands < 1000 and (rest or not after):
                return thousands * 1000 + rest
    return None


def _scale_at(lowered: str, words: _Found, at: int, table: Table) -> tuple[int, int]:
    if at < len(words) and _joined(lowered, words, at) and words[at][2] in table.scales:
        return table.scales[words[at][2]], at + 1
    return 1, at


def _joined(lowered: str, words: _Found, at: int) -> bool:
    """Whether nothing but a blank or a hyphen parts word ``at`` from the one before it."""
    return lowered[words[at - 1][1] : words[at][0]] in {" ", "-", "  "}
