"""Names in scripts without blanks: characters, which many names share by chance."""

from collections.abc import Sequence

import regex
from anyascii import anyascii

from safepassage.schemas import Finding, FindingCode
from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Comparison, Place, different, undecided
from .parts import place_of
from .types import NameKind
from .word_agreement import one_slip_apart

_SOLID = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Tham}]"
)
_HAN = regex.compile(r"\p{Han}")
_KATAKANA = regex.compile(r"[\p{Katakana}ー]+")
_MOST_STARTS = 64


def is_solid(value: str) -> bool:
    """Whether at least half of a name's letters are of a script without blanks."""
    return 2 * len(_SOLID.findall(value)) >= sum(map(str.isalnum, value)) > 0


def compare_solid(
    sought: Sequence[Word],
    value: str,
    words: Sequence[Word],
    quote: str,
    *,
    kind: NameKind | None,
    outside: tuple[Finding, ...],
) -> Comparison:
    """The answer for a name whose characters are not in the quote in a row.

    *Different*: a person's name of three characters or more with one other; a katakana word with
    one other sign; or, where the type asks for a name and the quote has characters of the same
    scripts, no character of it. Characters that are read alike (張, 张) are not comparable.
    """
    place = _read_alike(sought, words)
    if place:
        return undecided("name", "name_close", "characters that are read alike", (place,), outside)
    rival = _one_other(sought, words) if kind == "person" else None
    rival = rival or _other_katakana(sought, words)
    if rival:
        return different("name", "name_differs", "one character is another", (rival,), outside)
    if not _shares_script(value, quote):
        return undecided("name", "name_other_script", "the quote is in another script", (), outside)
    shared = _shared(sought, words)
    if shared or kind is None or outside:
        code: FindingCode = "name_partial" if shared else "name_absent"
        return undecided("name", code, "not in the quote as it is", shared, outside)
    return different("name", "name_differs", "the quote has no character of it", more=outside)


def _read_alike(sought: Sequence[Word], words: Sequence[Word]) -> Place | None:
    """Where characters are that are read as the name is: simplified and traditional ones."""
    if not any(_HAN.match(word.keys.plain) for word in sought):
        return None
    mine = [anyascii(word.keys.plain) for word in sought]
    for start, word in enumerate(words[: len(words) - len(sought) + 1]):
        if _HAN.match(word.keys.plain) and anyascii(word.keys.plain) == mine[0]:
            row = words[start : start + len(sought)]
            if [anyascii(twin.keys.plain) for twin in row] == mine:
                return place_of(word, row[-1])
    return None


def _one_other(sought: Sequence[Word], words: Sequence[Word]) -> Place | None:
    """Where all characters but one are in the name's order."""
    name = [word.keys.plain for word in sought]
    if len(name) < 3:
        return None
    for offset in (0, 1):
        starts = [n - offset for n, w in enumerate(words) if w.keys.plain == name[offset]]
        for start in starts[:_MOST_STARTS]:
            row = words[start : start + len(name)] if start >= 0 else ()
            agreeing = sum(w.keys.plain == part for w, part in zip(row, name, strict=False))
            if len(row) == len(name) and agreeing == len(name) - 1:
                return place_of(row[0], row[-1])
    return None


def _other_katakana(sought: Sequence[Word], words: Sequence[Word]) -> Place | None:
    for part in sought:
        if len(part.keys.plain) >= 3 and _KATAKANA.fullmatch(part.keys.plain):
            for word in words:
                other = word.keys.plain
                if _KATAKANA.fullmatch(other) and one_slip_apart(part.keys.plain, other):
                    return place_of(word)
    return None


def _shares_script(value: str, quote: str) -> bool:
    """Whether the quote has characters of one of the scripts of the name; kana may be the reading
    of a name in Han characters, and the other way round."""
    own = next((script for script in (_KATAKANA, _HAN) if script.search(value)), _SOLID)
    return own.search(quote) is not None


def _shared(sought: Sequence[Word], words: Sequence[Word]) -> tuple[Place, ...]:
    name = {word.keys.plain for word in sought}
    return tuple(place_of(word) for word in words if word.keys.plain in name)[:16]
