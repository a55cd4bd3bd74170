"""Dates and times: which date a value states, which dates a text states, and whether they agree.

Years of two digits are of 1900 to 2099, whichever agrees with the other side.
"""

from .comparator import compare_date
from .partial_date import PartialDate, Parts, Time
from .search import dates_in
from .values import date_of_value

__all__ = ["PartialDate", "Parts", "Time", "compare_date", "date_of_value", "dates_in"]
