"""Is the value denied, supposed, or said of someone else, at the places where it is?

*Denied* everywhere, by words whose reach is beyond doubt, is another value: different. Anything
weaker is for the judge, with a finding that says what was read. A type that asks for what is
denied ("Excluded Risks") is never refused for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, cast

from safepassage.schemas import Finding, FindingCode
from safepassage.scoring_worker.text.closed_classes import word_list

from ..contract import Comparison, Passage, Place, Question
from .cancelled_rows import cancelled_row
from .cued_text import MAX_AROUND, MAX_QUOTE, Cue, CuedText
from .languages import Telling, languages, telling
from .scopes import Scope, denies, is_break, scoped
from .tokens import small_words, small_words_of, tokens_of
from .type_words import (
    asks_for,
    context_of_type,
    denied_words_of_type,
    same_stem,
    sentence_around,
    words_of_type,
)

MAX_PLACES = 32
"""Places of a value that are read; where more are, the last ones are as the first."""
_FIGURES = frozenset({"number", "money", "quantity", "date", "identifier"})
_READ_KINDS = frozenset({*_FIGURES, "name", "words", "category"})
_GENERIC = word_list("generic_types")
"""Types that ask for no more than a mention: who is said not to have come is mentioned."""
Seen = Literal[
    "denied", "denial_near", "denied_twice", "superseded", "only_planned", "only_supposed",
    "hypothetical", "of_someone_else", "someone_else_near",
]  # fmt: skip
_NEAR, _UNDONE_NEAR = 2, 5
"""Words between a "not" and what it surely denies; and as many behind a name's; and between
what is not done and its "not" ("the pumps from Halden are not ordered")."""
_LISTED_NEAR, _ONCE_NEAR = 3, 1
_SAID: dict[Seen, str] = {
    "denied": "the passage denies it",
    "denial_near": "the passage denies something beside it",
    "denied_twice": "the passage denies twice",
    "superseded": "the passage gives another in its place",
    "only_planned": "the passage only plans it",
    "only_supposed": "the passage only supposes it",
    "hypothetical": "the passage only supposes it",
    "of_someone_else": "the passage says it of someone else",
    "someone_else_near": "the passage speaks of someone else before it",
}
_ELSEWHERE: dict[Seen, Seen] = {
    "superseded": "denied",
    "only_planned": "denied",
    "only_supposed": "hypothetical",
}
"""What counts as which at a place beside one that is free of it."""
_DECISIVE: frozenset[Seen] = frozenset(
    {"denied", "superseded", "only_planned", "only_supposed", "of_someone_else"}
)
_SETTLED: frozenset[Seen] = _DECISIVE | {"hypothetical"}
"""At a place with one of these, nothing affirms the value."""
_CONTEXT_REACH = 6
"""Words behind the value among which that is looked for of which it is said."""
_RIGHT_BESIDE = 60
_TWICE = 3
"""Words between two denials of which the second is denied by the first ("not without")."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one cue, ``words``, makes of one place of the value."""

    code: Seen
    words: str


def read_denial(question: Question, comparison: Comparison, *, named: bool = False) -> Comparison:
    """``comparison`` after the passage was read for denials around the places of the value.
    ``named`` says that the type asks for the name of a person, a company or a place.

    The answer may become *different* or *not_comparable* and never *same*.
    """
    if comparison.answer == "different" or comparison.kind not in _READ_KINDS:
        return comparison
    if not comparison.places or question.entity_type.strip().casefold() in _GENERIC:
        return comparison
    known = question.passage.language
    if known is not None and known.casefold()[:2] not in languages():
        return _unread(comparison)
    figure = comparison.kind in _FIGURES
    if figure and not _may_be_denied(question.passage, comparison.places):
        return comparison
    if not figure and not may_deny(question.passage):
        return comparison
    reading, scopes = scoped(question.passage)
    by_place = [
        _sightings(question, comparison.kind, reading, scopes, place, named=named)
        for place in comparison.places[:MAX_PLACES]
    ]
    return _decide(question, comparison, by_place)


@lru_cache(maxsize=256)
def may_deny(passage: Passage) -> bool:
    """Whether a passage has any word that a denial or a hypothesis needs; most have none, and
    this takes a tenth of the time of reading them."""
    around = passage.before[-MAX_AROUND:], passage.after[:MAX_AROUND]
    words = small_words_of(passage.quote[:MAX_QUOTE], *around, *passage.between)
    return _telling_of(passage).among(words)


def _telling_of(passage: Passage) -> Telling:
    known = passage.language.casefold()[:2] if passage.language is not None else None
    return telling(known if known in languages() else None)


