"""Sentences altered by rule, one word or figure, by the type of error that this makes.

No LLM is needed, so that a grounding classifier and a classifier of error types can be trained
anywhere. It is a coarse substitute: a rule does not know what a sentence means.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from safepassage.schemas.error_type import ERROR_TYPES, ErrorType

_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w])")
_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_MONTHS = (
    "January", "February", "March", "April", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_COUNT = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Swap:
    """Two expressions, each of which may represent the other, and the error that this makes."""

    error_type: ErrorType
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Altered:
    """A sentence with one error; ``swap`` names the rule, so that rules can be held out."""

    text: str
    error_type: ErrorType
    swap: str


@lru_cache(maxsize=1)
def swaps() -> tuple[Swap, ...]:
    """The words that rules exchange."""
    found = []
    lines = (Path(__file__).with_name("swaps.txt")).read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        name, _, words = line.partition(":")
        one, _, other = words.partition("/")
        if name not in ERROR_TYPES or not other.strip():
            raise ValueError(f"swaps.txt: {line!r}")
        found.append(Swap(name, one.strip(), other.strip()))
    return tuple(found)


def alterations(sentence: str, seed: int = 0) -> list[Altered]:
    """Every single error that a rule can make in ``sentence``, each text once."""
    draw = random.Random(f"{seed}:{sentence}")
    made = [*_by_swap(sentence), *_by_figure(sentence, draw)]
    return [one for one in {one.text: one for one in made}.values() if one.text != sentence]


def one_alteration(
    sentence: str, seed: int = 0, *, of: Sequence[ErrorType] = ERROR_TYPES
) -> Altered | None:
    """One of them by ``seed``, the types drawn first so that none is rare; None without any."""
    found = [one for one in alterations(sentence, seed) if one.error_type in of]
    if not found:
        return None
    draw = random.Random(f"{seed}!{sentence}")
    kind = draw.choice(sorted({one.error_type for one in found}))
    return draw.choice([one for one in found if one.error_type == kind])


def _by_swap(sentence: str) -> Iterator[Altered]:
    for swap in swaps():
        for one, other in ((swap.one, swap.other), (swap.other, swap.one)):
            place = re.search(rf"\b{re.escape(one)}\b", sentence, re.IGNORECASE)
            if place:
                text = sentence[: place.start()] + _cased(other, place[0]) + sentence[place.end() :]
                yield Altered(text, swap.error_type, f"{swap.one}/{swap.other}")


def _by_figure(sentence: str, draw: random.Random) -> Iterator[Altered]:
    for place in _NUMBER.finditer(sentence):
        value = int(place[0])
        other = str(max(1, value + draw.choice([-3, -2, -1, 1, 2, 3, 10])))
        yield _replaced(sentence, place, other)
    for place in _MONTH.finditer(sentence):
        yield _replaced(sentence, place, draw.choice([m for m in _MONTHS if m != place[0]]))
    for place in _COUNT.finditer(sentence):
        other = draw.choice([c for c in _COUNTS if c != place[0].casefold()])
        yield _replaced(sentence, place, _cased(other, place[0]))


def _replaced(sentence: str, place: re.Match[str], other: str) -> Altered:
    text = sentence[: place.start()] + other + sentence[place.end() :]
    return Altered(text, "factual_inaccuracy", "figure")


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word
