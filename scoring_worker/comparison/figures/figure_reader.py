"""One number of a text with all that belongs to it: sign, scale, unit, currency, bound."""

from fractions import Fraction
from typing import NamedTuple

from .affixes import PLAIN, closed, is_glued, read_prefix, read_suffix, signs_of, times
from .bounds import bound_after, bound_before
from .digits import Amount, Core
from .figure import Figure, FigureReading
from .lexicon import ONE, Lexicon, Sense
from .plain_text import Folded


class Read(NamedTuple):
    """A figure with its place in the folded text, and what ranges need to know of it."""

    figure: Figure
    start: int
    end: int
    core: Core
    scale: Fraction = ONE
    has_suffix: bool = False


def read(folded: Folded, core: Core, floor: int, lexicon: Lexicon, bound_floor: int) -> Read | None:
    """The figure around ``core``; None where the digits are a piece of another token.

    What is before ``floor`` belongs to the figure before. A bound may begin earlier, up to
    ``bound_floor``: "no more than 5", "a maximum of 5", where "no" and "a" may be numbers too.
    """
    start, signed, before = read_prefix(folded, core.start, floor, lexicon)
    if before:
        before = closed(folded, core, before)
    suffix = read_suffix(folded, core, lexicon, before)
    if suffix is None:
        return None
    if not before and start == core.start and is_glued(folded.text, core):
        return None
    senses = _agreeing(before, suffix.senses)
    end = suffix.end
    signs = signs_of(folded.text, start, end, core, senses, negative=signed)
    bound, bound_start = bound_before(folded.lowered, start)
    if bound == "none" or bound_start < bound_floor:
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
    readings = (FigureReading(amount.value, amount.step, sure=False),) if amount else ()
    digits = folded.text[start:end] if amount else ""
    core = Core(start, end, (amount,) if amount else ())
    place = folded.place(start, end)
    return Read(Figure(place, place, digits, readings, part="part"), start, end, core)


def _readings(
    core: Core, factor: Fraction, senses: list[Sense], signs: tuple[tuple[Fraction, bool], ...]
) -> tuple[FigureReading, ...]:
    # A word that says a fraction says nothing else before a unit: "half hour".
    halved = core.almost and all(amount.value.denominator > 1 for amount in core.amounts)
    return tuple(
        FigureReading(
            amount=times(amount.value, factor, sense.factor, sign),
            step=times(amount.step, factor, sense.factor),
            unit=sense.unit,
            currencies=sense.currencies,
            high=core.second,
            sure=(amount.sure or (sense.unit is not None and halved)) and certain,
            elsewhere=amount.elsewhere,
        )
        for amount in core.amounts
        for sense in senses
        if not (sense.currencies and amount.elsewhere and amount.step < 1)  # no price has mills
        for sign, certain in signs
    )


def _agreeing(before: tuple[Sense, ...], after: tuple[Sense, ...]) -> list[Sense]:
    """The senses that the signs on both sides leave: "$5m" is money, not five metres."""
    if not before:
        return list(after) or [PLAIN]
    currencies = [sense for sense in after if sense.kind == "currency"]
    if currencies:  # "$5 USD", "US$ 5 dollars"
        return currencies
    scales = [sense for sense in after if sense.kind == "scale"] or [PLAIN]
    return [
        Sense(one.kind, times(scale.factor, one.factor), one.unit, one.currencies)
        for one in before
        for scale in scales
    ]