def _may_be_denied(passage: Passage, places: Sequence[Place]) -> bool:
    """Whether a word with which denials begin is right beside a figure. Few figures have one,
    and for the others the passage need not be read."""
    if any(passage.between):
        return may_deny(passage)
    known = _telling_of(passage)
    for place in places[:MAX_PLACES]:
        near = passage.quote[max(0, place.start - _RIGHT_BESIDE) : place.start]
        if known.among(small_words(f"{passage.before} {near}"[-_RIGHT_BESIDE:])):
            return True
        if known.among(small_words(passage.quote[place.end : place.end + _RIGHT_BESIDE])):
            return True
    return False


def places_denied(passage: Passage, places: Sequence[Place]) -> frozenset[Place]:
    """Those of ``places`` in the quote that are denied or excepted beyond doubt."""
    reading, scopes = scoped(passage)
    denied = set()
    for place in places[:MAX_PLACES]:
        first, last = reading.span(place)
        if any(
            scope.sense == "denied"
            and scope.start <= first < scope.end
            and _is_sure(reading, scope, (first, last), "category", personal=False)
            for scope in scopes
        ):
            denied.add(place)
    return frozenset(denied)


def _unread(comparison: Comparison) -> Comparison:
    """In a language without a list of denials, words found are words found and no more."""
    if comparison.kind in _FIGURES:
        return comparison
    finding = Finding(code="denial_unread", detail="denials in this language are not read")
    return replace(comparison, answer="not_comparable", findings=(*comparison.findings, finding))


def _decide(
    question: Question, comparison: Comparison, by_place: Sequence[Sequence[Sighting]]
) -> Comparison:
    seen = list(dict.fromkeys(sighting for sightings in by_place for sighting in sightings))
    if not seen:
        return comparison
    codes = [{sighting.code for sighting in sightings} for sightings in by_place]
    if not all(codes):
        # One place is free of it: that place may be the answer.
        return replace(comparison, findings=(*comparison.findings, *_findings(seen, "_elsewhere")))
    denied = all("denied" in found for found in codes)
    if denied and (asks_for(question.entity_type, "asks") or _asks_in_words(question, seen)):
        detail = f"the type asks for what the passage denies: {seen[0].words!r}"
        findings = [Finding(code="denial_asked", detail=detail)]
    elif all(found & _SETTLED for found in codes):
        decisive = [sighting for sighting in seen if sighting.code in _DECISIVE]
        findings = _findings(decisive or seen)
    else:
        findings = _findings([s for s in seen if s.code in _DECISIVE], "_elsewhere")
        findings += _findings([s for s in seen if s.code not in _DECISIVE])
    # A contradiction among them makes it different.
    return replace(comparison, answer="not_comparable", findings=(*comparison.findings, *findings))


def _asks_in_words(question: Question, seen: Sequence[Sighting]) -> bool:
    """Whether the type has the denial's own word: "Unable to terminate" for what is unable."""
    asked = words_of_type(question.entity_type)
    return any(word in asked for s in seen if s.code == "denied" for word in s.words.split()[:1])


def _findings(
    sightings: Sequence[Sighting], where: Literal["", "_elsewhere"] = ""
) -> list[Finding]:
    """A finding for each code; ``_elsewhere`` for cues over some places of the value, where another
    place may be the answer."""
    codes: dict[Seen, list[str]] = {}
    for sighting in sightings:
        codes.setdefault(sighting.code, []).append(repr(sighting.words))
    return [
        Finding(
            code=cast(FindingCode, f"{_ELSEWHERE.get(code, code) if where else code}{where}"),
            detail=f"{_SAID[code]}: {', '.join(words[:4])}"[:500],
        )
        for code, words in codes.items()
    ]


