"""Reading errors of a scanner that leave a text readable: split words, lost accents, case."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

from safepassage.scoring_worker.laboratory.evaluation.labelled_pair import LabelledPair

_LOOKALIKE = {"l": "1", "i": "l", "e": "c", "m": "rn", "h": "b", "u": "ii", "a": "o"}


def with_noise(
    pairs: Iterable[LabelledPair], share: float, seed: int = 0
) -> Iterator[LabelledPair]:
    """The same pairs, a ``share`` of them with a passage as a scanner would have read it.

    Digits are left alone: a misread digit would change the label.
    """
    rng = random.Random(seed)
    for pair in pairs:
        yield replace(pair, premise=scanned(pair.premise, rng)) if rng.random() < share else pair


def scanned(text: str, rng: random.Random) -> str:
    """``text`` with one to three of the errors of an OCR."""
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(_ERRORS)(text, rng)
    return text


def _split_word(text: str, rng: random.Random) -> str:
    letters = [i for i in range(1, len(text)) if text[i - 1].isalpha() and text[i].isalpha()]
    if not letters:
        return text
    where = rng.choice(letters)
    return f"{text[:where]} {text[where:]}"


def _lookalike(text: str, rng: random.Random) -> str:
    places = [i for i, character in enumerate(text) if character in _LOOKALIKE]
    if not places:
        return text
    where = rng.choice(places)
    return text[:where] + _LOOKALIKE[text[where]] + text[where + 1 :]


def _without_accents(text: str, _rng: random.Random) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _change_case(text: str, rng: random.Random) -> str:
    return text.upper() if rng.random() < 0.5 else text.lower()


_ERRORS = (_split_word, _split_word, _lookalike, _without_accents, _change_case)
