"""Whether a quote names a person, an organisation or a place, in any script.

The same name may be given with titles, with a further given name, surname first, or with initials
in the value where the quote has the names. One letter changed is another name (Jensen, Jansen),
unless a scanner confuses the letters or the language puts endings on names. A name that the quote
gives only in part, in another script or as an acronym is for the judge to read.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from safepassage.schemas import Finding, FindingCode
from safepassage.scoring_worker.text.language import script_of
from safepassage.scoring_worker.text.segmentation import Word, words_of

from ..contract import Comparison, Passage, different, undecided
from .absence import absent_name
from .acronyms import spelling
from .parts import NameParts, form_at, is_initial, parts_of, place_of
from .scripts_without_blanks import compare_solid, is_solid
from .types import name_kind
from .windows import Missing, Quoted, Relation, Window, window_at
from .word_agreement import mistyped
from .word_runs import runs_of
from .words import compare_words, of_spelling, outside_quote, quoted_in_a_row

_UNLIKE = frozenset({"absent", "other", "other_initial"})
_MOST_PARTS = 12
SEVERAL_WORDS = 4
_BRACKETED = re.compile(r"\((?=[^()\s]*[A-Z])[^()\s]{2,8}\)")
"""An acronym that is in brackets inside a name: "United States (U.S.) Department"."""
_MOST_WINDOWS = 32
"""Places of the quote that are read around, however often the name's words are there."""


def compare_names(value: str, passage: Passage, entity_type: str = "") -> Comparison:
    """Compare the name ``value`` with the names in the quote.

    *Same*: the name is there, with the places. *Different*: another name is in its place,
    with its place as a rival and ``name_differs``. *Not comparable*: it is there in part,
    inflected, misread or in another script. Never raises; linear in the quote.
    """
    sought = words_of(value)
    if len(sought) > _MOST_PARTS * 2 or not sought:
        return compare_words(value, passage)
    quote = passage.quote
    words = words_of(quote)
    found = quoted_in_a_row(value, sought, passage, words, "name")
    if found:
        return found
    parts = parts_of(sought, value)
    found = _without_company(sought, parts, words)
    if found:
        return found
    outside = outside_quote(sought, passage)
    kind = name_kind(entity_type)
    if is_solid(value):
        return compare_solid(sought, value, words, quote, kind=kind, outside=outside)
    flat = quote.isupper() or quote.islower()  # capitals tell nothing
    quoted = Quoted(words, quote, flat, passage.language, kind)
    answer, loose = _in_windows(parts, quoted, entity_type) or (None, True)
    if loose:
        spelt = spelling(sought, value, words, quote)
        if spelt and (answer is None or spelt.verdict != "other"):
            return of_spelling(spelt, "name", outside)
    if answer is not None and answer.answer == "not_comparable" and _BRACKETED.search(quote):
        # Blanks in place of the brackets: no place in the quote moves.
        bare = _BRACKETED.sub(lambda found: " " * len(found[0]), quote)
        again = quoted_in_a_row(value, sought, passage, words_of(bare), "name")
        answer = again or answer
    answer = answer or absent_name(parts.core, quoted, script_of(value), bool(outside))
    return replace(answer, findings=(*answer.findings, *outside))


def _without_company(
    sought: Sequence[Word], parts: NameParts, words: Sequence[Word]
) -> Comparison | None:
    """The name in a row without its titles and its form of a company, which may not be another."""
    core = parts.core
    in_a_row = sought[sought.index(core[0]) : sought.index(core[-1]) + 1]
    if len(in_a_row) == len(sought) or (len(core) == 1 and is_initial(core[0])):
        return None
    runs = runs_of(in_a_row, words)
    if not runs.places:
        return None
    behind = {word.end: number + 1 for number, word in enumerate(words)}
    others = [form_at(words, behind[place.end]) for place in runs.places]
    if parts.form and all(others) and parts.form not in others:
        return different("name", "name_differs", "another form of company", runs.places)
    return Comparison("same", "name", runs.places)


