"""What stands before a number and belongs to it: currency, minus, accountants' brackets."""

from __future__ import annotations

from fractions import Fraction

from .core import Core
from .lexicon import ONE, Lexicon, Sense
from .plain_text import Folded
from .suffix import BLANK, is_letter

_MINUS = Fraction(-1)
_PLUS = ((ONE, True),)


def closed(folded: Folded, core: Core, before: tuple[Sense, ...]) -> tuple[Sense, ...]:
    """Units such as Chinese 每小时…公里 stand on both sides: those whose other side is there."""
    behind = folded.lowered[core.end : core.end + 20].lstrip()
    fitting = [sense for sense in before if behind.startswith(sense.closing or "")]
    longest = max((len(sense.closing or "") for sense in fitting), default=0)
    return tuple(sense for sense in fitting if len(sense.closing or "") == longest)


def read_prefix(
    folded: Folded, start: int, floor: int, lexicon: Lexicon
) -> tuple[int, bool, tuple[Sense, ...]]:
    """Where the figure starts with its signs, whether one is a minus, and the currency."""
    at, negative = _sign(folded.text, start, floor)
    end = at
    while end > floor and at - end < 2 and folded.text[end - 1] in BLANK:
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


def signs_of(
    text: str, start: int, end: int, core: Core, senses: list[Sense], *, negative: bool
) -> tuple[tuple[Fraction, bool], ...]:
    """Signs that the figure may have, each with whether it is sure.

    Accountants write (1,250.00) for a loss, but others repeat an amount in brackets.
    """
    if negative:
        return ((_MINUS, True),)
    money = False
    for sense in senses:
        if sense.unit is not None and sense.unit != "percent":
            return _PLUS
        money = money or sense.kind == "currency"
    written = text[core.start : core.end]
    exact = money or "." in written or "," in written or "'" in written
    if exact and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        repeats = start > 2 and text[start - 2] in BLANK and text[start - 3].isalpha()
        return ((ONE, False), (_MINUS, False)) if repeats else ((_MINUS, True), (ONE, False))
    trails = text[end : end + 1] == "-" or text[core.end : core.end + 1] == "-"
    at = end if text[end : end + 1] == "-" else core.end
    if exact and trails and not text[at + 1 : at + 3].strip().isalnum():
        return ((_MINUS, True),)
    return _PLUS


def is_glued(text: str, core: Core) -> bool:
    """Whether the digits go on what stands before them: A4, COVID-19, x_5."""
    before = text[core.start - 1] if core.start else " "
    if core.in_words:
        return False
    if before in "-–" and core.start > 1:
        before = text[core.start - 2]
        return is_letter(before)
    return before == "_" or is_letter(before)
