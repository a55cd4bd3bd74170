"""Numbers, amounts of money and identifiers: every figure of the value must be in the passage."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring_worker.packs.folding import fold, squeeze

from .numerals import digits_for_words

_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:[,' ]\d{3})+|\d+)([.,]\d{1,2})?(?![\d])")
_CURRENCY = {
    "usd": ("us$", "usd", "dollars", "$"),
    "cad": ("cad", "c$", "ca$", "can$", "dollars", "$"),
    "eur": ("€", "eur", "euros", "euro"),
    "gbp": ("£", "gbp", "pounds", "sterling"),
    "inr": ("rs", "inr", "₹", "rupees"),
}
_SIGNS = re.compile(
    "|".join(
        rf"(?<![a-z]){re.escape(sign)}(?![a-z])"
        for sign in sorted({s for signs in _CURRENCY.values() for s in signs}, key=len)[::-1]
    )
)
_DIGITS = re.compile(r"\d")
_JOINED = re.compile(r"(?<=[a-z$€£])(?=\d)|(?<=[a-z]\.)(?=\d)")
"""Where a figure follows a sign or an abbreviation without a blank: "$5", "Rs.4100"."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number and how the text writes it."""

    value: float
    written: str


@dataclass(frozen=True, slots=True)
class Figures:
    """``missing``: figures of the value that the passage lacks; ``there``: what it has instead."""

    wanted: tuple[str, ...]
    missing: tuple[str, ...]
    there: tuple[str, ...]
    currency_clash: bool = False

    @property
    def borne_out(self) -> bool:
        """Whether there are figures and every one of them is in the passage."""
        return bool(self.wanted) and not self.missing and not self.currency_clash


def compare_figures(value: str, passage: str) -> Figures:
    """Compare the figures of ``value`` with those of ``passage``.

    An identifier such as "TB9-00090" must stand there as a whole; 1,200.00 equals 1200, and
    "thirty (30) days" holds 30.
    """
    if not _DIGITS.search(digits_for_words(fold(value))):
        return Figures((), (), ())
    identifiers = _identifiers(value)
    squeezed = squeeze(fold(passage))
    lost = [name for name in identifiers if squeeze(fold(name)) not in squeezed]
    rest = value
    for name in identifiers:
        rest = rest.replace(name, " ")
    wanted, there = numbers_in(rest), numbers_in(passage)
    held = {number.value for number in there}
    return Figures(
        wanted=(*identifiers, *(number.written for number in wanted)),
        missing=(*lost, *(number.written for number in wanted if number.value not in held)),
        there=tuple(dict.fromkeys(number.written for number in there)),
        currency_clash=_currencies(value).isdisjoint(_currencies(passage))
        and bool(_currencies(value))
        and bool(_currencies(passage)),
    )


def numbers_in(text: str) -> list[Number]:
    """The numbers of ``text``, written in digits or in words, in order."""
    folded = re.sub(r"(?<=\d)(?:st|nd|rd|th|er)\b", "", digits_for_words(fold(text)))
    folded = _JOINED.sub(" ", folded)
    return [Number(_parse(match), match[0]) for match in _NUMBER.finditer(folded)]


def without_figures(value: str) -> str:
    """The words of ``value``: what is left without its numbers, currencies and identifiers."""
    rest = value
    for name in _identifiers(value):
        rest = rest.replace(name, " ")
    rest = re.sub(r"(?<=\d)(?:st|nd|rd|th|er)\b", "", digits_for_words(fold(rest)))
    rest = _NUMBER.sub(" ", _JOINED.sub(" ", rest))
    return _SIGNS.sub(" ", rest)


def _parse(match: re.Match[str]) -> float:
    whole = re.sub(r"\D", "", match[1])
    fraction = (match[2] or "").replace(",", ".")
    return float(f"{whole}{fraction}")


def _identifiers(value: str) -> list[str]:
    """Parts that mix letters or dashes with digits, as file numbers do."""
    mixed = re.findall(r"[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)+|[A-Za-z]+\d\w*|\d+[A-Za-z]\w*", value)
    return [part for part in mixed if _DIGITS.search(part) and not _is_ordinal(part)]


def _is_ordinal(part: str) -> bool:
    return re.fullmatch(r"\d+(?:st|nd|rd|th|er|e)", part.casefold()) is not None


def _currencies(text: str) -> frozenset[str]:
    folded = f" {fold(text)} "
    return frozenset(
        name
        for name, signs in _CURRENCY.items()
        if any(re.search(rf"(?<![a-z]){re.escape(sign)}(?![a-z])", folded) for sign in signs)
    )
