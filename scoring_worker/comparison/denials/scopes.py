"""How far a cue reaches over the words of a passage, forward and backward."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from safepassage.scoring_worker.text.closed_classes import word_list

from ..contract import Passage
from .cued_text import Cue, CuedText, read
from .tokens import MARK

Sense = Literal["denied", "excepted", "superseded", "supposed", "planned", "of_another"]

_LIST_REACH, _VERB_REACH, _GUESS_REACH, _PERSON_REACH, _BACK_REACH = 8, 6, 9, 6, 5
_INSTEAD_REACH, _ONCE_REACH = 6, 5
_UNDONE_WITHIN = 3
"""Words from a "not" to the participle that it denies ("has not yet been ordered")."""
"""Words that a cue reaches over. NegEx takes five; lists ("denies fever, cough or rash") need
more, and begin to count anew with each of their parts."""
_PART, _LAST_PART = 3, 5
"""Words in a part of a list, and in its last one; what is longer is a clause of its own."""
_STOPS = frozenset({";", "|", "\t", "!", "?", "•", "▪", "·"})
_ABBREVIATIONS = word_list("abbreviations")
"""Before a full stop these, and single letters, end no sentence."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Tokens ``start`` to ``end`` (exclusive) over which ``cue`` reaches with ``sense``.

    ``negator`` says that the cue is a bare "not", whose reach depends on the verb; ``backward``
    that the cue is behind what it speaks of; ``undone`` that it denies what was to be done
    with that ("the pumps are not ordered").
    """

    sense: Sense
    cue: Cue
    start: int
    end: int
    negator: bool = False
    backward: bool = False
    undone: bool = False


def denies(text: str) -> bool:
    """Whether ``text`` by itself denies anything."""
    return any(scope.sense == "denied" for scope in scoped(Passage(text))[1])


def scoped(passage: Passage) -> tuple[CuedText, tuple[Scope, ...]]:
    """The reading of ``passage`` and the scopes of its cues; the last few hundred are kept."""
    bare = not passage.heading and passage.day_first is None
    return _scoped(passage if bare else replace(passage, heading="", day_first=None))


@lru_cache(maxsize=256)
def _scoped(passage: Passage) -> tuple[CuedText, tuple[Scope, ...]]:
    reading = read(passage)
    return reading, _scopes_of(reading)


def _scopes_of(reading: CuedText) -> tuple[Scope, ...]:
    """The scopes of every cue of ``reading``; each is bounded, so all are linear in the text.

    What is excepted from a denial is not denied ("no injury except a fracture"); what is excepted
    from anything else is.
    """
    found = [scope for cue in reading.cues for scope in _scopes(reading, cue)]
    stopped = {scope.end for scope in found if scope.sense == "denied"}
    return tuple(
        replace(scope, sense="denied") if scope.sense == "excepted" else scope
        for scope in found
        if scope.sense != "excepted" or scope.cue.start not in stopped
    )


def _scopes(reading: CuedText, cue: Cue) -> Iterator[Scope]:
    sections = cue.sections
    if "doubt" in sections:
        yield Scope("supposed", cue, cue.end, _forward(reading, cue.end, _LIST_REACH))
        yield Scope("supposed", cue, _backward(reading, cue.start), cue.start, backward=True)
        return
    if "pseudo" in sections:
        return
    if "prefix" in sections and _is_prefix(reading, cue):
        yield Scope("denied", cue, cue.end, cue.end + 2)
        return
    # "Excluded: flood, fire" has the cue as the label of what follows.
    labels = cue.end < len(reading.tokens) and reading.tokens[cue.end].text in {":", "："}
    if "no" in sections and _speaks_on(reading, cue):
        yield Scope("denied", cue, cue.end, _forward(reading, cue.end, _LIST_REACH, listed=True))
    elif "except" in sections and _speaks_on(reading, cue):
        yield Scope("excepted", cue, cue.end, _forward(reading, cue.end, _LIST_REACH, listed=True))
    elif "not" in sections and _speaks_on(reading, cue):
        yield Scope("denied", cue, cue.end, _forward(reading, cue.end, _VERB_REACH), negator=True)
    if "after" in sections:
        if labels:
            end = _forward(reading, cue.end + 1, 10 * _LIST_REACH, listed=True)
            yield Scope("denied", cue, cue.end, end)
        else:
            start = _backward(reading, cue.start)
            yield Scope("denied", cue, start, cue.start, backward=True)
    yield from _of_another_time(reading, cue)
    if "if" in sections or "unsure" in sections:
        yield Scope("supposed", cue, cue.end, _forward(reading, cue.end, _GUESS_REACH, verbs=True))
    if "if after" in sections:
        yield Scope("supposed", cue, _backward(reading, cue.start), cue.start, backward=True)
    if "someone" in sections or "family" in sections:
        reach = _forward(reading, cue.end, _PERSON_REACH, verbs=True)
        yield Scope("of_another", cue, cue.end, reach)


def _of_another_time(reading: CuedText, cue: Cue) -> Iterator[Scope]:
    """What ``cue`` says not to have come, to hold no longer, or not yet: "the pumps are not
    ordered", "Mr Low, replaced by Ms Lee", "scheduled for May"."""
    sections = cue.sections
    if "not" in sections and _is_undone(reading, cue):
        start = _backward(reading, cue.start)
        yield Scope("denied", cue, start, cue.start, backward=True, undone=True)
    if "instead" in sections and "replaced" not in sections:
        end = _forward(reading, cue.end, _INSTEAD_REACH)
        yield Scope("superseded", cue, cue.end, end)
    if "replaced" in sections:
        beside = cue.start - 1
        parted = (
            beside >= 0
            and reading.tokens[beside].text in {",", "("}
            and not reading.is_in("verbs", cue.start)
        )
        at = beside if parted else cue.start
        yield Scope("superseded", cue, _backward(reading, at), at, backward=True)
    if "once" in sections:
        yield Scope("superseded", cue, cue.end, _forward(reading, cue.end, _ONCE_REACH))
    if "due" in sections:
        yield Scope("planned", cue, cue.end, _forward(reading, cue.end, _ONCE_REACH))


