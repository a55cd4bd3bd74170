"""One number of a text with all that belongs to it: sign, scale, unit, currency, bound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from .figure_bounds import bound_after, bound_before
from .figure_lexicon import ALSO_WORDS, ONE, Lexicon, Sense
from .figure_text import NO_BREAK, Folded
from .figures import Figure, Part, Reading
from .numerals import Amount

_BLANK = f" {NO_BREAK}\t\r\n"
EXPONENT = re.compile(
    r"[eEеЕ]([-+]?[0-9]{1,4})(?![\w])"
    rf"|[ {NO_BREAK}]?[x×·*][ {NO_BREAK}]?10(?:\^([-+]?[0-9]{{1,4}})|([⁺⁻⁰¹²³⁴-⁹]{{1,5}}))(?!\w)"
)
_MINUS = Fraction(-1)
_MAX_EXPONENT = 60
"""1e999999 would be a number of a million digits."""
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_NO_CENTS = re.compile(r"[.,](?:--?|–)(?!\w)")
_PER = re.compile(r" ?/ ?| (?:per|pro|par|por|al|je|a|an|in der|à|op|i|na|за|в) ")
_OF = re.compile(r" (?:de|di|of|d') ?|d'| d'")
_SINCE_DECADE = re.compile(r"[0-9]{1,3}0s(?!\w)")


@dataclass(frozen=True, slots=True)
class Core:
    """Digits or words at ``start`` to ``end`` of the folded text and the numbers they may be."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    in_words: bool = False
    ordinal: bool = False
    second: Fraction | None = None  # of a pair such as 120/80


@dataclass(frozen=True, slots=True)
class Read:
    """A figure with its place in the folded text, and what ranges need to know of it."""

    figure: Figure
    start: int
    end: int
    core: Core
    scale: Fraction = ONE
    has_suffix: bool = False


@dataclass(slots=True)
class _Suffix:
    end: int
    factor: Fraction
    senses: tuple[Sense, ...]
    ordinal: bool = False


def read(folded: Folded, core: Core, floor: int, lexicon: Lexicon) -> Read | None:
    """The figure around ``core``; None where the digits are a piece of another token.

    What stands before ``floor`` belongs to the figure before.
    """
    start, signed, before = _prefix(folded, core.start, floor, lexicon)
    before = _closed(folded, core, before)
    suffix = _suffix(folded, core, lexicon, before)
    if suffix is None:
        return None
    if not before and start == core.start and _glued(folded.text, core):
        return None
    senses = _agreeing(before, suffix.senses)
    end = suffix.end
    signs = _signs(folded.text, start, end, core, senses, negative=signed)
    bound, bound_start = bound_before(folded.lowered, start)
    if bound == "none" or bound_start < floor:
        bound, _ = bound_after(folded.lowered, end)
    figure = Figure(
        place=folded.place(start, end),
        number=folded.place(core.start, core.end),
        digits=folded.text[core.start : core.end],
        readings=_readings(core, suffix.factor, senses, signs),
        bound=bound,
        ordinal=core.ordinal or suffix.ordinal,
        pair=core.second is not None,
    )
    return Read(figure, start, end, core, suffix.factor, has_suffix=end > core.end)


def piece(folded: Folded, start: int, end: int, amount: Amount | None) -> Read:
    """Digits that are a piece of a date, a file number or the like: what equals them may be it."""
    readings = (Reading(amount.value, amount.step, sure=False),) if amount else ()
    part: Part = "part"
    digits = folded.text[start:end] if amount else ""
    core = Core(start, end, (amount,) if amount else ())
    place = folded.place(start, end)
    return Read(Figure(place, place, digits, readings, part=part), start, end, core)


def _readings(
    core: Core, factor: Fraction, senses: list[Sense], signs: tuple[tuple[Fraction, bool], ...]
) -> tuple[Reading, ...]:
    return tuple(
        Reading(
            amount=_times(amount.value, factor, sense.factor, sign),
            step=_times(amount.step, factor, sense.factor),
            unit=sense.unit,
            currencies=sense.currencies,
            high=core.second,
            sure=amount.sure and certain,
        )
        for amount in core.amounts
        for sense in senses
        for sign, certain in signs
    )


def _times(value: Fraction, *factors: Fraction) -> Fraction:
    """The product; multiplying fractions by one takes most of the time of a reading."""
    for factor in factors:
        if factor is not ONE:
            value *= factor
    return value


def _agreeing(before: tuple[Sense, ...], after: tuple[Sense, ...]) -> list[Sense]:
    """The senses that the signs on both sides leave: "$5m" is money, not five metres."""
    if not before:
        return list(after) or [_PLAIN]
    currencies = [sense for sense in after if sense.kind == "currency"]
    if currencies:  # "$5 USD", "US$ 5 dollars"
        return currencies
    scales = [sense for sense in after if sense.kind == "scale"] or [_PLAIN]
    return [
        Sense(one.kind, _times(scale.factor, one.factor), one.unit, one.currencies)
        for one in before
        for scale in scales
    ]


_PLAIN = Sense("scale")


