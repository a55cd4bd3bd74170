"""Whether a text writes the day or the month first in dates of figures: 04/09/2026."""

import re

_REACH = 200_000
_NUMERIC_DATE = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(?:\d{4}|\d{2})(?![\w/-]|\.\d)")
_YEAR = "(?:y{2,4}|j{2,4}|a{2,4}|å{2,4}|r{4}|v{4}|г{2,4}|ε{2,4})"
_FORMAT = re.compile(
    rf"(?<!\w)(?:(?P<day>(?:dd?|tt|jj|gg|pp|дд?|ηη)(?P<sign>[./-])(?:mm?|aa|kk|мм?|μμ)(?P=sign){_YEAR}"
    r"|day[ ,./-]{1,2}month[ ,./-]{1,2}year)"
    r"|mm?(?P<mark>[./-])dd?(?P=mark)y{2,4}|month[ ,./-]{1,2}day[ ,./-]{1,2}year)(?!\w)",
    re.IGNORECASE,
)
"""A format written out: dd/mm/yyyy, TT.MM.JJJJ, JJ/MM/AAAA, GG/AA/YYYY, month/day/year."""


def day_first_of(text: str) -> bool | None:
    """What ``text`` says of a date in figures that can be read in two ways: the format that it
    writes out, else its other dates. True for 17/01/2012, False for 01/17/2012; None where
    nothing decides or two contradict each other. Linear in the text."""
    orders = {found["day"] is not None for found in _FORMAT.finditer(text, 0, _REACH)}
    if not orders:
        for found in _NUMERIC_DATE.finditer(text, 0, _REACH):
            one, other = int(found[1]), int(found[3])
            if one <= 31 and other <= 31 and (one > 12) != (other > 12):
                orders.add(one > 12)
    return orders.pop() if len(orders) == 1 else None
