"""Where the sentence begins and ends that holds a place, across lines that a width broke.

Written here and not taken from a sentence splitter: only some hundred characters around a place
are read, in any language, and doubt is decided for the longer sentence.
"""

import re
from collections.abc import Iterator

from safepassage.schemas.alignment import MAX_SIDE

from .lines import Lines

_STOP = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？｡।॥؟۔።]+[\"'”’」』）]*")
_LONGEST_STOP = 8  # characters of a stop that a quote may hold the beginning of
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'.])(?:\w|\d{1,2}|mr|mrs|ms|dr|prof|st|no|nr|nos|art|abs|para|vs|eg|ie|bzw|ca"
    r"|approx|sr|sra|mme|mlle|sig|jr|fig|sec|inc|ltd|co|dept|est|vol|pp|cf|al|etc|hon|rev|gen|tel"
    r"|usw|evtl|ggf|inkl|max|min|dra|avda|núm|bd)\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 10
BULLET = re.compile(r"\s*(?:[-*•–—▪◦●○·>]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")
LABELLED_LINE = re.compile(r"\s*(?:[-*•–]\s+)?[^\W\d_][^:：\n|]{0,58}[:：](?!\S*//)")

_NARROWEST_WRAP = 40
"""Lines that are all shorter than this were not broken by a width."""
_NARROWEST_IDEOGRAPHS = 15
_IDEOGRAPHS = "\u2e80"  # and what follows: scripts of wide characters, without blanks


def first_line(lines: Lines, number: int, place: int) -> int:
    """The first of the lines up to line ``number`` that were broken by their width only."""
    while number and place - lines.start(number) < MAX_SIDE and wraps(lines, number - 1):
        number -= 1
    return number


def sentence_start(lines: Lines, low: int, place: int) -> int:
    """The end of the last sentence that ends between ``low`` and ``place``, else ``low``."""
    return max(_stops(lines.text, low, place), default=low)


def sentence_end(lines: Lines, number: int, place: int, ceiling: int) -> int:
    """Where the sentence ends that holds what ends at ``place`` in line ``number``."""
    bottom = number
    while lines.end(bottom) < ceiling and wraps(lines, bottom):
        bottom += 1
    ceiling = max(place, min(ceiling, lines.end(bottom)))
    start = max(lines.start(number), place - _LONGEST_STOP)
    return next((stop for stop in _stops(lines.text, start, ceiling) if stop >= place), ceiling)


def wraps(lines: Lines, number: int) -> bool:
    """Whether the break after line ``number`` only keeps to a width: the next word would not have
    fitted, or is in small letters."""
    if number + 1 >= len(lines):
        return False
    above, below = lines.words(number).rstrip(), lines.words(number + 1).strip()
    if not above.strip() or not below or above.endswith((":", "：")) or _begins(below):
        return False
    if lines.row(number) or lines.row(number + 1):
        return False
    return below[0].islower() or above.endswith((",", "-", "‐", "\xad")) or _full(lines, number)


def _begins(below: str) -> bool:
    """Whether a line begins something: an entry of a list, a labelled value, a heading."""
    return bool(below[0] == "#" or BULLET.match(below + " ") or LABELLED_LINE.match(below))


def _full(lines: Lines, number: int) -> bool:
    near = range(max(0, number - 1), min(len(lines), number + 3))
    width = max(len(lines.words(line).rstrip()) for line in near)
    above = lines.words(number).rstrip()
    word = lines.words(number + 1).split(None, 1)[0]
    narrowest = _NARROWEST_IDEOGRAPHS if above[-1] >= _IDEOGRAPHS else _NARROWEST_WRAP
    return width >= narrowest and len(above) + 1 + len(word) > width


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    for found in _STOP.finditer(text, start, min(len(text), end + 1)):
        if found.end() <= end and not _goes_on(text, found):
            yield found.end()


def _goes_on(text: str, stop: re.Match[str]) -> bool:
    """Whether a stop ends no sentence: an abbreviation, an ordinal, a small letter behind it."""
    if text[stop.end() : stop.end() + 8].lstrip()[:1].islower():
        return True
    tail = text[max(0, stop.end() - _LONGEST_ABBREVIATION) : stop.end()]
    return stop[0] == "." and _ABBREVIATION.search(tail) is not None
