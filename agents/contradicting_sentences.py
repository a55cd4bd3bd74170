"""Which sentences of an answer deny each other, as far as their words show it.

Only finds rivals: the text has to support both before either is stopped, so that a false
rival does no harm where it is false. Words of negation are of English, French, German, Spanish,
Italian and Portuguese.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from safepassage.passages.function_words import FUNCTION_WORDS

MAX_SENTENCES = 200
"""Of one answer; among later ones none is looked for."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_WORDS_OF_NEGATION = """
no not never none neither nor cannot without nobody nothing
ne pas jamais aucun aucune sans rien ni
nicht kein keine keinen keiner keinem keines nie niemals ohne
nunca jamás sin ningún ninguna ninguno tampoco non mai senza nessun nessuna nessuno
não nem sem nenhum nenhuma
"""
_NEGATIONS = frozenset(_WORDS_OF_NEGATION.split())
_DENYING_ENDS = ("n't", "n’t")
_FEWEST_WORDS = 2
_ALIKE = 2  # first letters of two forms of a word: "paid", "pay"


@dataclass(frozen=True, slots=True)
class _Statement:
    """The words of a sentence that say what it is about, and whether it denies it."""

    words: frozenset[str]
    names: frozenset[str]
    denied: bool


def denials(sentences: Sequence[str]) -> list[tuple[int, ...]]:
    """For each sentence the positions of those that say the same and its opposite."""
    statements = [_statement(sentence) for sentence in sentences[:MAX_SENTENCES]]
    found: list[list[int]] = [[] for _ in sentences]
    denying = [at for at, statement in enumerate(statements) if statement.denied]
    for one in denying:
        for other, statement in enumerate(statements):
            if not statement.denied and _opposite(statements[one], statement):
                found[one].append(other)
                found[other].append(one)
    return [tuple(sorted(positions)) for positions in found]


def _statement(sentence: str) -> _Statement:
    words: set[str] = set()
    names: set[str] = set()
    denied = False
    for written in _WORD.findall(sentence):
        word = written.casefold()
        if word in _NEGATIONS or word.endswith(_DENYING_ENDS):
            denied = not denied
        elif word not in FUNCTION_WORDS:
            words.add(word)
            if not written.islower():
                names.add(word)
    return _Statement(frozenset(words), frozenset(names), denied)


def _opposite(one: _Statement, other: _Statement) -> bool:
    """Whether both are about the same: equal words but for one, which is another form."""
    if len(one.words & other.words) < _FEWEST_WORDS:
        return False
    left, right = one.words - other.words, other.words - one.words
    if not left and not right:
        return True
    if len(left) != 1 or len(right) != 1:
        return False
    (a,), (b,) = left, right
    return a not in one.names and b not in other.names and a[:_ALIKE] == b[:_ALIKE]