def _sightings(
    question: Question,
    kind: str,
    reading: CuedText,
    scopes: Sequence[Scope],
    place: Place,
    *,
    named: bool,
) -> list[Sighting]:
    first, last = reading.span(place)
    if first == last:
        return []
    found = [one for one in scopes if _covers(question, kind, reading, one, (first, last))]
    denials = [scope for scope in found if scope.sense == "denied"]
    twice = _denied_twice(reading, denials)
    personal = kind == "name" and _is_full_name(reading, first, last)
    sightings = []
    for scope in denials:
        sure = not _denies_context(question, reading, scope, (first, last)) and _is_sure(
            reading, scope, (first, last), kind, personal=personal
        )
        code: Seen = "denied_twice" if twice else "denied" if sure else "denial_near"
        sightings.append(Sighting(code, reading.words(scope.cue.start, scope.cue.end)))
    cancelled = None if kind in _FIGURES else cancelled_row(reading, first, last)
    if cancelled is not None:
        # A cancelled order still has the supplier that it had.
        sightings.append(Sighting("denial_near" if named else "denied", cancelled))
    # The type's own word denied beside the value: "Rust is a plus but not required".
    said = denied_words_of_type(question.entity_type, reading, scopes, (first, last))
    if said is not None and kind not in _FIGURES:
        sightings.append(Sighting("denial_near" if personal else "denied", said))
    supposed = not asks_for(question.entity_type, "asks if")
    of_another = not asks_for(question.entity_type, "asks someone")
    for scope in found:
        words = reading.words(scope.cue.start, scope.cue.end)
        if scope.sense == "supposed" and supposed:
            # Right before the value it says no more than that it may be: "possible rash".
            beside = first == scope.cue.end and not scope.backward
            only = kind not in _FIGURES and beside and "unsure" in scope.cue.sections
            sightings.append(Sighting("only_supposed" if only else "hypothetical", words))
        elif scope.sense in ("superseded", "planned"):
            of_noun = kind not in _FIGURES  # whose words "of 480" and "for 3 May" are not
            sightings += _of_another_time(question, reading, scope, (first, last), of_noun=of_noun)
        elif scope.sense == "of_another" and of_another:
            surely = _is_of_another(reading, scope.cue)
            sightings.append(Sighting("of_someone_else" if surely else "someone_else_near", words))
    return sightings


def _of_another_time(
    question: Question,
    reading: CuedText,
    scope: Scope,
    value: tuple[int, int],
    *,
    of_noun: bool,
) -> Iterator[Sighting]:
    """What ``scope`` makes of the value where it says that another is in its place, or that it was
    to come and did not; nothing where the type asks for that."""
    first, last = value
    words = reading.words(scope.cue.start, scope.cue.end)
    asked = any(asks_for(question.entity_type, section) for section in ("asks once", "asks"))
    if asked or any(
        same_stem(word.casefold(), wanted)
        for word in words.split()
        for wanted in words_of_type(question.entity_type)
    ):
        return
    if scope.sense == "planned":
        end = sentence_around(reading, first, last)[1]
        if any(reading.is_in("turned", at) for at in range(last, end)):
            yield Sighting("only_planned", words)
    elif scope.backward:
        linked = of_noun and first > 0 and reading.is_in("prepositions", first - 1)
        surely = scope.end == last and not linked
        yield Sighting("superseded" if surely else "denial_near", words)
    else:
        between = range(scope.cue.end, first)
        linked = of_noun and any(reading.is_in("prepositions", at) for at in between)
        near = _ONCE_NEAR if of_noun and "once" in scope.cue.sections else _LISTED_NEAR
        parting = sum(of_noun or not _is_of_field(question, reading, at) for at in between)
        surely = parting <= near and not linked and not _is_told(reading, scope.cue)
        yield Sighting("superseded" if surely else "denial_near", words)


def _denies_context(
    question: Question, reading: CuedText, scope: Scope, value: tuple[int, int]
) -> bool:
    """Whether what is denied is what the value is said of: "no significant findings" and
    "not received treatment" deny the findings and the treatment, and the value with them or not.
    """
    context = context_of_type(question.entity_type)
    first, last = value
    if not context or scope.backward:
        return False
    ahead = range(last, min(scope.end, last + _CONTEXT_REACH))
    beside = [scope.cue.end] if scope.cue.end < first else []
    return any(
        same_stem(reading.tokens[at].text, word) for at in (*ahead, *beside) for word in context
    )


def _covers(
    question: Question, kind: str, reading: CuedText, scope: Scope, value: tuple[int, int]
) -> bool:
    first, last = value
    inside = first <= scope.cue.start and scope.cue.end <= last
    if inside:
        return scope.sense == "denied" and not _denies_itself(str(question.value))
    reached = scope.start <= first < scope.end or scope.start < last <= scope.end
    if not reached:
        return False
    if kind in _FIGURES and scope.sense in ("superseded", "planned"):
        between = range(last, scope.cue.start) if scope.backward else range(scope.cue.end, first)
        behind = scope.cue.start >= last if scope.backward else first >= scope.cue.end
        return behind and sum(not _is_of_field(question, reading, at) for at in between) <= _NEAR
    if kind in _FIGURES:
        # "was not paid on 5 May" says nothing of the date, "not on 5 May" does.
        near = 1 if scope.negator or scope.sense == "supposed" else -1
        return not scope.backward and first - scope.cue.end <= near
    return scope.sense != "of_another" or kind != "name"


