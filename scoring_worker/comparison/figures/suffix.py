"""What follows a number and belongs to it: exponent, scale words, unit, currency."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from .core import Core
from .lexicon import ALSO_WORDS, ONE, Lexicon, Sense
from .plain_text import NO_BREAK, Folded, is_unspaced

BLANK = f" {NO_BREAK}\t\r\n"
EXPONENT = re.compile(
    r"[eEеЕ]([-+]?[0-9]{1,4})(?![\w])"
    rf"|[ {NO_BREAK}]?[x×·*][ {NO_BREAK}]?10(?:\^([-+]?[0-9]{{1,4}})|([⁺⁻]?[⁰¹²³⁴-⁹]{{1,4}}))(?!\w)"
)
_EXPONENTS = frozenset(f"eEеЕ {NO_BREAK}x×·*")
"""What an exponent begins with."""
_MAX_EXPONENT = 60
"""1e999999 would be a number of a million digits."""
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_NO_CENTS = re.compile(r"[.,](?:--?|–)(?!\w)")
_PER = re.compile(r" ?/ ?| (?:per|pro|par|por|al|je|a|an|in der|à|op|i|na|за|в) ")
_OF = re.compile(r" (?:de|di|of|d') ?|d'| d'")
_SINCE_DECADE = re.compile(r"[0-9]{1,3}0s(?!\w)")


@dataclass(slots=True)
class Suffix:
    end: int
    factor: Fraction
    senses: tuple[Sense, ...]
    ordinal: bool = False


def times(value: Fraction, *factors: Fraction) -> Fraction:
    """The product; multiplying fractions by one takes most of the time of a reading."""
    for factor in factors:
        if factor is not ONE:
            value *= factor
    return value


PLAIN = Sense("scale")


def read_suffix(
    folded: Folded, core: Core, lexicon: Lexicon, before: tuple[Sense, ...]
) -> Suffix | None:
    """What follows the number and belongs to it; None where it is glued to something unknown.

    After "EUR 5", another currency belongs to the next number.
    """
    text, end = folded.text, core.end
    factor = ONE
    following = text[end : end + 1]
    if not core.in_words and following:
        power = EXPONENT.match(text, end) if following in _EXPONENTS else None
        if power:
            exponent = int((power[1] or power[2] or power[3]).translate(_RAISED))
            if abs(exponent) > _MAX_EXPONENT:
                return None
            factor, end = Fraction(10) ** exponent, power.end()
        elif following in ".," and (cents := _NO_CENTS.match(text, end)):
            end = cents.end()
        if following == "s" and _SINCE_DECADE.match(text, max(core.start, core.end - 4)):
            return None
    senses: tuple[Sense, ...] = ()
    for _ in range(3):  # a scale, another scale, a unit
        hit = _hit(folded, end, lexicon)
        if hit is None or _clash(before, hit[0]):
            break
        found, after = hit
        if core.almost and any(sense.currencies for sense in found):
            break  # "a $5 ticket"
        kinds = {sense.kind for sense in found}
        if kinds == {"ordinal"}:
            return Suffix(after, factor, (PLAIN,), ordinal=True)
        scales = [sense for sense in found if sense.kind == "scale"]
        rest = tuple(sense for sense in found if sense.kind in {"unit", "currency"})
        if rest and scales:
            further = _hit(folded, after, lexicon)
            if further and any(sense.kind == "currency" for sense in further[0]):
                rest = ()
        if rest:
            senses, end = tuple(scales) + rest, after
            senses, end = _per(folded, end, senses, lexicon)
            break
        factor, end = times(scales[0].factor, factor), after
    glued = end == core.end and not core.in_words and is_letter(text[end : end + 1])
    return None if glued else Suffix(end, factor, senses)


def _clash(before: tuple[Sense, ...], after: tuple[Sense, ...]) -> bool:
    mine = [sense.currencies for sense in before if sense.currencies]
    theirs = [sense.currencies for sense in after if sense.currencies]
    return bool(mine and theirs) and not any(one & other for one in mine for other in theirs)


def _hit(folded: Folded, at: int, lexicon: Lexicon) -> tuple[tuple[Sense, ...], int] | None:
    text = folded.text
    start = at
    while start < len(text) and start - at < 2 and text[start] in BLANK:
        start += 1
    if start == at and text[at : at + 1] == "-" and is_letter(text[at + 1 : at + 2]):
        start += 1
    begins = folded.lowered[at : at + 1] in {" ", "d"}
    if begins and (of := _OF.match(folded.lowered, at)):  # "million d'euros", "40 de kilograme"
        hit = lexicon.after(folded, of.end())
        if hit and hit[0] - of.end() > 2:
            named = tuple(sense for sense in hit[1] if sense.kind in {"unit", "currency"})
            return (named, hit[0]) if named else None
    hit = lexicon.after(folded, start)
    if hit is None:
        return None
    end, senses = hit
    if start > at:
        senses = tuple(sense for sense in senses if sense.kind != "ordinal")
        if (
            folded.lowered[start:end] in ALSO_WORDS
            and text[end : end + 1] == " "
            and is_letter(text[end + 1 : end + 2])
        ):
            return None
    elif text[start:end] in {"-", "–"}:
        return None
    return (senses, end) if senses else None


def _per(
    folded: Folded, end: int, senses: tuple[Sense, ...], lexicon: Lexicon
) -> tuple[tuple[Sense, ...], int]:
    """ "mg" with "/kg", "miles" with "per hour": the unit is the quotient."""
    by = _PER.match(folded.lowered, end)
    hit = lexicon.after(folded, by.end()) if by else None
    divisor = next((sense.unit for sense in hit[1] if sense.kind == "unit"), None) if hit else None
    if hit is None or divisor is None or not any(sense.unit for sense in senses):
        return senses, end
    quotients = tuple(
        Sense(sense.kind, sense.factor, f"{sense.unit}-per-{divisor}")
        for sense in senses
        if sense.unit and sense.unit != "percent"
    )
    return (quotients, hit[0]) if quotients else (senses, end)


def is_letter(char: str) -> bool:
    """Whether ``char`` is a letter that others of the same word stand against."""
    return char.isalpha() and not is_unspaced(char)
