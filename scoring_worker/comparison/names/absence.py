"""What it means that no word of a name is in the quote as the value has it."""

from collections.abc import Iterator, Sequence

from anyascii import anyascii
from rapidfuzz.distance import OSA

from safepassage.schemas import FindingCode
from safepassage.scoring_worker.text.language import script_of
from safepassage.scoring_worker.text.segmentation import Word

from ..contract import Comparison, Place, different, undecided
from .acronyms import acronyms
from .parts import CONJUNCTIONS, PARTICLES, TITLES, is_initial, place_of
from .windows import Quoted, Relation, named, relation

_MOST_WORDS = 1_000
"""Different words of the quote that are read."""
_SHORT_HEADING = 5


def absent_name(core: Sequence[Word], quoted: Quoted, script: str, outside: bool) -> Comparison:
    """The answer for a name none of whose words is in the quote.

    Inflected, misread or written in another script it is *not comparable*; with a letter changed
    *different*. Where nothing is like it, other names in the quote make it *different* only if
    the type asks for what is called by one name: a person; a company without an acronym; a place
    in a script that has no English names for it.
    """
    words = _candidates(quoted)
    near = [_nearest(part, words, quoted) for part in core if not is_initial(part)]
    seen = [found for found in near if found]
    slips = [word for how, word in seen if how == "slip"]
    if slips and 2 * len(seen) >= len(near) and len(slips) == len(seen):
        given = quoted.text[slips[0].start : slips[0].end][:60]
        return different("name", "name_differs", f"the quote has {given}", (place_of(slips[0]),))
    if seen:
        codes: dict[Relation, FindingCode] = {
            "inflected": "name_inflected",
            "misread": "name_close",
        }
        known = [how for how, _ in seen if how in codes]
        code = codes[known[0]] if known else "name_close"
        return _undecided(code, tuple(place_of(word) for _, word in seen))
    here = script_of(quoted.text)
    if script != here:
        return _romanised(core, words)
    rival = next(_rivals(words, quoted), None)
    if rival is None or outside or not _decides(quoted, script):
        return _undecided("name_absent", ())
    return different("name", "name_differs", "the quote has another name", (place_of(rival),))


def _candidates(quoted: Quoted) -> list[Word]:
    seen: dict[str, Word] = {}
    for word in quoted.words:
        if len(seen) == _MOST_WORDS:
            break
        if named(word, quoted) and any(map(str.isalpha, word.keys.plain)):
            seen.setdefault(word.keys.plain, word)
    return list(seen.values())


def _nearest(part: Word, words: Sequence[Word], quoted: Quoted) -> tuple[Relation, Word] | None:
    found: tuple[Relation, Word] | None = None
    for word in words:
        if abs(len(word.keys.plain) - len(part.keys.plain)) > 4 or is_initial(word):
            continue
        how = relation(part, word, quoted)
        if how in {"misread", "inflected"}:
            return how, word
        if how == "slip" and found is None:
            found = how, word
    return found


def _romanised(core: Sequence[Word], words: Sequence[Word]) -> Comparison:
    """Another script is never another name; where it sounds alike, its place is given."""
    for part in core:
        mine = anyascii(part.keys.plain).lower()
        for word in words:
            other = anyascii(word.keys.plain).lower()
            longest = max(len(mine), len(other))
            if 3 <= longest <= 64 and 3 * OSA.distance(mine, other) <= longest:
                return _undecided("name_transliterated", (place_of(word),))
    return _undecided("name_other_script", ())


def _rivals(words: Sequence[Word], quoted: Quoted) -> Iterator[Word]:
    """Words of other names: capitals inside a sentence, or any word where there are none."""
    if quoted.flat and quoted.text.upper() != quoted.text.lower():
        short = quoted.text.isupper() and len(quoted.words) <= _SHORT_HEADING
        yield from words if short else ()
        return
    for word in words:
        plain = word.keys.plain
        accompanying = plain in TITLES or plain in PARTICLES or plain in CONJUNCTIONS
        if len(plain) > 1 and not accompanying and plain[0].isalpha() and not _opens(word, quoted):
            yield word


def _opens(word: Word, quoted: Quoted) -> bool:
    """Whether a capital is that of a sentence. In a script without capitals nothing tells."""
    if not quoted.text[word.start].isupper():
        return False
    before = quoted.text[: word.start].rstrip(" \"'“„«(*")
    if before.endswith("."):
        return len(before) >= 4 and before[-4:-1].isalnum()  # "г." is no sentence
    return not before or before[-1] in "!?\n"


def _decides(quoted: Quoted, script: str) -> bool:
    kind = quoted.kind
    if kind == "person":
        return True
    if kind == "organisation":
        return script != "Latn" or next(acronyms(quoted.words, quoted.text), None) is None
    return kind == "place" and script != "Latn"


def _undecided(code: FindingCode, places: tuple[Place, ...]) -> Comparison:
    details = {
        "name_inflected": "the quote has it with another ending",
        "name_close": "the quote has letters that are easily misread",
        "name_transliterated": "the quote has it in another script",
        "name_other_script": "the quote is in another script",
        "name_absent": "the name is not in the quote",
    }
    return undecided("name", code, details[code], places)