def _is_of_field(question: Question, reading: CuedText, at: int) -> bool:
    """Whether a word is the field's, its article or its verb: "previously the rent was 900"."""
    if reading.is_in("article", at) or reading.is_in("verbs", at):
        return True
    word = reading.tokens[at].text
    return any(same_stem(word, wanted) for wanted in words_of_type(question.entity_type))


@lru_cache(maxsize=1024)
def _denies_itself(value: str) -> bool:
    """Whether the value has a denial of its own ("not accepted")."""
    return denies(value[:2_000]) or any(
        asks_for(token.text, "asks") for token in tokens_of(value[:2_000]) if token.is_word
    )


def _is_sure(
    reading: CuedText, scope: Scope, value: tuple[int, int], kind: str, *, personal: bool
) -> bool:
    """Whether ``scope`` denies the value beyond doubt, and no other word of its clause."""
    first = value[0]
    if not scope.cue.sure:
        return False
    if kind in _FIGURES:
        return first == scope.cue.end
    if scope.backward:
        return _surely_behind(reading, scope, value, personal=personal)
    gap = first - scope.cue.end
    if scope.negator:
        # "not a family-friendly restaurant" may well be a restaurant, "not a citizen of Iran"
        # is no Iranian.
        article = scope.cue.end - scope.cue.start > 1
        linked = any(reading.is_in("prepositions", at) for at in range(scope.cue.end, first))
        return gap <= _NEAR and (gap <= 0 or linked or not article)
    return not personal and (gap <= _LISTED_NEAR or reading.is_listed(scope.cue.end, first))


def _surely_behind(
    reading: CuedText, scope: Scope, value: tuple[int, int], *, personal: bool
) -> bool:
    """The same of a cue behind the value."""
    first, last = value
    gap = scope.cue.start - last
    if first > 0 and reading.is_in("prepositions", first - 1):
        return False
    if scope.undone:
        return gap <= _UNDONE_NEAR
    beside = _is_attribute(reading, scope) or _takes_object(reading, scope.cue)
    return gap <= _NEAR and not personal and not beside


def _is_of_another(reading: CuedText, cue: Cue) -> bool:
    """Whether ``cue`` speaks of another person beyond doubt: "family history of", "his mother
    had". Of "the mother" and "his mother's house" nobody knows whose facts follow."""
    if "family" in cue.sections:
        return True
    whose = cue.start > 0 and reading.is_in("whose", cue.start - 1)
    return whose and cue.end < len(reading.tokens) and reading.is_in("verbs", cue.end)


def _is_attribute(reading: CuedText, scope: Scope) -> bool:
    """Whether a single word such as "negative" belongs to a noun behind it: "HER2 negative breast
    cancer" says nothing of what is before."""
    at = scope.cue.end
    if scope.cue.end - scope.cue.start > 1 or at >= len(reading.tokens):
        return False
    following = reading.tokens[at]
    return following.is_word and not any(
        reading.is_in(section, at) for section in ("words", "prepositions", "verbs", "close", "and")
    )


def _takes_object(reading: CuedText, cue: Cue) -> bool:
    """Whether a single word such as "dismissed" is the verb of what is before it: "The court
    dismissed the action"."""
    following = cue.end < len(reading.tokens) and reading.is_in("article", cue.end)
    return following and cue.end - cue.start == 1


def _is_told(reading: CuedText, cue: Cue) -> bool:
    """Whether a verb tells what was done, and by whom is not said: "Replaced the seal" has no other
    thing in the seal's place."""
    begins = cue.start == 0 or is_break(reading, cue.start - 1)
    return begins and "instead" in cue.sections and _takes_object(reading, cue)


def _is_full_name(reading: CuedText, first: int, last: int) -> bool:
    """Two capitalised words or more: what is denied beside a person is seldom the person."""
    words = [t for t in reading.tokens[first:last] if t.is_word]
    return len(words) > 1 and all(reading.text[t.start].isupper() for t in words)


def _denied_twice(reading: CuedText, denials: Sequence[Scope]) -> bool:
    """Whether one denial denies the next ("not without"), where a language does not merely
    repeat itself so."""
    if any(language.concord for language in reading.languages):
        return False
    forward = [scope.cue for scope in denials if not scope.backward]
    backward = [scope.cue for scope in denials if scope.backward]
    return bool(forward and backward) or any(
        0 <= later.start - earlier.end <= _TWICE
        and not reading.is_listed(earlier.end, later.start)
        and "no" not in earlier.sections
        for earlier, later in pairwise(forward)
    )
