"""What is beside a number and belongs to it: sign, currency, exponent, scale, unit."""

import re
from dataclasses import dataclass
from fractions import Fraction

from .digits import Core
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
_YEAR = re.compile(r"(?:1[5-9]|20)[0-9]{2}(?![\w]|[.,][0-9])")
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
            and (is_letter(text[end + 1 : end + 2]) or _YEAR.match(text, end + 1))
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
    """Whether ``char`` is a letter that others of the same word are against."""
    return char.isalpha() and not is_unspaced(char)


_MINUS_WORD = re.compile(rf"(?<!\w)[Mm]inus[ {NO_BREAK}]\Z")
_WRITTEN_OUT = frozenset(".,'")
_MINUS = Fraction(-1)
_PLUS = ((ONE, True),)


def closed(folded: Folded, core: Core, before: tuple[Sense, ...]) -> tuple[Sense, ...]:
    """Units such as Chinese 每小时…公里 are on both sides: those whose other side is there."""
    behind = folded.lowered[core.end : core.end + 20].lstrip()
    fitting = [sense for sense in before if behind.startswith(sense.closing or "")]
    longest = max((len(sense.closing or "") for sense in fitting), default=0)
    return tuple(sense for sense in fitting if len(sense.closing or "") == longest)


def read_prefix(
    folded: Folded, start: int, floor: int, lexicon: Lexicon
) -> tuple[int, bool, tuple[Sense, ...]]:
    """Where the figure starts with its signs, whether one is a minus, and the currency."""
    at, negative = _sign(folded.text, start, floor)
    end = at
    while end > floor and at - end < 2 and folded.text[end - 1] in BLANK:
        end -= 1
    hit = lexicon.before(folded, end)
    if hit is None or hit[0] < floor:
        return at, negative, ()
    begin, senses = hit
    outer, also = _sign(folded.text, begin, floor)
    return outer, negative or also, senses


def _sign(text: str, start: int, floor: int) -> tuple[int, bool]:
    """A minus or plus that is written against what follows, and is no dash of a range or a word; or
    "minus" as a word, where no number is before it."""
    if (word := _MINUS_WORD.search(text, max(floor, start - 7), start)) and (
        not floor or text[floor : word.start()].strip()
    ):
        return word.start(), True
    if start <= floor or text[start - 1] not in "-–+":
        return start, False
    before = text[start - 2] if start > 1 else " "
    if before.isalnum() or before in ")-–_" or (floor and not text[floor : start - 1].strip()):
        return start, False
    return start - 1, text[start - 1] != "+"


def signs_of(
    text: str, start: int, end: int, core: Core, senses: list[Sense], *, negative: bool
) -> tuple[tuple[Fraction, bool], ...]:
    """Signs that the figure may have, each with whether it is sure.

    Accountants write (1,250.00) for a loss, but others repeat an amount in brackets.
    """
    if negative:
        return ((_MINUS, True),)
    if any(sense.unit not in {None, "percent"} for sense in senses):
        return _PLUS
    money = any(sense.kind == "currency" for sense in senses)
    exact = money or not _WRITTEN_OUT.isdisjoint(text[core.start : core.end])
    if exact and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        repeats = start > 2 and text[start - 2] in BLANK and text[start - 3].isalpha()
        return ((ONE, False), (_MINUS, False)) if repeats else ((_MINUS, True), (ONE, False))
    trails = text[end : end + 1] == "-" or text[core.end : core.end + 1] == "-"
    at = end if text[end : end + 1] == "-" else core.end
    if exact and trails and not text[at + 1 : at + 3].strip()[:1].isalnum():
        return ((_MINUS, True),)
    return _PLUS


def is_glued(text: str, core: Core) -> bool:
    """Whether the digits go on what is before them: A4, COVID-19, x_5."""
    before = text[core.start - 1] if core.start else " "
    if core.in_words:
        return False
    if before in "-–" and core.start > 1:
        before = text[core.start - 2]
        return is_letter(before)
    return before == "_" or is_letter(before)
