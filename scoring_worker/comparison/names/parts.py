"""The parts of a name: what names somebody, and what only goes with it.

Forms of address, particles and forms of companies are small closed classes of each language, not
the words of a domain: whether one is there says nothing about who is meant.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cleanco import prepare_default_terms

from safepassage.scoring_worker.text.closed_classes import word_list
from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Place

TITLES = word_list("titles")
"""Forms of address and what is behind a name, by plain key. Those that are given names too
(Don, Pan, Bey) are left out: dropping one would make two people one."""
GENERATIONS = word_list("generations")
PARTICLES = word_list("particles")
CONJUNCTIONS = word_list("conjunctions")
_SAME_FORM = {
    "ltd": "limited", "inc": "incorporated", "corp": "corporation", "co": "company",
    "pte": "private", "pty": "proprietary",
}  # fmt: skip
_MOST_WORDS = 6
"""The longest form of a company, its points taken for blanks."""
_INITIAL = re.compile(r"\w\Z")


@dataclass(frozen=True, slots=True)
class NameParts:
    """``core``: the words that name somebody, initials among them; ``form``: of a company, as one
    string without points ("gmbhco kg" is "gmbhcokg"), empty where none is given; ``generation``:
    "jr", "iii" or empty; ``text``: the name as it was given."""

    core: tuple[Word, ...]
    form: str
    generation: str
    text: str


def parts_of(words: Sequence[Word], text: str) -> NameParts:
    """Split the words of the name ``text``. One of nothing but titles and particles keeps them.
    "Junior" and "Senior" before the others name what is called so ("Senior Engineer")."""
    kept, form = without_form(words)
    last = len(kept) - 1
    core = tuple(
        word
        for number, word in enumerate(kept)
        if not accompanies(word, text, inside=0 < number < last)
        or (number == 0 < last and word.keys.plain in GENERATIONS)
    )
    generation = next((w.keys.plain for w in kept[1:] if w.keys.plain in GENERATIONS), "")
    return NameParts(core or tuple(kept), form, generation, text)


def accompanies(word: Word, text: str, *, inside: bool) -> bool:
    """Whether a word only goes with a name: a title; a particle in small letters, or with a
    capital inside a name (Ben Smith and Van Morrison begin with given names)."""
    plain = word.keys.plain
    if plain in TITLES:
        return True
    if plain not in PARTICLES and plain not in CONJUNCTIONS:
        return False
    if text[word.start].isupper():
        return inside and len(plain) > 1
    return True


def without_form(words: Sequence[Word]) -> tuple[Sequence[Word], str]:
    """The words before the form of a company, and that form."""
    for count in range(min(len(words) - 1, _MOST_WORDS), 0, -1):
        tail = "".join(word.keys.plain for word in words[-count:])
        if tail in _company_forms() and any(_names(word) for word in words[:-count]):
            return words[:-count], _SAME_FORM.get(tail, tail)
    return words, ""


def _names(word: Word) -> bool:
    return word.keys.plain not in TITLES and word.keys.plain not in PARTICLES


def form_at(words: Sequence[Word], position: int) -> str:
    """The company form that begins at ``position``, empty where none does. Longest first."""
    for count in range(min(len(words) - position, _MOST_WORDS), 0, -1):
        tail = "".join(word.keys.plain for word in words[position : position + count])
        if tail in _company_forms():
            return _SAME_FORM.get(tail, tail)
    return ""


def place_of(word: Word, last: Word | None = None) -> Place:
    """Where a word, or the words up to ``last``, are."""
    return Place(word.start, (last or word).end)


def is_initial(word: Word) -> bool:
    """One letter: the first of a name, with or without its point."""
    return _INITIAL.match(word.keys.plain) is not None and not word.keys.plain.isdigit()


@lru_cache(maxsize=1)
def _company_forms() -> frozenset[str]:
    """Every legal form that cleanco knows, without points and blanks ("s. a r.l." is "sarl")."""
    known = frozenset("".join(parts).replace(".", "") for _, parts in prepare_default_terms())
    return known | word_list("company_forms")