def _in_windows(
    parts: NameParts, quoted: Quoted, entity_type: str
) -> tuple[Comparison, bool] | None:
    """The answer of the span that holds most of the name, the undecided one of two that hold as
    much, and whether it is *different* by a word that is like none of the name; None where no
    span holds any."""
    best: tuple[Comparison, bool] | None = None
    highest = -1, False
    for position in _anchors(parts.core, quoted.words):
        window = window_at(parts.core, position, quoted)
        answer = _read(window, parts, quoted, entity_type)
        unlike = sum(missing.relation in _UNLIKE for missing in window.missing)
        liked = any(m.relation in {"slip", "other_initial"} for m in window.missing)
        loose = answer.answer == "different" and not liked
        if answer.answer == "same":
            return answer, loose
        rank = len(parts.core) - unlike, answer.answer == "not_comparable"
        if rank > highest:
            best, highest = (answer, loose), rank
    return best


def _anchors(core: Sequence[Word], words: Sequence[Word]) -> list[int]:
    keys = {key for part in core if not is_initial(part) for key in part.keys[1:]}
    anchors = [n for n, word in enumerate(words) if keys & {word.keys.plain, word.keys.spelt}]
    return anchors[:_MOST_WINDOWS]


def _read(window: Window, parts: NameParts, quoted: Quoted, entity_type: str) -> Comparison:
    if not window.missing:
        if window.spread:
            detail = "its parts may be of two names"
            return undecided("name", "name_scattered", detail, (window.place,))
        turned = list(window.found) != sorted(window.found)
        order = (Finding(code="name_order", detail="other order"),) if turned else ()
        return Comparison("same", "name", (window.place,), findings=order)
    for missing in window.missing:
        if _decides(missing, parts, quoted, entity_type):
            rival = quoted.words[missing.rival]
            given = quoted.text[rival.start : rival.end][:60]
            wanted = parts.text[missing.part.start : missing.part.end][:60]
            detail = f"the quote has {given} for {wanted}"
            return different("name", "name_differs", detail, (place_of(rival),))
    codes: dict[Relation, FindingCode] = {
        "initial": "name_initial",
        "misread": "name_close",
        "slip": "name_close",
        "inflected": "name_inflected",
    }
    relations = [m.relation for m in window.missing if m.relation in codes]
    seen = codes[relations[0]] if relations else "name_partial"
    return undecided("name", seen, "the quote has it in part or in another form", (window.place,))


def _decides(missing: Missing, parts: NameParts, quoted: Quoted, entity_type: str) -> bool:
    """Whether what is in the place of a part shows that another is named.

    A word *before* the part that is there may be an office ("President Smith"), so that it shows
    another person only where persons are asked for and the sentence has already begun.
    """
    if missing.relation == "slip" and _is_typing_error(missing, parts, quoted):
        return False
    if missing.relation in {"slip", "other_initial"}:
        return missing.relation == "slip" or missing.side == "behind" or _dotted(missing, quoted)
    if missing.relation != "other" or quoted.flat:
        return False
    if not quoted.text[quoted.words[missing.rival].start].isupper():
        return False  # without capitals it may be any word
    if missing.side == "behind":
        return True
    asked = {word.keys.plain for word in words_of(entity_type)}
    rival = quoted.words[missing.rival]
    return (
        quoted.kind == "person"
        and quoted.language != "de"  # capitals on every noun
        and rival.keys.plain not in asked
        and missing.rival > 0
        and not quoted.text[: rival.start].rstrip().endswith((".", "!", "?"))
        and len(parts.core) > 1
    )


def _is_typing_error(missing: Missing, parts: NameParts, quoted: Quoted) -> bool:
    """Whether the word is mistyped rather than another: in a name of several words that is no
    person's ("Canda Border Services Agency")."""
    rival = quoted.words[missing.rival].keys.plain
    several = len(parts.core) >= SEVERAL_WORDS - (quoted.kind == "organisation")
    return several and quoted.kind != "person" and mistyped(missing.part.keys.plain, rival)


def _dotted(missing: Missing, quoted: Quoted) -> bool:
    """An initial with its point is no other word."""
    rival = quoted.words[missing.rival]
    return is_initial(rival) and quoted.text[rival.end : rival.end + 1] == "."
