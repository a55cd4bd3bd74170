"""How the parts of a name are in the quote around one of its words.

A *span* is what may be one name: capitalised words, initials, titles and particles that follow on
one another, with at most one comma ("Smith, John"). In a script without capitals every word may
be of a name. Everything here looks at a few words around one place, regardless of the quote's
length.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from safepassage.scoring_worker.text.language import language_of
from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Place
from .parts import CONJUNCTIONS, PARTICLES, TITLES, is_initial, place_of
from .types import NameKind
from .word_agreement import (
    abbreviates,
    inflects,
    name_inflects,
    one_slip_apart,
    same_but_misread,
    same_in_english,
)

_LONG_WORD, _LONG_NOTE = 4, 2
_REACH = 8
"""Words of a span on either side."""

Relation = Literal["inflected", "misread", "slip", "initial", "other_initial", "other", "absent"]
Side = Literal["behind", "before", ""]


class Missing(NamedTuple):
    """A part of the name that the span lacks, and what is in its place: ``rival`` is a
    position in the quote, ``side`` where it is from the part that is there."""

    part: Word
    relation: Relation
    rival: int
    side: Side


class Window(NamedTuple):
    """``found``: for each part its position in the quote, -1 where it is missing. ``spread``:
    the parts are in an order, or with something between them, that may be two names."""

    found: tuple[int, ...]
    missing: tuple[Missing, ...]
    spread: bool
    place: Place


class Quoted(NamedTuple):
    """The quote as it is read: its words, its text, whether its capitals tell nothing, its
    language as far as the document knows it, and what kind of name is asked for."""

    words: Sequence[Word]
    text: str
    flat: bool
    known_language: str | None
    kind: NameKind | None

    @property
    def language(self) -> str | None:
        """Identified only when asked for, which most comparisons never do."""
        return self.known_language or language_of(self.text)[0]


def agree(part: Word, word: Word) -> bool:
    """The same but for case, accents and the spelling of umlauts."""
    mine, other = part.keys, word.keys
    return mine.plain in (other.plain, other.spelt) or other.plain == mine.spelt


def relation(part: Word, word: Word, quoted: Quoted) -> Relation:
    """What ``word``, which is not ``part``, is to it."""
    mine, other = part.keys.plain, word.keys.plain
    if is_initial(word) or is_initial(part):
        return "initial" if mine[:1] == other[:1] else "other_initial"
    if same_but_misread(mine, other) or _has_footnote(mine, other):
        return "misread"
    pointed = quoted.text[word.end : word.end + 1] == "."
    if abbreviates(other, mine, pointed=pointed) or abbreviates(mine, other, pointed=False):
        return "initial"
    latin = mine[:1] < "\u0250"  # other letters tell by themselves whether names take endings
    if (quoted.kind != "person" and same_in_english(mine, other)) or (
        _alike(mine, other) and name_inflects(mine, other, quoted.language if latin else None)
    ):
        return "inflected"
    if quoted.kind is None and len(mine) != len(other) and inflects(mine, other):
        return "inflected"  # perhaps no name at all: Resident, Residence
    return "slip" if one_slip_apart(mine, other) else "other"


def _has_footnote(mine: str, other: str) -> bool:
    """Whether ``other`` is the word with the sign of a note: "Court11"."""
    note = other.removeprefix(mine)
    return mine.isalpha() and len(mine) >= _LONG_WORD and note.isdigit() and len(note) <= _LONG_NOTE


def _alike(mine: str, other: str) -> bool:
    return mine[:3] == other[:3] or mine[-3:] == other[-3:]


def window_at(core: Sequence[Word], position: int, quoted: Quoted) -> Window:
    """Read the span around ``position`` of the quote for the parts of a name."""
    first, last, comma = _span(position, quoted)
    found = _assign(core, first, last, quoted.words)
    missing = tuple(
        _missing(core, number, found, (first, last, comma), quoted)
        for number, at in enumerate(found)
        if at < 0
    )
    there = [at for at in found if at >= 0]
    place = place_of(quoted.words[min(there)], quoted.words[max(there)])
    return Window(found, missing, _spread(core, found, (first, last, comma), quoted), place)


def named(word: Word, quoted: Quoted) -> bool:
    """Whether a word of the quote may be of a name."""
    if quoted.flat:
        return True
    initial = quoted.text[word.start]
    return initial.isupper() or initial.isdigit() or initial.lower() == initial.upper()


def _span(position: int, quoted: Quoted) -> tuple[int, int, int]:
    """First and last position of the span, and that of the word behind its comma (-1: none)."""
    words, comma, ends = quoted.words, -1, [position, position]
    for side, step in enumerate((-1, 1)):
        while 0 <= (at := ends[side] + step) < len(words) and abs(at - position) <= _REACH:
            behind = max(at, ends[side])
            gap = _gap(words[behind - 1], words[behind], quoted)
            if gap == "" or (gap == "," and comma >= 0):
                break
            comma, ends[side] = behind if gap == "," else comma, at
    return ends[0], ends[1], comma


def _gap(word: Word, following: Word, quoted: Quoted) -> Literal["", " ", ","]:
    """Whether two words may be of one name: with a blank, with a comma, or not ("")."""
    gap = quoted.text[word.end : following.start]
    for side in (word, following):
        if side.keys.plain in CONJUNCTIONS and not quoted.text[side.start].isupper():
            return ""
        if not named(side, quoted) and side.keys.plain not in PARTICLES:
            return ""
    bare = gap.strip(" \t\u00a0")
    if bare in {"", "-", "‐", "'", "’", "·", "・"} or (bare == "." and word.end - word.start <= 4):
        return " "
    return "," if bare in {",", "、", "،"} else ""


def _assign(core: Sequence[Word], first: int, last: int, words: Sequence[Word]) -> tuple[int, ...]:
    """For each part the position of its word, in the order of the name as far as possible. Whole
    names first: the S of "S. Smith" is not the Smith."""
    taken: set[int] = set()
    found = [-1] * len(core)
    for initials in (False, True):
        for number, part in enumerate(core):
            if is_initial(part) is not initials:
                continue
            after = max(found[:number], default=-1)
            places = [n for n in range(first, last + 1) if n not in taken and _fits(part, words[n])]
            found[number] = min(places, key=lambda n: (n <= after, n), default=-1)
            taken.add(found[number])
    return tuple(found)


def _fits(part: Word, word: Word) -> bool:
    """A part or, where the value has an initial only, a name that begins with it."""
    if is_initial(part) and word.keys.plain not in TITLES:
        return word.keys.plain[:1] == part.keys.plain
    return agree(part, word)


def _missing(
    core: Sequence[Word],
    number: int,
    found: tuple[int, ...],
    span: tuple[int, int, int],
    quoted: Quoted,
) -> Missing:
    """What is where part ``number`` should: behind the part before it, or before the next."""
    part, words = core[number], quoted.words
    first, last, comma = span
    if number and found[number - 1] >= 0:
        at = _beyond(found[number - 1] + 1, 1, last, words)
        surname = number == len(core) - 1
        while surname and first <= at < last and is_initial(words[at]) and at + 1 not in found:
            at += 1  # "John R. Miller": the surname is behind the initial
        if first <= at <= last and at not in found and at != comma:
            return Missing(part, relation(part, words[at], quoted), at, "behind")
    if number + 1 < len(core) and found[number + 1] >= 0:
        at = _beyond(found[number + 1] - 1, -1, first, words)
        if first <= at <= last and at not in found and at + 1 != comma:
            return Missing(part, relation(part, words[at], quoted), at, "before")
    return Missing(part, "absent", -1, "")


def _beyond(at: int, step: int, limit: int, words: Sequence[Word]) -> int:
    """``at``, or behind the titles and particles that are there; -1 where the span ends."""
    while (limit - at) * step >= 0:
        if words[at].keys.plain not in TITLES and words[at].keys.plain not in PARTICLES:
            return at
        at += step
    return -1


def _spread(
    core: Sequence[Word], found: tuple[int, ...], span: tuple[int, int, int], quoted: Quoted
) -> bool:
    """Whether the parts that are there may belong to two names."""
    there = [at for at in found if at >= 0]
    if len(there) < 2:
        return False
    low, high = min(there), max(there)
    comma = span[2] if low < span[2] <= high else -1
    between = [n for n in range(low, high + 1) if n not in there]
    strangers = [n for n in between if quoted.words[n].keys.plain not in TITLES | PARTICLES]
    if there == sorted(there):
        dropped = any(b.start - a.end > 3 for a, b in pairwise(core))
        return comma >= 0 or bool(strangers and dropped)
    # Turned round: "Smith, John" with nothing of another name on either side.
    return bool(strangers) or (comma >= 0 and (low > span[0] or high < span[1]))
