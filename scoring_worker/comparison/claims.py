"""Sentences of an answer: what can be said of them without reading them as a whole.

A claim may count, convert, round and conclude, so that little of it is a contradiction. What is
one: the claim repeats a sentence of the passage but for a figure or date, which is nowhere in
what was retrieved, or but for a denial. It need not repeat all of it where the figure is an amount
with its unit that cannot have been reckoned from those of the passage.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from safepassage.passages.claim_content import content_of
from safepassage.passages.sentence_splitting import sentences
from safepassage.passages.words import placed_words
from safepassage.schemas import Finding, FindingCode

from .contract import Comparison, Passage, Place, Question
from .dates import dates_in
from .dates.partial_date import relation
from .denials.scopes import scoped
from .figures.arithmetic import may_be_reckoned
from .figures.comparator import compare_figure
from .figures.figure import Figure, FigureReading
from .figures.search import figures_in

MAX_CLAIM = 5_000
MAX_SENTENCES = 64
"""Sentences of a passage that are held against a claim."""
_FEWEST = 2
"""Words besides its figures that a claim has to share with a sentence to repeat it."""
_MOST_OF_IT = 0.7
"""Share of a claim's words in a sentence that then speaks of the same. Of the written answers with
which it was tuned it stops 8 wrong sentences and none of 860 right ones, and none of 3,250 right
ones of the development half, RAGTruth and ExpertQA."""
_OF_UNITS: Sequence[FindingCode] = ("currency_differs", "unit_differs")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence: its text, the stems of its words without figures and denials, and how often it
    denies and supposes."""

    text: str
    words: frozenset[str]
    denials: int
    conditions: int


def compare_claim(question: Question) -> Comparison:
    """*Different* only where the claim repeats a sentence of the passage but for a figure or a
    denial. Elsewhere the findings say whether a figure of the claim is missing, and whether only
    one of the two denies something. Never raises; linear in claim and passage."""
    passage = question.passage
    claim = content_of(str(question.value)[:MAX_CLAIM])
    figures = [one for one in figures_in(claim, passage.language) if _counts(one)]
    compared = [(one, compare_figure(one, passage)) for one in figures]
    missing = [(one, seen) for one, seen in compared if seen.answer == "different"]
    mine = _said(claim, passage.language)
    places = islice(sentences(passage.quote), MAX_SENTENCES)
    theirs = [_said(passage.quote[start:end], passage.language) for start, end in places]
    findings = [_of_figure(question, mine, theirs, one, seen) for one, seen in missing]
    if not any(found.contradicts for found in findings):
        findings += _of_dates(question, mine, theirs)
    findings += _of_denial(mine, theirs)
    seen_at = dict.fromkeys(place for _, seen in compared for place in seen.places)
    rivals = dict.fromkeys(place for _, seen in missing for place in seen.rivals)
    return Comparison(
        "not_comparable",
        "claim",
        tuple(seen_at),
        tuple(place for place in rivals if place not in seen_at),
        tuple(sorted(findings, key=lambda found: not found.contradicts)[:3]),
    )


def _counts(figure: Figure) -> bool:
    """Whether a figure is one of its own; the article "a" is no 1."""
    return figure.part == "whole" and figure.stands


def _of_figure(
    question: Question, claim: _Said, passage: Sequence[_Said], figure: Figure, seen: Comparison
) -> Finding:
    (found,) = seen.findings
    of_unit: FindingCode | None = next((one for one in _OF_UNITS if one == found.code), None)
    exact = figure.bound in ("none", "exactly")
    gone = of_unit is not None or _is_nowhere(question, figure.number)
    repeated = list(_in_its_place(claim, passage, figure, question.passage.language))
    differs = any(_is_another(figure, one) for one in repeated)
    differs = differs or _is_beside_another(passage, claim, figure, question.passage.language)
    differs = differs and not _may_be_reckoned(question, claim, figure)
    if exact and gone and (differs or (of_unit and repeated)):
        return Finding(code=of_unit or "number_differs", detail=found.detail)
    return Finding(code="figure_unseen", detail=found.detail)


def _is_beside_another(
    passage: Sequence[_Said], claim: _Said, figure: Figure, language: str | None
) -> bool:
    """Whether a sentence that speaks of the same has another amount of the unit of ``figure``,
    which is an amount in digits. To the cent, one word in common is enough."""
    if figure.kind not in ("money", "quantity") or not any(map(str.isdecimal, figure.digits)):
        return False
    mine = figure.readings[0]
    to_the_cent = bool(mine.currencies) and mine.step < 1
    fewest = 1 if to_the_cent else max(_FEWEST, _MOST_OF_IT * len(claim.words))
    near = (one for one in passage if len(one.words & claim.words) >= fewest)
    others = (one for said in near for one in figures_in(said.text, language) if _counts(one))
    return any(_is_of_unit(mine, one) and _is_another(figure, one) for one in others)


