"""What may found a word of a value: the quote's words, those of its labels, and the type's."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

import regex

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.folding import keys_of
from safepassage.scoring_worker.text.language import script_of
from safepassage.scoring_worker.text.segmentation import Word, words_of

from .contract import Passage, Place
from .denials.languages import voters
from .figures.context import unit_of
from .figures.figure import Figure
from .figures.search import figures_in
from .names.parts import CONJUNCTIONS, GENERATIONS, PARTICLES, TITLES, is_initial, place_of
from .names.types import type_words
from .names.word_agreement import abbreviates, same_but_misread

_SOLID = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Tham}\p{Hangul}]"
)
_NO_SCRIPT = "Zyyy"
_APOSTROPHES = frozenset("'’")
_IN_ONE = (2, 3)
"""Words that may be written in one."""
_COMPOUNDING = frozenset({"da", "de", "fi", "hu", "nb", "nl", "nn", "no", "sv"})
_COMPOUND_PART = 4
"""Letters of each part of a compound, at the least: more than a syllable that denies has."""
_WRITTEN_ON = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_SHORTEST_PART = 3
_IN_PLACE = 3
"""Words of the quote that are named as standing in the place of one."""
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8",
          "ix": "9", "x": "10"}  # fmt: skip


@cache
def _small() -> frozenset[str]:
    """Words that a value may have or not: articles, titles, conjunctions, of every language."""
    small = word_list("small") | PARTICLES | CONJUNCTIONS | (TITLES - GENERATIONS)
    return small | frozenset(voters())


def has_content(word: Word) -> bool:
    """Whether a word says something by itself, and can be looked up."""
    plain = word.keys.plain
    if plain in _small() or not any(map(str.isalnum, plain)) or _SOLID.search(plain):
        return False
    # The s of a genitive, the d of "d'Or".
    beside = word.text[max(0, word.start - 1) : word.start] + word.text[word.end : word.end + 1]
    return len(plain) > 1 or _APOSTROPHES.isdisjoint(beside)


def is_letter(word: Word) -> bool:
    """Whether it is a capital letter by itself: "hepatitis A", "Hall C"."""
    return is_initial(word) and word.text[word.start : word.end].isupper()


def _run_together(word: Word) -> set[str]:
    """The words between which a scanner or a mail lost the blank: "DurbinEmails", "Senate815"."""
    parts = _WRITTEN_ON.split(word.text[word.start : word.end])
    found = {keys_of(part).plain for part in parts if part.isalpha()} if len(parts) > 1 else set()
    return {part for part in found if len(part) >= _SHORTEST_PART}


def joined(words: Sequence[Word]) -> Iterator[tuple[str, Place]]:
    """Neighbours written in one, with their place."""
    for count in _IN_ONE:
        for start in range(len(words) - count + 1):
            row = words[start : start + count]
            yield "".join(word.keys.plain for word in row), place_of(row[0], row[-1])


class PassageWords:
    """The words of a quote and its headings, and of the entity type, which a value may repeat."""

    def __init__(self, passage: Passage, entity_type: str) -> None:
        self.passage, self.language = passage, passage.language
        self.texts = [text for text in (passage.quote, passage.heading) if text]
        self._words = [words_of(text) for text in self.texts]
        every = [word for words in self._words for word in words]
        spelt = {key for word in every for key in (word.keys.plain, word.keys.spelt)}
        self.keys = spelt.union(type_words(entity_type), *map(_run_together, every))
        self._letters = {word.keys.plain for word in every if is_letter(word)}
        self._in_two = {written for words in self._words for written, _ in joined(words)}

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures of quote and headings."""
        return [one for text in self.texts for one in figures_in(text, self.language)]

    @cached_property
    def _scripts(self) -> frozenset[str]:
        """Of most letters: a few Latin words among Chinese ones say of no other that it lacks."""
        return frozenset(map(script_of, self.texts)) | {_NO_SCRIPT}

    @cached_property
    def _units(self) -> frozenset[object]:
        written = (word.text[word.start : word.end] for words in self._words for word in words)
        named = (unit_of(text, self.language) for text in written)
        of_figures = {reading.unit for one in self.figures for reading in one.readings}
        return frozenset({sense.unit or sense.currencies for sense in named if sense} | of_figures)

    def holds(self, word: Word, content: Sequence[Word]) -> bool:
        """Whether ``word``, one of a value's ``content``, is there as it is, short, misread, or in
        one or two; or is in another script, in which nobody can look it up."""
        key = word.keys.plain
        if is_letter(word) and key in self._letters:
            return True
        there = key in self.keys or word.keys.spelt in self.keys
        return (
            (there and (not is_letter(word) or has_content(word)))
            or (key in _ROMAN and _ROMAN[key] in self.keys)
            or any(_ROMAN.get(other) == key for other in self.keys)
            or script_of(key) not in self._scripts
            or any(same_but_misread(key, other) for other in self.keys)
            or key in self._in_two
            or self._in_compound(key)
            or self._has_unit(word)
            or any(self._short(word, words, content) for words in self._words)
        )

    def _in_compound(self, key: str) -> bool:
        """Whether the word is the first or last part of a longer one, in a language of compounds;
        "inaktiv" and "unbezahlt" are not."""
        if self.language not in _COMPOUNDING or len(key) < _COMPOUND_PART:
            return False
        longer = (other for other in self.keys if len(other) >= len(key) + _COMPOUND_PART)
        return any(other.startswith(key) or other.endswith(key) for other in longer)

    def _has_unit(self, word: Word) -> bool:
        if is_letter(word):  # of "hepatitis A" no ampere
            return False
        sense = unit_of(word.text[word.start : word.end], self.language)
        return sense is not None and (sense.unit or sense.currencies) in self._units

    def _short(self, word: Word, words: Sequence[Word], content: Sequence[Word]) -> bool:
        """Whether one of ``words`` is an abbreviation of the value's ``word``, or the word is one
        of it; or an initial that has a point or is beside another word of the value ("R ribs")."""
        key = word.keys.plain
        own = {one.keys.plain for one in content}
        for at, other in enumerate(words):
            theirs = other.keys.plain
            if theirs[:1] != key[:1]:
                continue
            if abbreviates(theirs, key, pointed=is_pointed(other)):
                return True
            if abbreviates(key, theirs, pointed=is_pointed(word)):
                return True
            if is_initial(word) and is_pointed(word) and len(theirs) > 1:
                return True
            beside = {one.keys.plain for one in words[max(0, at - 1) : at + 2]} - {theirs}
            stands_for = is_pointed(other) or (has_content(other) and beside & own)
            if is_letter(other) and len(key) > 1 and key.isalpha() and stands_for:
                return True
        return False

    def in_place_of(self, word: Word, content: Sequence[Word]) -> Place | None:
        """What the quote has where ``word`` should be: behind the value's word before it, or
        before the next; None where neither is there."""
        quoted = words_of(self.passage.quote)
        own = {one.keys.plain for one in words_of(word.text)}
        at = content.index(word)
        for neighbour, step in ((at - 1, 1), (at + 1, -1)):
            if 0 <= neighbour < len(content):
                key = content[neighbour].keys.plain
                near = (n for n, one in enumerate(quoted) if one.keys.plain == key)
                found = next((p for n in near if (p := _beside(quoted, n, step, own))), None)
                if found:
                    return found
        return None


def is_pointed(word: Word) -> bool:
    """Whether a point follows."""
    return word.text[word.end : word.end + 1] == "."


def _beside(quoted: Sequence[Word], at: int, step: int, own: set[str]) -> Place | None:
    """The word beside ``at`` that is not one of the value's, with the one behind a figure or a
    letter ("type 2"); None where a small word or a mark is there."""
    run: list[Word] = []
    previous, number = quoted[at], at + step
    while 0 <= number < len(quoted) and len(run) < _IN_PLACE:
        word = quoted[number]
        first, second = (previous, word) if step > 0 else (word, previous)
        if word.text[first.end : second.start].strip() not in {"", "-"}:
            break
        if not run and word.keys.plain in own and not has_content(word):
            previous, number = word, number + step  # "of" in "Port of Gdynia"
            continue
        if word.keys.plain in own or not has_content(word):
            break
        run.append(word)
        if len(word.keys.plain) > 1 and not word.keys.plain.isdigit():
            break
        previous, number = word, number + step
    run.sort(key=lambda one: one.start)
    return place_of(run[0], run[-1]) if run else None
