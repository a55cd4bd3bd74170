"""Runs of digits and separators, and whether anything is written onto them."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .tokens import UNSEEN

_SEPARATORS = r"-/.\u2010\u2011\u2044\u2215\uff0e\uff0f\uff0d"
_RUN = re.compile(rf"\d+(?:[{UNSEEN}]*[{_SEPARATORS}][{UNSEEN}]*\d+)*")
_NUMBER = re.compile(r"\d+")
_GAP = re.compile(rf"[{UNSEEN}]*(?:\.\s?|\s?[-/]\s?|\s)[{UNSEEN}]*")
"""Between the numbers of "17. 1. 2012", "17 / 01 / 2012" and "17 01 2012"."""
_SAME = str.maketrans("\u2010\u2011\uff0d\u2044\u2215\uff0f", "---///")
_GLUED_BEFORE = frozenset("-/\\_#$€£¥@+=&~^.,:'’\u2010\u2011")
_LONGEST = 64  # code points of a run; nothing longer is a date
_INVISIBLE = re.compile(f"[{UNSEEN}]+")


class Run(NamedTuple):
    """Digits with separators between them, not a blank inside unless it joins three numbers."""

    start: int
    end: int
    texts: list[str]
    places: list[tuple[int, int]]
    separators: str

    @property
    def numbers(self) -> list[int]:
        """The numbers, -1 for one too long for a date."""
        return [int(text) if len(text) <= 8 else -1 for text in self.texts]


def runs_in(text: str) -> Iterator[Run]:
    """Every run of ``text`` that is no longer than a date, those joined that make up one."""
    found = [
        _run(text, *match.span())
        for match in _RUN.finditer(text)
        if match.end() - match.start() <= _LONGEST
    ]
    at = 0
    while at < len(found):
        several = _of_one_gap(text, found[at : at + 3])
        joined = _joined(text, several) if len(several) > 1 else None
        yield joined or found[at]
        at += len(several) if joined else 1


def _run(text: str, start: int, end: int) -> Run:
    found = list(_NUMBER.finditer(text, start, end))
    signs = (text[one.end() : other.start()] for one, other in pairwise(found))
    separators = _INVISIBLE.sub("", "".join(signs)).translate(_SAME)
    return Run(start, end, [m[0] for m in found], [m.span() for m in found], separators)


def _of_one_gap(text: str, runs: list[Run]) -> list[Run]:
    """The first of ``runs`` with those behind it that complete three numbers, all with the same
    sign or blank between them."""
    taken, sign = runs[:1], None
    for before, following in pairwise(runs):
        gap = text[before.end : following.start]
        if sum(len(run.texts) for run in taken) >= 3 or len(gap) > 6 or not _GAP.fullmatch(gap):
            break
        if sign not in (None, gap.strip()):
            break
        sign = gap.strip()
        taken.append(following)
    return taken


def _joined(text: str, runs: list[Run]) -> Run | None:
    """One run of ``runs``, None where they are no date in three numbers."""
    gap = text[runs[-2].end : runs[-1].start].strip()
    sign = _INVISIBLE.sub("", gap).translate(_SAME) or " "
    texts = [each for run in runs for each in run.texts]
    widths = [len(each) for each in texts]
    of_one_sign = all(run.separators in ("", sign) for run in runs)
    if len(texts) != 3 or not of_one_sign or not is_triple(widths):
        return None
    if sign == " " and widths != [2, 2, 4]:
        return None
    places = [each for run in runs for each in run.places]
    return Run(runs[0].start, runs[-1].end, texts, places, sign * 2)


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
