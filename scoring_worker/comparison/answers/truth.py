"""Yes and no: what a row of a form answers, and what a sentence denies of the type's own words."""

from functools import lru_cache
from itertools import islice

from pydantic import JsonValue

from safepassage.schemas import Finding

from ..contract import Comparison, Place, Question, different, undecided
from ..denials.cued_text import CuedText
from ..denials.languages import in_any
from ..denials.scopes import Scope, scoped
from ..denials.tokens import phrase_of
from ..denials.type_words import asks_for, mentions_of_type, sentence_around
from .entries import entries_of, is_labelled, place_of, said

_LONGEST_ANSWER = 20
_MOST_PLACES = 32


def truth_of(value: JsonValue) -> bool | None:
    """What a value that is no more than yes or no says; None for any other value."""
    if isinstance(value, str):
        return _truth_of_words(value) if len(value) <= _LONGEST_ANSWER else None
    return value if isinstance(value, bool) else None


@lru_cache(maxsize=256)
def _truth_of_words(value: str) -> bool | None:
    phrase = phrase_of(value)
    if phrase in in_any("yes"):
        return True
    return False if phrase in in_any("no answer") else None


def compare_truth(question: Question, wanted: bool) -> Comparison:
    """Compare yes or no with what the quote says about the type.

    *Same* and *different* only where a row labelled with the type's words answers, or where these
    words are denied; that they merely occur says nothing ("remote work up to three days").
    """
    reading, scopes = scoped(question.passage)
    if reading.unread:
        return undecided("truth", "denial_unread", "denials in this language are not read")
    answered = _answers(question, reading)
    if answered:
        return _decide(wanted, answered)
    return _by_denial(question, wanted, reading, scopes)


def _answers(question: Question, reading: CuedText) -> list[tuple[bool, tuple[Place, ...]]]:
    passage = question.passage
    found = []
    for entry in entries_of(reading, passage):
        if not is_labelled(entry, question.entity_type):
            continue
        place = place_of(reading, passage, entry.start, entry.end)
        if said(reading, entry, "yes said"):
            found.append((True, place))
        elif said(reading, entry, "no said"):
            found.append((False, place))
    return found


def _decide(wanted: bool, answered: list[tuple[bool, tuple[Place, ...]]]) -> Comparison:
    agreeing = tuple(place for answer, places in answered if answer is wanted for place in places)
    others = tuple(place for answer, places in answered if answer is not wanted for place in places)
    if agreeing:
        return Comparison("same" if not others else "not_comparable", "truth", agreeing, others)
    answer = "no" if wanted else "yes"
    return different("truth", "answer_differs", f"the passage answers {answer}", others)


def _by_denial(
    question: Question, wanted: bool, reading: CuedText, scopes: tuple[Scope, ...]
) -> Comparison:
    passage = question.passage
    first, last = reading.span(Place(0, len(passage.quote)))
    mentions = mentions_of_type(question.entity_type, reading, scopes, first, last, near=False)
    told = islice(mentions, _MOST_PLACES)
    places = tuple(place for at in told for place in place_of(reading, passage, at, at + 1))
    denied = [words for words in mentions.values() if words is not None]
    unsure = asks_for(question.entity_type, "asks") or len(denied) < len(mentions)
    if not denied or unsure or any(_is_lifted(reading, scopes, at) for at in mentions):
        return Comparison("not_comparable", "truth", places)
    if not wanted:
        return Comparison("same", "truth", places)
    finding = Finding(code="denied", detail=f"the passage says {denied[0]!r}"[:500])
    return Comparison("different", "truth", places, findings=(finding,))


def _is_lifted(reading: CuedText, scopes: tuple[Scope, ...], at: int) -> bool:
    """Whether the sentence takes its denial back in part: "may not assign without consent"."""
    start, end = sentence_around(reading, at, at, len(reading.tokens))
    here = [scope for scope in scopes if start <= scope.cue.start < end]
    if any(scope.sense == "supposed" for scope in here):
        return True
    cues = {scope.cue.start for scope in here if scope.sense == "denied"}
    # "and" or a comma between the denials coordinates them: "does not smoke and never has".
    return (
        len(cues) > 1
        and not any(lang.concord for lang in reading.languages)
        and not reading.is_listed(min(cues), max(cues))
    )
