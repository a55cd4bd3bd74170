"""Short quotes: the clause around one value, as an LLM quotes it.

The clause around a wrong value, with no right one inside, teaches the reader to say "none of
these". The clause around a right value keeps the balance; the question of another document has no
answer in the passage either.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recipes.invented.generators import shape_of
from safepassage.scoring_worker.training.reading.questions import (
    Place,
    ReadingQuestion,
)

_EDGE = re.compile(
    r"[.!?;]['\")\]]*\s+|,\s+|\n+|\s[-–—|]\s|\s\(|\)\s"
    r"|\s(?=(?:and|but|while|whereas|although|which|who|whose|or|then)\s)",
    re.IGNORECASE,
)
_FEWEST_WORDS = 3
"""Words that a quote has beside its value: a value alone names no field."""
_LETTERS_OF_A_WORD = 7
WRONG_SHARE = 0.6
WIDER_SHARE = 0.3
"""Share of the quotes that have one more clause."""


def cut_quotes(
    questions: Sequence[ReadingQuestion], share: float, seed: int
) -> Iterator[ReadingQuestion]:
    """For about ``share`` of the questions the quote around one of their values."""
    rng = random.Random(seed)
    for question in questions:
        if question.supported is not None or rng.random() >= share:
            continue
        wrong = bool(question.wrong) and (not question.answers or rng.random() < WRONG_SHARE)
        places = question.wrong if wrong else question.answers
        if not places:
            continue
        quote = _quote(question, rng.choice(places), rng, wrong=wrong)
        if quote is not None and quote != (0, len(question.passage)):
            yield _cut(question, quote)


def _quote(
    question: ReadingQuestion, value: Place, rng: random.Random, *, wrong: bool
) -> Place | None:
    """Where the quote around ``value`` begins and ends; None where no clause will do."""
    text, clauses = question.passage, _clauses(question)
    at = next((i for i, (a, b) in enumerate(clauses) if a <= value[0] and value[1] <= b), None)
    if at is None:
        return None
    first = last = at
    while not _says_enough(text[clauses[first][0] : clauses[last][1]], value):
        if first > 0 and (last + 1 >= len(clauses) or rng.random() < 0.6):
            first -= 1
        elif last + 1 < len(clauses):
            last += 1
        else:
            return None
    if rng.random() < WIDER_SHARE:
        if rng.random() < 0.5:
            first = max(0, first - 1)
        else:
            last = min(len(clauses) - 1, last + 1)
    quote = clauses[first][0], clauses[last][1]
    if wrong and _touches(quote, question.answers):
        quote = clauses[at]
        if _touches(quote, question.answers) or not _says_enough(text[slice(*quote)], value):
            return None
    return quote


def _clauses(question: ReadingQuestion) -> list[Place]:
    """The clauses of the passage; no edge is inside a value."""
    text, values = question.passage, [*question.answers, *question.wrong]
    starts, ends = [0], []
    for edge in _EDGE.finditer(text):
        if not _touches(edge.span(), values):
            ends.append(edge.start() + (text[edge.start()] in ".!?;"))
            starts.append(edge.end())
    return list(zip(starts, [*ends, len(text)], strict=True))


def _touches(stretch: Place, places: Sequence[Place]) -> bool:
    return any(stretch[0] < end and stretch[1] > start for start, end in places)


def _says_enough(text: str, value: Place) -> bool:
    words_of_value = max(1, (value[1] - value[0]) // _LETTERS_OF_A_WORD)
    return len(text.split()) - words_of_value >= _FEWEST_WORDS


def _cut(question: ReadingQuestion, quote: Place) -> ReadingQuestion:
    start, end = quote

    def kept(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple((a - start, b - start) for a, b in places if start <= a and b <= end)

    return replace(
        question,
        passage=question.passage[start:end],
        answers=kept(question.answers),
        wrong=kept(question.wrong),
        source=f"{question.source}+cut",
    )


def foreign_questions(
    questions: Sequence[ReadingQuestion], share: float, seed: int
) -> Iterator[ReadingQuestion]:
    """For about ``share`` of the questions the question of another document, whose answer is of
    the same shape: the passage has no answer to it."""
    rng = random.Random(seed)
    by_shape: dict[tuple[str, str], list[ReadingQuestion]] = {}
    for question in questions:
        if question.supported is None and question.answers:
            by_shape.setdefault((question.source, _shape(question)), []).append(question)
    for question in questions:
        if question.supported is not None or not question.answers or rng.random() >= share:
            continue
        other = rng.choice(by_shape[question.source, _shape(question)])
        if not _may_answer(question, other):
            yield replace(
                question,
                asked=other.asked,
                answers=(),
                wrong=tuple(dict.fromkeys((*question.wrong, *question.answers))),
                source=f"{question.source}+foreign",
            )


def _may_answer(question: ReadingQuestion, other: ReadingQuestion) -> bool:
    """Whether the passage of ``question`` may answer the question ``other``."""
    named = {form.casefold() for form in question.asked}
    if other.group == question.group or named & {form.casefold() for form in other.asked}:
        return True
    said = question.passage.casefold()
    return any(other.passage[start:end].casefold() in said for start, end in other.answers)


def _shape(question: ReadingQuestion) -> str:
    start, end = question.answers[0]
    return shape_of(question.passage[start:end])
