"""Whether a quote holds the words of a value, in any script and at any length.

Words that are not there prove nothing by themselves: an LLM may have put "married" for "his wife".
So words are *different* only where the quote shows another value in the very place: another figure
between the same words, or another acronym of the same shape. The rest is for the judge to read.
"""

import re
from collections.abc import Sequence
from itertools import islice

from safepassage.schemas import Finding, FindingCode
from safepassage.scoring_worker.text.segmentation import LONGEST_TEXT, Word, words_of

from ..contract import Comparison, Kind, Passage, Place, different, undecided
from .acronyms import Spelling, spelling
from .word_agreement import inflects, same_but_misread, with_hangul_particle
from .word_runs import MOST_PLACES, runs_of

_MOST_NAMED = 8
"""Missing words that a finding names."""
_CANDIDATES = 32
"""Words of the quote with the same first letters that are looked at for one missing word."""


def compare_words(value: str, passage: Passage) -> Comparison:
    """Compare the words of ``value`` with the quote.

    *Same*: all of them in a row, without regard to case, accents or hyphens; ``places`` are all
    such rows. *Not comparable*: all there but scattered (words in another order may say another
    thing), in another form, or missing. *Different*: another figure, or another acronym, in their
    place. Never raises; linear in both texts.
    """
    sought, quoted = words_of(value), words_of(passage.quote)
    found = quoted_in_a_row(value, sought, passage, quoted, "words")
    if found:
        return found
    places, missing = _look_up(sought, quoted)
    outside = outside_quote(sought, passage)
    rival = _other_figure(sought, quoted)
    if rival:
        detail = "another figure is in its place"
        return different("words", "figure_differs", detail, (rival,), outside)
    spelt = spelling(sought, value, quoted, passage.quote) if not places else None
    if spelt:
        return of_spelling(spelt, "words", outside)
    findings = (_seen(sought, missing, places), *outside)
    return Comparison("not_comparable", "words", places[:MOST_PLACES], findings=findings)


def quoted_in_a_row(
    value: str, sought: Sequence[Word], passage: Passage, quoted: Sequence[Word], kind: Kind
) -> Comparison | None:
    """The answer where the quote holds the words of ``value`` in a row, or the value has none;
    None where the words have to be looked at one by one."""
    if len(value) > LONGEST_TEXT:
        return undecided(kind, "value_too_long", f"longer than {LONGEST_TEXT} characters")
    if not sought:
        return _literally(value.strip(), passage.quote, kind)
    runs = runs_of(sought, quoted)
    if runs.places:
        accents = Finding(code="accents_differ", detail="the same but for accents")
        findings = () if runs.exact else (accents,)
        return Comparison("same", kind, runs.places, findings=findings)
    if len(sought) == 1:
        exact = sought[0].keys.exact
        forms = (word for word in quoted if with_hangul_particle(exact, word.keys.exact))
        places = tuple(Place(word.start, word.end) for word in islice(forms, MOST_PLACES))
        if places:
            return Comparison("same", kind, places)
    if runs.respaced:
        return undecided(kind, "spacing_differs", "written with other blanks", runs.respaced)
    return None


def outside_quote(sought: Sequence[Word], passage: Passage) -> tuple[Finding, ...]:
    """A finding where the words are around the quote and so are not quoted."""
    around = {"before": passage.before, "after": passage.after, "heading": passage.heading}
    for where, text in around.items():
        if text and runs_of(sought, words_of(text)).places:
            detail = f"is {where} the quote" if where != "heading" else "is in the heading"
            return (Finding(code="outside_quote", detail=detail),)
    return ()


def of_spelling(found: Spelling, kind: Kind, more: tuple[Finding, ...]) -> Comparison:
    """The answer where an acronym represents words, may, or represents others."""
    place = (found.place,)
    if found.verdict == "spelt":
        finding = Finding(code="acronym_spelt", detail="words of the quote spell the acronym")
        return Comparison("same", kind, place, findings=(finding,))
    if found.verdict == "possible":
        return undecided(kind, "acronym_possible", "the initials agree", place, more)
    return different(kind, "acronym_differs", "another acronym of the same shape", place, more)


def _literally(value: str, quote: str, kind: Kind) -> Comparison:
    """A value without words ("✓", "—") is looked for as it is."""
    found = islice(re.finditer(re.escape(value), quote), MOST_PLACES) if value else ()
    places = tuple(Place(*match.span()) for match in found)
    return Comparison("same" if places else "not_comparable", kind, places)


def _look_up(
    sought: Sequence[Word], quoted: Sequence[Word]
) -> tuple[tuple[Place, ...], list[Word]]:
    """The places of the words that the quote has, merged where they touch, and those that it has
    not. A word in another form is neither."""
    at: dict[str, list[Word]] = {}
    beginnings: dict[str, list[Word]] = {}
    for word in quoted:
        for key in {word.keys.plain, word.keys.spelt}:
            at.setdefault(key, []).append(word)
            near = beginnings.setdefault(key[:3], [])
            if len(near) < _CANDIDATES:
                near.append(word)
    found: list[Word] = []
    missing: list[Word] = []
    for key, word in {word.keys.plain: word for word in sought}.items():
        same = at.get(key) or at.get(word.keys.spelt)
        if same:
            found.extend(same[:MOST_PLACES])
        else:
            others = [other.keys.plain for other in beginnings.get(key[:3], ())]
            if not any(inflects(key, other) or same_but_misread(key, other) for other in others):
                missing.append(word)
    return _merged(found), missing


def _merged(words: list[Word]) -> tuple[Place, ...]:
    places: list[Place] = []
    for word in sorted(set(words), key=lambda word: word.start):
        if places and word.start - places[-1].end <= 1:
            places[-1] = Place(places[-1].start, word.end)
        else:
            places.append(Place(word.start, word.end))
    return tuple(places)


def _seen(sought: Sequence[Word], missing: list[Word], places: tuple[Place, ...]) -> Finding:
    if missing:
        named = ", ".join(word.keys.exact[:40] for word in missing[:_MOST_NAMED])
        return Finding(code="words_missing", detail=f"{len(missing)} not in the quote: {named}")
    several = len(places) > 1 or len(sought) > 1
    code: FindingCode = "words_scattered" if several else "word_inflected"
    return Finding(code=code, detail="all there, in other places or forms")


def _other_figure(sought: Sequence[Word], quoted: Sequence[Word]) -> Place | None:
    """Where the quote has another figure in the place of one of the value's: behind the same word
    and, where the value goes on, before the same word. None where the figure is anywhere."""
    known = {_figure(word) for word in quoted}
    wanted = [n for n, word in enumerate(sought) if n and _figure(word)]
    if not wanted or any(_figure(sought[n]) in known for n in wanted):
        return None
    behind: dict[str, list[int]] = {}
    for number, word in enumerate(quoted[1:], start=1):
        if _figure(word):
            behind.setdefault(quoted[number - 1].keys.plain, []).append(number)
    for n in wanted:
        label = sought[n - 1].keys.plain
        for number in behind.get(label, ())[:_CANDIDATES] if len(label) > 2 else ():
            following = sought[n + 1].keys if n + 1 < len(sought) else None
            if following is None or (
                number + 1 < len(quoted) and quoted[number + 1].keys.plain == following.plain
            ):
                return Place(quoted[number].start, quoted[number].end)
    return None


def _figure(word: Word) -> str:
    """The digits of a whole number without leading zeros; empty for other words."""
    return (word.keys.plain.lstrip("0") or "0") if word.keys.plain.isdigit() else ""
