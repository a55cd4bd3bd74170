"""Check digits of identifiers that a standard describes.

Written here, since the library that has them all (python-stdnum) is LGPL, and schwifty needs
pycountry, which is as well. The algorithms are a few lines each; registries of countries and banks
are not ours to judge.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

_LONGEST = 40


class Standard(NamedTuple):
    """``shape`` of the key without separators, in capitals; ``holds`` whether its check does.
    ``named``: the words of an entity type that ask for it; without one the shape must be told by
    itself."""

    name: str
    named: str
    shape: str
    holds: Callable[[str], bool]
    alone: bool = False


def check_of(key: str, words: frozenset[str]) -> tuple[str, bool] | None:
    """The standard that a key falls under by its type's words or by its own shape, and whether
    its check digits are right; None where it falls under none."""
    if len(key) > _LONGEST or not key.isascii():
        return None
    for standard in STANDARDS:
        asked = not words.isdisjoint(standard.named.split())
        if (asked or standard.alone) and re.fullmatch(standard.shape, key):
            return standard.name, standard.holds(key)
    return None


def mod_97(key: str) -> bool:
    """ISO 7064 MOD 97-10, check digits at the end (LEI)."""
    return int("".join(str(int(character, 36)) for character in key)) % 97 == 1


def iban(key: str) -> bool:
    """The same with the country and the check digits in front (ISO 13616)."""
    return mod_97(key[4:] + key[:4])


def luhn(digits: str) -> bool:
    """ISO/IEC 7812: cards and devices."""
    doubled = (int(d) * 2 for d in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(d - 9 if d > 9 else d for d in doubled)) % 10 == 0


def isin(key: str) -> bool:
    """Luhn over letters as two digits (ISO 6166)."""
    return luhn("".join(str(int(character, 36)) for character in key))


def ean(digits: str) -> bool:
    """GTIN of any length, ISBN-13 among them."""
    weighed = sum(int(d) * (3 if n % 2 else 1) for n, d in enumerate(reversed(digits)))
    return weighed % 10 == 0


def mod_11(key: str) -> bool:
    """ISBN-10 and ISSN: weights fall to one, X is ten."""
    values = [10 if character == "X" else int(character) for character in key]
    return sum(value * (len(key) - n) for n, value in enumerate(values)) % 11 == 0


def isbn_13(key: str) -> str:
    """The thirteen digits of an ISBN-10."""
    head = f"978{key[:9]}"
    weighed = sum(int(d) * (3 if n % 2 else 1) for n, d in enumerate(head))
    return f"{head}{-weighed % 10}"


STANDARDS = (
    Standard("iban", "iban", r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", iban, alone=True),
    Standard("isbn", "isbn", r"97[89][0-9]{10}", ean, alone=True),
    Standard("isbn", "isbn", r"[0-9]{9}[0-9X]", mod_11),
    Standard("issn", "issn", r"[0-9]{7}[0-9X]", mod_11),
    Standard("lei", "lei", r"[A-Z0-9]{18}[0-9]{2}", mod_97),
    Standard("isin", "isin", r"[A-Z]{2}[A-Z0-9]{9}[0-9]", isin),
    Standard("ean", "ean gtin upc barcode", r"[0-9]{8}|[0-9]{12,14}", ean),
    Standard("imei", "imei", r"[0-9]{15}", luhn),
    Standard("card", "card kreditkarte carte tarjeta", r"[0-9]{13,19}", luhn),
)
