"""What a figure is: a number with its unit, its currency and what bounds it."""

from fractions import Fraction
from typing import Literal, NamedTuple

from ..contract import Kind, Place

Bound = Literal["none", "exactly", "more_than", "at_least", "less_than", "at_most", "about"]
"""What the words or the sign beside a number make of it; *none* where nothing is there."""

FigurePart = Literal["whole", "low", "high", "part"]
"""*whole*: the figure represents itself. *low*, *high*: the ends of a range that is a figure of
its own. *part*: a piece of something else that holds digits, such as a date or a file number."""


class FigureReading(NamedTuple):
    """One way to read a figure.

    ``amount`` is exact, with scale words and signs applied, and ``high`` the upper end of a range
    or the second number of a pair ("120/80"). ``step`` is the place value of the last digit
    written. ``unit`` is a CLDR unit ("milligram-per-deciliter") or None; ``currencies`` are the
    ISO 4217 codes that the sign may represent, empty where none is written. A reading that is
    not ``sure`` may be what was meant: agreeing with it shows nothing. One that is ``elsewhere``
    is in use in some countries of the language.
    """

    amount: Fraction
    step: Fraction = Fraction(1)
    unit: str | None = None
    currencies: frozenset[str] = frozenset()
    high: Fraction | None = None
    sure: bool = True
    elsewhere: bool = False


class Figure(NamedTuple):
    """A figure of a text. ``place`` has its unit and currency, ``number`` the number alone; both
    count code points of that text.

    ``digits`` is the number as written; two figures with the same digits are one number
    even where nobody can say which. No readings at all: too long to be read.
    """

    place: Place
    number: Place
    digits: str
    readings: tuple[FigureReading, ...]
    bound: Bound = "none"
    part: FigurePart = "whole"
    ordinal: bool = False
    pair: bool = False

    @property
    def stands(self) -> bool:
        """Whether this is a number, if perhaps not known which: no piece of something else and
        no word such as "a" that may say one."""
        if self.part == "part" or not self.readings:
            return False
        return any(reading.sure for reading in self.readings) or any(
            map(str.isdecimal, self.digits)
        )

    @property
    def kind(self) -> Kind:
        """The kind of value that the figure is."""
        if any(reading.currencies for reading in self.readings):
            return "money"
        return "quantity" if any(reading.unit for reading in self.readings) else "number"
