"""Whether a figure may have been reckoned from others."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

_MOST = 40
"""Figures of a passage that are reckoned with; of more, some two give nearly any result."""
_FACTORS = (2.0, 7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0, 1000.0)
"""What people multiply and divide by and do not write: halves, weeks, months, hours."""
_HALF = 0.51


def may_be_reckoned(amount: Fraction, step: Fraction, known: Iterable[Fraction]) -> bool:
    """Whether ``amount``, rounded to ``step`` or to its own last digit that is no 0, is the sum of
    all ``known`` figures, or the sum, difference, product, quotient or percentage of two of them.
    """
    given = [float(one) for one in dict.fromkeys(known) if one != amount]
    if len(given) > _MOST:
        return True
    while step >= 1 and amount and amount % (10 * step) == 0:
        step *= 10
    rounded, sought = _HALF * float(step), float(amount)
    return any(abs(sought - result) <= rounded for result in _results(given))


def _results(given: list[float]) -> Iterator[float]:
    yield sum(given)
    for one, factor in product(given, _FACTORS):
        yield from (one * factor, one / factor)
    for one, other in product(given, given):
        yield from (one + other, one - other, one * other, one * other / 100)
        yield from (one * (1 - other / 100), one * (1 + other / 100))
        if other:
            yield from (one / other, 100 * one / other)