def _is_undone(reading: CuedText, cue: Cue) -> bool:
    """Whether ``cue`` denies that something is done: "is not (yet) ordered", or "not ordered" as
    an entry of its own."""
    for at in range(cue.end, min(cue.end + _UNDONE_WITHIN, len(reading.tokens))):
        if not reading.tokens[at].is_word:
            return False
        if reading.is_in("undone", at):
            beside = (cue.start - 1, cue.end) if cue.start else (cue.end,)
            said = "'" in reading.tokens[cue.start].text or any(
                reading.is_in("verbs", near) for near in beside
            )
            return said or at + 1 >= len(reading.tokens) or not reading.tokens[at + 1].is_word
    return False


def _is_prefix(reading: CuedText, cue: Cue) -> bool:
    """Whether the cue is the first part of a word: "non-exclusive" denies no more than itself."""
    if cue.end + 1 >= len(reading.tokens) or reading.tokens[cue.end].text not in {"-", "‐", "‑"}:
        return False
    dash = reading.tokens[cue.end]
    joined = reading.tokens[cue.end - 1].end == dash.start
    return joined and dash.end == reading.tokens[cue.end + 1].start


def _speaks_on(reading: CuedText, cue: Cue) -> bool:
    """Whether a word follows: the "no" of "Smoker: no, alcohol" is an answer, not a denial."""
    return cue.end < len(reading.tokens) and (
        reading.tokens[cue.end].is_word
        or reading.tokens[cue.end].text in {'"', "“", "„", "«", "-"}
        or (reading.tokens[cue.end].text == MARK and not is_break(reading, cue.end))
    )


def _forward(
    reading: CuedText, at: int, reach: int, *, listed: bool = False, verbs: bool = False
) -> int:
    """The token behind the last one that a cue before ``at`` reaches.

    ``listed``: a comma or "and" goes on with the list unless a verb follows; otherwise both end
    the reach. ``verbs``: a relative clause does not end it ("if it turns out that").
    """
    left = reach
    while at < len(reading.tokens) and left > 0:
        token = reading.tokens[at]
        closed = at in reading.marks["close"] and not verbs
        if closed or at in reading.marks["except"] or is_break(reading, at):
            return at
        if token.text == "," or at in reading.marks["and"]:
            if not listed or not _is_part(reading, at + 1):
                return at
            left = max(left, _LAST_PART)
        left -= token.is_word
        at += 1
    return at


def _backward(reading: CuedText, at: int) -> int:
    left = _BACK_REACH
    while at > 0 and left > 0:
        token = reading.tokens[at - 1]
        marked = at - 1 in reading.marks["close"] or at - 1 in reading.marks["and"]
        if marked or token.text in {",", ":"} or is_break(reading, at - 1):
            return at
        left -= token.is_word
        at -= 1
    return at


def _is_part(reading: CuedText, at: int) -> bool:
    """Whether the words up to the next mark or "and" are a part of a list: few, and no verb."""
    count = 0
    while at < len(reading.tokens) and count <= _LAST_PART:
        if is_break(reading, at):
            return True
        if reading.tokens[at].text == "," or at in reading.marks["and"]:
            return count <= _PART
        if reading.is_in("verbs", at):
            return False
        count += reading.tokens[at].is_word
        at += 1
    return count <= _LAST_PART


def is_break(reading: CuedText, at: int) -> bool:
    """Whether a sentence, row or cell ends with token ``at``."""
    token = reading.tokens[at]
    following = reading.tokens[at + 1] if at + 1 < len(reading.tokens) else None
    if token.text == MARK:
        several = "\n" in reading.text[token.start + 1 : token.end]
        return several or following is None or not reading.text[following.start].islower()
    if token.text != ".":
        return token.text in _STOPS
    if following is None or following.start == token.end:
        return following is None
    before = reading.tokens[at - 1].text if at and reading.tokens[at - 1].is_word else ""
    abbreviates = (len(before) == 1 and before.isalpha()) or before in _ABBREVIATIONS
    return not abbreviates and not reading.text[following.start].islower()
