"""The letters and digits of an identifier in a quote, and whether they are all of a token."""

import re
import unicodedata
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from ..contract import Place

_MOST = 32
_MOST_CANDIDATES = 200
_RUN = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^\W_]+(?:[-–‐/_.:][^\W_]+)*")
# Between the groups of one identifier. A point and a blank end a sentence.
_BETWEEN = re.compile(
    r"[ \t\u00a0\u2009\u202f\u200b-\u200f\u2066-\u2069\u202a-\u202e\r\n()/_:.–‐-]{0,3}"
)
_SENTENCE = re.compile(r"[.:]\s")
_HIDDEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_JOINT = frozenset("-–‐/_@\\")
_LABELS = frozenset(
    {"NO", "NR", "NUM", "NUMBER", "ID", "REF", "TEL", "FAX", "PHONE", "ISBN", "ISSN", "IBAN", "VAT"}
)


class Row(NamedTuple):
    """``whole``: nothing of a longer token is on either side. ``loosely``: what is there
    is only a group of digits behind a blank."""

    place: Place
    whole: bool
    loosely: bool


class Candidate(NamedTuple):
    """A token with digits, as a key and at its place."""

    key: str
    place: Place


class _Letters(NamedTuple):
    row: str
    at: tuple[int, ...]


def key_of(text: str) -> str:
    """Letters and digits in capitals, of any width and script of digits."""
    return _letters(text).row


def rows_of(key: str, quote: str, words: frozenset[str]) -> list[Row]:
    """Where the letters and digits of ``key`` are in a row, at most 32 times. ``words`` of the
    entity type may be before it as a label ("Invoice-4711")."""
    letters = _letters(quote)
    labels = _LABELS | {word.upper() for word in words}
    found: list[Row] = []
    at = letters.row.find(key) if key else -1
    tries = 0
    while at >= 0 and len(found) < _MOST and tries < 256:
        tries += 1
        last = at + len(key) - 1
        if _is_one(letters.at[at : last + 1], quote):
            start, end = letters.at[at], letters.at[last] + 1
            before, behind = _tied_before(quote, start, labels), _tied_behind(quote, end)
            loosely = not before and not behind and _grouped(key, quote, start, end)
            whole = not (before or behind or loosely)
            found.append(Row(Place(start, end), whole, loosely))
        at = letters.row.find(key, at + 1)
    return sorted(found, key=lambda row: not row.whole)


def literal(value: str, quote: str) -> tuple[Place, ...]:
    """Where ``value`` is letter by letter, and nothing of a longer token beside it; at most
    sixteen places. For identifiers with signs that are no separators ("Mg2(1+x)Si")."""
    found = islice(re.finditer(re.escape(value), quote), _MOST) if value else ()
    whole = (
        Place(start, end)
        for start, end in (match.span() for match in found)
        if not _tied_before(quote, start, frozenset()) and not _tied_behind(quote, end)
    )
    return tuple(islice(whole, 16))


def candidates(quote: str) -> list[Candidate]:
    """The first 200 tokens that have a digit."""
    tokens = (match for match in _TOKEN.finditer(quote) if any(map(str.isdigit, match[0])))
    first = islice(tokens, _MOST_CANDIDATES)
    return [Candidate(key_of(match[0]), Place(*match.span())) for match in first]


def _letters(text: str) -> _Letters:
    return _letters_kept(text) if len(text) <= 4_096 else _spread(text)


def _spread(text: str) -> _Letters:
    row: list[str] = []
    at: list[int] = []
    for match in _RUN.finditer(text):
        for number, character in enumerate(match[0], start=match.start()):
            folded = character if character.isascii() else _folded(character)
            for letter in folded.upper():
                row.append(letter)
                at.append(number)
    return _Letters("".join(row), tuple(at))


_letters_kept = lru_cache(maxsize=512)(_spread)


@lru_cache(maxsize=4_096)
def _folded(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return unicodedata.normalize("NFKC", character) if value is None else str(value)


def _is_one(at: tuple[int, ...], quote: str) -> bool:
    """Whether only separators are between the characters at these places."""
    for before, after in pairwise(at):
        if after - before > 1:
            gap = quote[before + 1 : after]
            if not _BETWEEN.fullmatch(gap) or _SENTENCE.search(gap):
                return False
    return True


def _tied_before(quote: str, start: int, labels: frozenset[str]) -> bool:
    """Whether the token goes on to the left. A point or colon behind letters ends a label."""
    head = _HIDDEN.sub("", quote[max(start - 40, 0) : start])
    if not head:
        return False
    if head[-1].isalnum():
        return not _is_solid(head[-1])
    if len(head) < 2 or not head[-2].isalnum():
        return False
    if head[-1] in _JOINT:
        label = re.search(r"[^\W\d_]+$", head[:-1])
        return not (label and label[0].upper() in labels)
    return head[-1] in ".,:" and head[-2].isdigit()


def _tied_behind(quote: str, end: int) -> bool:
    tail = _HIDDEN.sub("", quote[end : end + 8])
    if not tail:
        return False
    if tail[0].isalnum():
        return not _is_solid(tail[0])
    if len(tail) < 2 or not tail[1].isalnum():
        return False
    return tail[0] in _JOINT or (tail[0] in ".,:" and (tail[0] != ":" or tail[1].isdigit()))


def _is_solid(character: str) -> bool:
    """A letter of a script without blanks is beside any number."""
    return "\u0e00" <= character <= "\u0eff" or "\u3040" <= character <= "\u9fff"


def _grouped(key: str, quote: str, start: int, end: int) -> bool:
    """Whether groups of digits go on behind a blank, as those of an IBAN or a card do."""
    if not key[-1:].isdigit() or " " not in quote[start:end]:
        return False
    return re.match(r"[ \u00a0][0-9]{2,4}(?![\w.,:/%-])", quote[end : end + 8]) is not None
