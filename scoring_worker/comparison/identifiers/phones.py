"""Telephone numbers, with and without the codes of the country and of the area.

phonenumbers (Apache-2.0, Google's library) decides whether two numbers are one: +49 30 1234567 and
030 1234567 are, and its tables of prefixes are not ours to keep.
"""

import re
from itertools import islice

import phonenumbers

from safepassage.scoring_worker.text.closed_classes import word_list

from ..contract import Comparison, Place, different, undecided

_PHONE = re.compile(r"(?<![\w+])\+?\(?[0-9](?:[ \u00a0()./‐–-]{0,3}[0-9]){5,19}(?![\w])")
_ASKED = word_list("asks_phone")
_MOST = 32
_CODES = (phonenumbers.MatchType.EXACT_MATCH, phonenumbers.MatchType.NSN_MATCH)


def is_phone(value: str, words: frozenset[str]) -> bool:
    """Whether a value is a telephone number: it looks like one, and its type asks for one or it
    begins with a plus."""
    looks = _PHONE.fullmatch(value) is not None
    return looks and (value.startswith("+") or not words.isdisjoint(_ASKED))


def compare_phones(value: str, quote: str) -> Comparison:
    """Compare a number with those in the quote, at most 32 of them."""
    digits = _digits(value)
    places: list[Place] = []
    partly: list[Place] = []
    rivals: list[Place] = []
    for match in islice(_PHONE.finditer(quote), _MOST):
        place = Place(*match.span())
        other = _digits(match[0])
        if other == digits:
            places.append(place)
            continue
        shorter, longer = sorted((digits, other), key=len)
        if len(shorter) >= 6 and longer.endswith(shorter.lstrip("0")):
            kind = phonenumbers.is_number_match(value[:64], match[0][:64])
            (places if kind in _CODES else partly).append(place)
        else:
            rivals.append(place)
    if places:
        return Comparison("same", "identifier", tuple(places))
    if partly:
        return undecided("identifier", "phone_prefix", "with another prefix", tuple(partly))
    if not rivals:
        return different("identifier", "identifier_absent", "not in the quote")
    detail = "the quote has another number"
    return different("identifier", "identifier_differs", detail, tuple(rivals))


def _digits(text: str) -> str:
    """Digits alone; the trunk zero in "+49 (0)30" is not dialled."""
    bare = re.sub(r"^(\+[^(]*)\(0\)", r"\1", text.strip())
    digits = "".join(str(int(c)) for c in bare if c.isdecimal())
    return digits.removeprefix("00")
