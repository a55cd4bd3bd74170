"""Whether an entry of a table or list is cancelled as a whole: "| 4 | lamp | cancelled |"."""

from .cued_text import CuedText
from .scopes import is_break
from .tokens import MARK

_HARD = frozenset({"|", "\t", "│"})
"""What parts the cells of a row."""
_SOFT = frozenset({"(", "[", "–", "—", "-", ":", ","})
_DASHES = frozenset({"–", "—", "-"})
_LISTED = frozenset({",", ";", "/"})
_ENDS = frozenset({")", "]", ".", ";", ","})
_REACH = 60
"""Words on either side of the value that may be of its row."""


def cancelled_row(reading: CuedText, first: int, last: int) -> str | None:
    """The words that cancel the row or entry of the tokens ``first`` to ``last``; None where
    nothing does. Such words are a cell of the row, or are behind a dash at the end of an entry,
    or behind a bracket, a comma or a colon at the end of the part of it that the value is in.
    """
    start, end = _row(reading, first, last)
    for at in range(start, end):
        said = _cancelling(reading, at)
        if first <= at < last or said == at or not _ends(reading, said - 1, end):
            continue
        edge, sign = _edge_before(reading, at, start)
        if sign == "cell" or (sign and at > first and _of_one_entry(reading, last, edge, sign)):
            return reading.words(at, said)
    return None


def _cancelling(reading: CuedText, at: int) -> int:
    """Behind the words that begin at ``at`` and cancel: "cancelled", "please strike", "not
    ordered"; ``at`` where they do not."""
    cue = next((cue for cue in reading.cues if cue.start == at), None)
    if cue is not None and "cancelled" in cue.sections:
        return cue.end
    if reading.is_in("cancelled", at):
        return at + 1
    undone = cue is not None and "not" in cue.sections and cue.end < len(reading.tokens)
    return cue.end + 1 if undone and cue and reading.is_in("undone", cue.end) else at


def _of_one_entry(reading: CuedText, last: int, edge: int, sign: str) -> bool:
    """Whether nothing parts the value, which ends before token ``last``, from the ``sign`` at
    ``edge`` before the words that cancel."""
    between = range(last, edge)
    if any(reading.tokens[at].text == "." and is_break(reading, at) for at in between):
        return False
    if sign in _DASHES:
        return not any(reading.tokens[at].text in {";", "/"} for at in between)
    return not any(reading.tokens[at].text in _LISTED or _is_gap(reading, at) for at in between)


def _row(reading: CuedText, first: int, last: int) -> tuple[int, int]:
    start, end = first, last
    while start > max(0, first - _REACH) and reading.tokens[start - 1].text != MARK:
        start -= 1
    while end < min(len(reading.tokens), last + _REACH) and reading.tokens[end].text != MARK:
        end += 1
    return start, end


def _is_gap(reading: CuedText, at: int) -> bool:
    """Whether a new cell begins with token ``at``."""
    before, token = reading.tokens[at - 1], reading.tokens[at]
    return before.text in _HARD or token.start - before.end > 1


def _edge_before(reading: CuedText, at: int, start: int) -> tuple[int, str | None]:
    """Where the words begin that cancel at ``at``, and what parts them from the words before: a
    cell or a mark. None where they are of the sentence before."""
    while at > start:
        if _is_gap(reading, at):
            return at, "cell"
        before = reading.tokens[at - 1]
        if before.text in _SOFT:
            return at - 1, before.text
        if not reading.is_in("verbs", at - 1):
            return at, None
        at -= 1
    return at, None


def _ends(reading: CuedText, at: int, end: int) -> bool:
    """Whether what cancels at ``at`` speaks of nothing behind it: the cell or the line ends, or
    says when and by whom."""
    following = at + 1
    if following >= end or reading.tokens[following].text in _ENDS | _HARD:
        return True
    dated = reading.tokens[following].text[0].isnumeric()
    return dated or _is_gap(reading, following) or reading.is_in("prepositions", following)
