"""Whether every content word of a value is founded: the passage says it, in some form.

"Gestational diabetes" is another value than "type 2 diabetes", however much of it is quoted. A
word is founded where the quote, its label, its column head or the heading has it in a form that
is proved here, or where it repeats the entity type. One that nothing founds makes the value
*different*, with the finding ``word_differs``. Scripts without blanks have no words to look up,
and a word in a script that the passage does not use may be there in another one: neither decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from safepassage.schemas import Finding
from safepassage.scoring_worker.text.language import language_of
from safepassage.scoring_worker.text.segmentation import Word, words_of

from .contract import Comparison, Place, Question
from .dates.search import dates_in
from .figures.agreement import agreement
from .figures.figure import Figure
from .figures.search import figures_in
from .names.acronyms import acronyms
from .names.comparator import SEVERAL_WORDS
from .names.names_by_language import codes_in
from .names.parts import without_form
from .names.types import name_kind
from .names.word_agreement import mistyped, same_in_english, same_name, same_word
from .other_words import gaps
from .passage_words import PassageWords, has_content, is_letter, is_pointed, joined

_READ_ELSEWHERE = frozenset(
    {
        "acronym_possible", "name_other_script", "name_transliterated", "spacing_differs",
        "value_too_long",
    }
)  # fmt: skip
"""Findings after which the words are there in a form that no look-up of words can see."""
_NAMED = 3
"""Words that a finding names."""


def with_founded_words(question: Question, compared: Comparison) -> Comparison:
    """``compared``, *different* where a content word of the value is founded by nothing.

    Asked of text that the comparators of words and names could not decide. Not asked where the
    schema lists the values, or says that they may be in other words (``words: reader``): then the
    reader chooses. So it does where reviewers approved the quote's words in the place of all such
    words. Linear in both texts.
    """
    value = question.value
    if question.words == "reader" or question.allowed or not isinstance(value, str):
        return compared
    if compared.answer != "not_comparable" or compared.kind not in {"words", "name"}:
        return compared
    if _READ_ELSEWHERE & {finding.code for finding in compared.findings}:
        return compared
    said = PassageWords(question.passage, question.entity_type)
    content = _content(value, name=compared.kind == "name")
    founded = {
        *_in_figures(value, content, said),
        *_in_acronyms(value, content, said),
        *_in_one(value, content, said),
    }
    missing = [word for word in content if word not in founded and not said.holds(word, content)]
    person = name_kind(question.entity_type) == "person"
    same = partial(
        _is_form,
        language=said.language,
        proper=compared.kind == "name",
        respelt=not person,
        typed=not person and len(content) >= SEVERAL_WORDS,
    )
    missing = [word for word in missing if not any(same(word, key) for key in said.keys)]
    missing = list(_not_named_elsewhere(value, missing, said)) if missing else []
    if not missing or _is_translated(question, said.language, len(missing), len(content)):
        return compared
    return _decided(
        question, compared, missing, [said.in_place_of(one, content) for one in missing]
    )


def _decided(
    question: Question,
    compared: Comparison,
    missing: Sequence[Word],
    places: Sequence[Place | None],
) -> Comparison:
    """``compared`` of a value with unfounded words: *different*, but where all are approved."""
    if question.approved_words:
        known = question.approved_words
        offered = gaps(question, missing, places)
        found = [next((one for one in gap if one.key in known), None) for gap in offered]
        if approved := tuple(one for one in found if one) if all(found) else ():
            at = compared.places or tuple(one.place for one in approved)
            return replace(compared, places=at, other_words=approved)
    named = zip(missing[:_NAMED], places, strict=False)
    detail = "; ".join(_detail(word, place, question) for word, place in named)
    finding = Finding(code="word_differs", detail=detail[:500])
    rivals = tuple(dict.fromkeys(filter(None, places[:_NAMED])))
    taught = [next(gap, None) for gap in gaps(question, missing, places, learning=True)]
    return replace(
        compared,
        answer="different",
        rivals=rivals or compared.rivals,
        findings=(finding, *compared.findings),
        other_words=tuple(one for one in taught if one) if all(taught) else (),
    )


def _is_translated(question: Question, language: str | None, missing: int, words: int) -> bool:
    """Whether the value is English as its type is, and the passage is not: then most of its words
    cannot be there, and the reader has to read."""
    if language in (None, "en") or 2 * missing <= words:
        return False
    return language_of(f"{question.entity_type} {question.value}")[0] == "en"


def without_words_finding(compared: Comparison) -> Comparison:
    """``compared`` as it was before `with_founded_words`, where that alone made it *different*."""
    findings = tuple(one for one in compared.findings if one.code != "word_differs")
    if len(findings) == len(compared.findings) or any(one.contradicts for one in findings):
        return compared
    return replace(compared, answer="not_comparable", findings=findings, other_words=())


def _detail(word: Word, place: Place | None, question: Question) -> str:
    own = word.text[word.start : word.end][:60]
    if place is None:
        return f"“{own}” is not in the quote"
    return f"the quote has “{question.passage.quote[place.start : place.end][:60]}” for “{own}”"


def _content(value: str, *, name: bool) -> list[Word]:
    """The words of ``value`` that say what it is: no small words, no form of a company, and no
    initials, which the comparator of names reads."""
    words = words_of(value)
    kept = without_form(words)[0] if name else words
    said = (word for word in kept if has_content(word) or (word.start and is_letter(word)))
    return [word for word in said if not (is_letter(word) and is_pointed(word))]


def _is_form(
    word: Word, other: str, language: str | None, *, proper: bool, respelt: bool, typed: bool
) -> bool:
    """Whether ``other`` is the value's ``word`` in another form; of ``proper`` names in capitals
    other ones are than of running text. ``respelt``: it may be British or American; ``typed``: it
    may be mistyped."""
    key = word.keys.plain
    if is_letter(word):
        return False
    if not (proper and word.text[word.start].isupper()):
        return same_word(key, other, language)
    return (
        same_name(key, other, language)
        or (respelt and same_in_english(key, other))
        or (typed and mistyped(key, other))
    )


def _in_figures(value: str, content: Sequence[Word], said: PassageWords) -> Iterator[Word]:
    """The words of figures and dates that the passage has in any notation, and of the number of
    a figure whose unit it does not repeat."""
    for figure in figures_in(value, said.language):
        if any(agreement(figure, other, None).level for other in said.figures):
            yield from _within(content, figure.place)
        elif any(_same_number(figure, other) for other in said.figures):
            yield from _within(content, figure.number)
    order = said.passage.day_first
    dates = [one for text in said.texts for one in dates_in(text, said.language, order)]
    for date in dates_in(value, said.language, order) if dates else ():
        if any(set(date.readings) & set(other.readings) for other in dates):
            yield from _within(content, Place(date.start, date.end))


def _same_number(one: Figure, other: Figure) -> bool:
    theirs = {(reading.amount, reading.high) for reading in other.readings}
    return any((reading.amount, reading.high) in theirs for reading in one.readings)


def _within(content: Sequence[Word], place: Place) -> Iterator[Word]:
    """Of a letter nothing else can say what it says: the article is no A of "hepatitis A"."""
    inside = (word for word in content if place.start <= word.start and word.end <= place.end)
    return (word for word in inside if not is_letter(word))


def _in_acronyms(value: str, content: Sequence[Word], said: PassageWords) -> Iterator[Word]:
    """Words of the value that an acronym of the passage represents, and acronyms of the value
    that words of the passage spell."""
    for text in said.texts:
        quoted = [word for word in words_of(text) if has_content(word)]
        for acronym in acronyms(words_of(text), text):
            yield from _spelt(acronym.letters, content)
        for acronym in acronyms(words_of(value), value):
            if next(_spelt(acronym.letters, quoted), None):
                yield from _within(content, acronym.place)


def _in_one(value: str, content: Sequence[Word], said: PassageWords) -> Iterator[Word]:
    """Words of the value in a row that the passage writes in one."""
    for written, place in joined(words_of(value)):
        if written in said.keys:
            yield from _within(content, place)


def _spelt(letters: str, words: Sequence[Word]) -> Iterator[Word]:
    """The words in a row whose initials are ``letters``."""
    initials = "".join(word.keys.plain[:1] for word in words)
    at = initials.find(letters) if len(initials) == len(words) else -1
    if at >= 0:
        yield from words[at : at + len(letters)]


def _not_named_elsewhere(value: str, missing: Sequence[Word], said: PassageWords) -> Iterator[Word]:
    """``missing`` without the words of a country or a language that the passage names in
    another tongue or by its code."""
    there = {code for text in said.texts for code, _ in codes_in(text, said.language)}
    named = [place for code, place in codes_in(value, said.language) if code in there]
    for word in missing:
        if not any(place.start <= word.start and word.end <= place.end for place in named):
            yield word
