"""A date of which any part may be unknown, and how a value's date and a passage's relate."""

import calendar
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Certainty = Literal[
    "stated",
    "weak",  # digits that may be no date at all: counts where it is the value, never against it
    "embedded",  # digits of a date inside an identifier, a version or an address
    "part",  # "end of June", "summer 2020": no more than the month or the year is stated
    "vague",  # "circa 1990"
    "unread",  # a part could not be read: noise of a scanner, an unknown month
    "other_calendar",
]

Relation = Literal["same", "perhaps", "less", "differs", "unrelated"]
"""What a date of the passage is to the value: *less* says nothing else but less than the value;
*perhaps* agrees in one reading and not in another; *unrelated* states no part that it states."""


class Parts(NamedTuple):
    """One reading. A year below 100 is written in two digits and is of either century."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


class Time(NamedTuple):
    """A time of day; ``offset`` in minutes east of UTC, None where no zone is written.

    ``twelve``: the clock of twelve hours may be meant, and nothing says which half of the day.
    """

    hour: int
    minute: int | None = None
    second: int | None = None
    offset: int | None = None
    twelve: bool = False


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as a text states it.

    ``start`` and ``end`` are code points of the original text. ``others`` are the further
    readings that the notation allows. ``digits`` are the three numbers as written where the date
    is numeric.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    start: int = 0
    end: int = 0
    others: tuple[Parts, ...] = ()
    quarter: int | None = None
    time: Time | None = None
    certainty: Certainty = "stated"
    digits: tuple[int, ...] = ()

    @property
    def parts(self) -> Parts:
        """The first reading."""
        return Parts(self.year, self.month, self.day)

    @property
    def readings(self) -> tuple[Parts, ...]:
        """Every reading, the likeliest first."""
        return (self.parts, *self.others)

    @property
    def is_full(self) -> bool:
        """Whether year, month and day are all stated."""
        return None not in self.parts

    def __str__(self) -> str:
        shown = " or ".join(_shown(parts, self.quarter) for parts in self.readings)
        return shown if self.time is None else f"{shown} {_clock(self.time)}".strip()


def of_readings(
    readings: list[Parts], start: int, end: int, digits: tuple[int, ...] = ()
) -> PartialDate:
    """A stated date with these readings (at least one)."""
    first, *others = readings
    return PartialDate(*first, start, end, tuple(others), digits=digits)


def doubted(date: PartialDate, certainty: Certainty) -> PartialDate:
    """``date`` with another certainty."""
    return replace(date, certainty=certainty)


def exists(parts: Parts) -> bool:
    """Whether the calendar has such a date; an unknown or short year may be a leap year."""
    year, month, day = parts
    if month is not None and not 1 <= month <= 12:
        return False
    if day is None:
        return True
    if month is None:
        return 1 <= day <= 31
    leap = year is None or year < 100 or not 1 <= year <= 9999
    return 1 <= day <= calendar.monthrange(2000 if leap or year is None else year, month)[1]


def relation(value: PartialDate, stated: PartialDate) -> Relation:
    """What ``stated``, a date of the passage, is to ``value``."""
    if len(value.readings) > 1 and value.readings == stated.readings:
        return "same"  # ambiguous in the same way
    if len(value.readings) > 1 and value.digits and value.digits == stated.digits:
        return "same"  # the same digits, of which the passage's context decides one reading
    seen = {
        _relate(mine, value.quarter, theirs, stated.quarter)
        for mine in value.readings
        for theirs in stated.readings
    }
    if len(seen) == 1:
        return seen.pop()
    if "same" in seen:
        return "perhaps"
    return "less" if "less" in seen else "differs" if "differs" in seen else "unrelated"


def _relate(
    value: Parts, value_quarter: int | None, stated: Parts, stated_quarter: int | None
) -> Relation:
    pairs = [
        (_century_free(value.year, stated.year), stated.year, value.year),
        (value.month == stated.month, stated.month, value.month),
        (value.day == stated.day, stated.day, value.day),
    ]
    mine, theirs = _quarter(value, value_quarter), _quarter(stated, stated_quarter)
    wanted = value_quarter is not None
    if wanted or (stated_quarter is not None and stated.month is None):
        pairs.append((mine == theirs, theirs, mine))
    shared = [agree for agree, there, here in pairs if there is not None and here is not None]
    if not all(shared):
        return "differs"
    if not shared:
        return "unrelated"
    lacking = any(here is not None and there is None for _, there, here in pairs)
    if stated_quarter is not None and stated.month is None and value.month is not None:
        lacking = True
    return "less" if lacking else "same"


def _century_free(mine: int | None, theirs: int | None) -> bool:
    """Two digits represent a year of 1900 to 2099, whichever agrees with the other side."""
    if mine is None or theirs is None or mine == theirs:
        return mine == theirs
    if mine >= 100 and theirs >= 100:
        return False
    written = max(mine, theirs)
    return mine % 100 == theirs % 100 and 1900 <= written < 2100


def _quarter(parts: Parts, quarter: int | None) -> int | None:
    if quarter is not None:
        return quarter
    return None if parts.month is None else (parts.month + 2) // 3


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def _shown(parts: Parts, quarter: int | None) -> str:
    """ISO 8601 where the year is known; "30 June" where it is not."""
    year, month, day = parts
    if (year, month, day) == (None, None, None):
        return "" if quarter is None else f"Q{quarter}"
    if year is None:
        if quarter is not None:
            return f"Q{quarter}"
        named = _MONTHS[month - 1] if month else "day"
        return named if day is None else f"{day} {named}" if month else f"{named} {day}"
    shown = f"'{year:02}" if year < 100 else f"{year:04}"
    if quarter is not None:
        return f"{shown}-Q{quarter}"
    if month is not None or day is not None:
        shown += "-??" if month is None else f"-{month:02}"
    return shown if day is None else f"{shown}-{day:02}"


def _clock(time: Time) -> str:
    shown = f"{time.hour:02}:{time.minute or 0:02}"
    return shown if time.second is None else f"{shown}:{time.second:02}"