def _closed(folded: Folded, core: Core, before: tuple[Sense, ...]) -> tuple[Sense, ...]:
    """Units such as Chinese 每小时…公里 stand on both sides: those whose other side is there."""
    behind = folded.lowered[core.end : core.end + 20].lstrip()
    fitting = [sense for sense in before if behind.startswith(sense.closing or "")]
    longest = max((len(sense.closing or "") for sense in fitting), default=0)
    return tuple(sense for sense in fitting if len(sense.closing or "") == longest)


def _suffix(
    folded: Folded, core: Core, lexicon: Lexicon, before: tuple[Sense, ...]
) -> _Suffix | None:
    """What follows the number and belongs to it; None where it is glued to something unknown.

    After "EUR 5", another currency belongs to the next number.
    """
    text, end = folded.text, core.end
    factor = ONE
    if not core.in_words:
        if power := EXPONENT.match(text, end):
            exponent = int((power[1] or power[2] or power[3]).translate(_RAISED))
            if abs(exponent) > _MAX_EXPONENT:
                return None
            factor, end = Fraction(10) ** exponent, power.end()
        elif cents := _NO_CENTS.match(text, end):
            end = cents.end()
        if _SINCE_DECADE.match(text, max(core.start, core.end - 4)):
            return None
    senses: tuple[Sense, ...] = ()
    for _ in range(3):  # a scale, another scale, a unit
        hit = _hit(folded, end, lexicon)
        if hit is None or _clash(before, hit[0]):
            break
        found, after = hit
        kinds = {sense.kind for sense in found}
        if kinds == {"ordinal"}:
            return _Suffix(after, factor, (_PLAIN,), ordinal=True)
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
        factor, end = _times(scales[0].factor, factor), after
    glued = end == core.end and not core.in_words and _letter(text, end)
    return None if glued else _Suffix(end, factor, senses)


def _clash(before: tuple[Sense, ...], after: tuple[Sense, ...]) -> bool:
    mine = [sense.currencies for sense in before if sense.currencies]
    theirs = [sense.currencies for sense in after if sense.currencies]
    return bool(mine and theirs) and not any(one & other for one in mine for other in theirs)


def _hit(folded: Folded, at: int, lexicon: Lexicon) -> tuple[tuple[Sense, ...], int] | None:
    text = folded.text
    start = at
    while start < len(text) and start - at < 2 and text[start] in _BLANK:
        start += 1
    if start == at and text[at : at + 1] == "-" and _letter(text, at + 1):
        start += 1
    if of := _OF.match(folded.lowered, at):  # "million d'euros", "40 de kilograme"
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
        if folded.lowered[start:end] in ALSO_WORDS and _letter(text, end + 1):
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


def _prefix(
    folded: Folded, start: int, floor: int, lexicon: Lexicon
) -> tuple[int, bool, tuple[Sense, ...]]:
    """Where the figure starts with its signs, whether one is a minus, and the currency."""
    at, negative = _sign(folded.text, start, floor)
    end = at
    while end > floor and at - end < 2 and folded.text[end - 1] in _BLANK:
        end -= 1
    hit = lexicon.before(folded, end)
    if hit is None or hit[0] < floor:
        return at, negative, ()
    begin, senses = hit
    outer, also = _sign(folded.text, begin, floor)
    return outer, negative or also, senses


def _sign(text: str, start: int, floor: int) -> tuple[int, bool]:
    """A minus or plus that is written against what follows, and is no dash of a range or a word."""
    if start <= floor or text[start - 1] not in "-–+":
        return start, False
    before = text[start - 2] if start > 1 else " "
    if before.isalnum() or before in ")-–_" or (floor and not text[floor : start - 1].strip()):
        return start, False
    return start - 1, text[start - 1] != "+"


def _signs(
    text: str, start: int, end: int, core: Core, senses: list[Sense], *, negative: bool
) -> tuple[tuple[Fraction, bool], ...]:
    """Signs that the figure may have, each with whether it is sure.

    Accountants write (1,250.00) for a loss, but others repeat an amount in brackets.
    """
    if negative:
        return ((_MINUS, True),)
    if any(sense.unit not in {None, "percent"} for sense in senses):
        return ((ONE, True),)
    money = any(sense.kind == "currency" for sense in senses)
    exact = money or any(sign in text[core.start : core.end] for sign in ".,'")
    if exact and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        repeats = start > 2 and text[start - 2] in _BLANK and text[start - 3].isalpha()
        return ((ONE, False), (_MINUS, False)) if repeats else ((_MINUS, True), (ONE, False))
    trails = text[end : end + 1] == "-" or text[core.end : core.end + 1] == "-"
    at = end if text[end : end + 1] == "-" else core.end
    if exact and trails and not text[at + 1 : at + 3].strip().isalnum():
        return ((_MINUS, True),)
    return ((ONE, True),)


def _glued(text: str, core: Core) -> bool:
    """Whether the digits go on what stands before them: A4, COVID-19, x_5."""
    before = text[core.start - 1] if core.start else " "
    if core.in_words:
        return False
    if before in "-–/" and core.start > 1:
        before = text[core.start - 2]
        return before.isalpha() and before < "\u0e00"
    return before == "_" or (before.isalpha() and before < "\u0e00")


def _letter(text: str, at: int) -> bool:
    return at < len(text) and text[at].isalpha() and text[at] < "\u0e00"