def _may_be_reckoned(question: Question, claim: _Said, figure: Figure) -> bool:
    language, mine = question.passage.language, figure.readings[0]
    known = (*figures_in(question.passage.quote, language), *figures_in(claim.text, language))
    amounts = (one.readings[0].amount for one in known if one.readings)
    return may_be_reckoned(mine.amount, mine.step, amounts)


def _is_of_unit(mine: FigureReading, other: Figure) -> bool:
    return any(
        one.unit == mine.unit and bool(one.currencies) == bool(mine.currencies)
        for one in other.readings
    )


def _of_dates(question: Question, claim: _Said, passage: Sequence[_Said]) -> Iterator[Finding]:
    """A finding for each full day or month that nothing retrieved has, where a sentence with all
    words of the claim has another."""
    asked = question.passage
    dates = dates_in(claim.text, asked.language, asked.day_first)
    stated = [word for one in dates for word in placed_words(claim.text[one.start : one.end])]
    words = claim.words - {word.stem for word in stated}
    if not dates or len(words) < _FEWEST:
        return
    said = (one for one in passage if words <= one.words)
    beside = [one for each in said for one in dates_in(each.text, asked.language, asked.day_first)]
    known = dates_in(asked.quote, asked.language, asked.day_first)
    for date in dates if beside else ():
        dated = date.certainty == "stated" and date.month is not None and len(date.readings) == 1
        nowhere = dated and _is_nowhere(question, Place(date.start, date.end))
        if nowhere and all(relation(date, one) == "differs" for one in known):
            yield Finding(
                code="date_differs",
                detail=f"passage says {', '.join(map(str, beside[:3]))}; claim says {date}",
            )


def _is_nowhere(question: Question, place: Place) -> bool:
    """Whether nothing that was retrieved has the number at ``place`` of the claim."""
    if question.absent is None:
        return True
    return any(start < place.end and place.start < end for start, end in question.absent)


def _in_its_place(
    claim: _Said, passage: Sequence[_Said], figure: Figure, language: str | None
) -> Iterator[Figure]:
    """The figures that sentences of the passage with all words of the claim have in the place of
    ``figure``: behind the same word, before the same, and alone there."""
    if len(claim.words) < _FEWEST:
        return
    place = _neighbours(claim.text, figure)
    for sentence in passage:
        if claim.words <= sentence.words:
            others = [one for one in figures_in(sentence.text, language) if _counts(one)]
            alike = [one for one in others if _neighbours(sentence.text, one) == place]
            if len(alike) == 1:
                yield alike[0]


def _is_another(figure: Figure, other: Figure) -> bool:
    """Whether two figures are of one kind and further apart than the first one is rounded."""
    if figure.kind != other.kind or not figure.readings or not other.readings:
        return False
    return all(
        abs(mine.amount - theirs.amount) >= mine.step
        for mine in figure.readings
        for theirs in other.readings
    )


def _neighbours(text: str, figure: Figure) -> tuple[str, str]:
    """The stems of the words right before and right behind a figure; "" where it is missing."""
    words = [word for word in placed_words(text) if not _DIGIT.search(word.stem)]
    before = [word.stem for word in words if word.end <= figure.place.start]
    after = [word.stem for word in words if word.start >= figure.place.end]
    return (before[-1] if before else ""), (after[0] if after else "")


def _of_denial(mine: _Said, theirs: Sequence[_Said]) -> Iterator[Finding]:
    detail = "one of claim and passage denies, the other does not"
    same = [one for one in theirs if one.words == mine.words and len(mine.words) >= _FEWEST]
    # One denial, and nothing that may lift or restrict it, parts the two.
    alone = (one.denials + mine.denials == 1 and one.conditions == mine.conditions for one in same)
    if same and all(alone):
        yield Finding(code="denial_differs", detail=detail)
        return
    nearest = max(theirs, key=lambda one: len(one.words & mine.words), default=mine)
    if bool(mine.denials) != bool(nearest.denials):
        yield Finding(code="denial_unsure", detail=detail)


def _said(sentence: str, language: str | None) -> _Said:
    reading, scopes = scoped(Passage(sentence, language=language))
    denials = {scope.cue for scope in scopes if scope.sense in ("denied", "excepted")}
    conditions = {scope.cue for scope in scopes if scope.sense == "supposed"}
    # Of "not allowed" only the "not" denies, and that is no content word anyhow.
    alone = {cue.start for cue in denials if cue.end - cue.start == 1}
    places = [(reading.tokens[at].start, reading.tokens[at].end) for at in alone]
    words = frozenset(
        word.stem
        for word in placed_words(sentence)
        if not _DIGIT.search(word.stem)
        and not any(start < word.end and word.start < end for start, end in places)
    )
    return _Said(sentence, words, len(denials), len(conditions))
