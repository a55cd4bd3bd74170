"""Runs of digits and separators, and whether anything is written onto them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .tokens import UNSEEN

_SEPARATORS = r"-/.\u2010\u2011\u2044\u2215\uff0e\uff0f\uff0d"
_RUN = re.compile(rf"\d+(?:[{UNSEEN}]*[{_SEPARATORS}][{UNSEEN}]*\d+)*")
_NUMBER = re.compile(r"\d+")
_GAP = re.compile(rf"[{UNSEEN}]*(?:\.\s?|\s?[-/]\s?|\s)[{UNSEEN}]*")
"""Between the numbers of "17. 1. 2012", "17 / 01 / 2012" and "17 01 2012"."""
_SAME = str.maketrans("\u2010\u2011\uff0d\u2044\u2215\uff0f", "---///")
_GLUED_BEFORE = frozenset("-/\\_#$€£¥@+=&~^.,:'’\u2010\u2011")
_LONGEST = 64  # code points of a run; nothing longer is a date
_INVISIBLE = frozenset("\u200b\u200e\u200f\u061c\u2060\ufeff") | {
    chr(c) for c in (*range(0x2066, 0x206A), *range(0x202A, 0x202F))
}


def runs_in(text: str) -> Iterator[Run]:
    """Every run of ``text`` that is no longer than a date, those joined that make up one."""
    found = [
        Run(text, *match.span())
        for match in _RUN.finditer(text)
        if match.end() - match.start() <= _LONGEST
    ]
    index = 0
    while index < len(found):
        run, taken = _joined(text, found, index)
        yield run
        index += taken


class Run:
    """Digits with separators between them, not a blank inside."""

    __slots__ = ("end", "numbers", "places", "separators", "start", "texts")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start, self.end = start, end
        found = list(_NUMBER.finditer(text, start, end))
        self.texts = [match[0] for match in found]
        self.places = [match.span() for match in found]
        self.numbers = [int(text) if len(text) <= 8 else -1 for text in self.texts]
        between = zip(self.places, self.places[1:], strict=False)
        self.separators = "".join(
            next(c for c in text[one[1] : other[0]] if c not in _INVISIBLE).translate(_SAME)
            for one, other in between
        )


def _joined(text: str, runs: list[Run], index: int) -> tuple[Run, int]:
    """The run at ``index``, with those behind it that complete three numbers of a date."""
    run = runs[index]
    count, taken = len(run.numbers), 1
    gap = ""
    while count < 3 and index + taken < len(runs):
        before, following = runs[index + taken - 1], runs[index + taken]
        between = text[before.end : following.start]
        if (
            len(between) > 6
            or not _GAP.fullmatch(between)
            or (gap and between.strip() != gap.strip())
        ):
            break
        gap, count, taken = between, count + len(following.numbers), taken + 1
    last = runs[index + taken - 1]
    if taken == 1 or count != 3:
        return run, 1
    joined = Run.__new__(Run)
    several = runs[index : index + taken]
    joined.start, joined.end = run.start, last.end
    joined.texts = [each for one in several for each in one.texts]
    joined.places = [each for one in several for each in one.places]
    joined.numbers = [each for one in several for each in one.numbers]
    sign = gap.strip().strip("".join(_INVISIBLE)).translate(_SAME) or " "
    own = "".join(one.separators for one in several)
    joined.separators = own[0] * 2 if own and own[0] == sign else sign * 2 if not own else ""
    widths = [len(each) for each in joined.texts]
    if not joined.separators or not is_triple(widths) or (sign == " " and widths != [2, 2, 4]):
        return run, 1
    return joined, taken


def is_triple(widths: list[int]) -> bool:
    """Whether three numbers of so many digits may be a date."""
    a, b, c = widths
    return b <= 2 and ((a == 4 and c <= 2) or (a <= 2 and c in (2, 4)) or (a == 2 and c == 1))


def free_before(text: str, start: int) -> bool:
    """Whether nothing is written onto the run from the left."""
    if start == 0:
        return True
    before = text[start - 1]
    if before == "_" or (before.isascii() and before.isalnum()):
        return False
    if before not in _GLUED_BEFORE:
        return True
    beyond = text[start - 2 : start - 1]
    if before in ":.,":  # "am:2012", but 12:2012 and 3,2012 are something else
        return not beyond.isdigit() and before != "."
    return before in "-'’" and (not beyond or beyond in " \n\t.([")


def free_after(text: str, end: int) -> bool:
    """Whether nothing is written onto the run from the right."""
    after, beyond = text[end : end + 1], text[end + 1 : end + 2]
    if after == "_" or (after.isascii() and after.isalpha()):
        return (after in "Tt" and beyond.isdigit()) or (after in "r" and not beyond.isalnum())
    if after in ("-", "/", "\\", "@", "+", "\u2010", "\u2011"):
        return not (beyond.isalnum() or beyond == "_")
    return not (after in ",." and beyond.isdigit() and after != "") if after else True
