"""Claims to train on: sentences a passage entails or not, and which of their words it supports."""

import random
from collections.abc import Iterator, Sequence

from safepassage.scoring_worker.training.reading.questions import Place, ReadingQuestion

from .generators import SlotPool, field_name

_LONGEST_VALUE = 80


def value_claims(
    questions: Sequence[ReadingQuestion], pool: SlotPool, share: float, seed: int
) -> Iterator[ReadingQuestion]:
    """Right and wrong values as claims of the form "Type: Value", for ``share`` of the questions.

    A wrong claim has a wrong value of the passage, or one that is not there at all.
    """
    rng = random.Random(seed)
    for question in questions:
        if question.supported is not None or rng.random() >= share:
            continue
        wrong = rng.random() < 0.5
        places = question.wrong if wrong else question.answers
        value = None
        if wrong and (not places or rng.random() < 0.3):
            right = [question.passage[a:b] for a, b in question.answers]
            value = pool.another(question, right[0], rng) if right else None
        elif places:
            start, end = rng.choice(places)
            value = question.passage[start:end]
        if value and len(value) <= _LONGEST_VALUE:
            yield _value_claim(question, value, supported=not wrong, rng=rng)


def _value_claim(
    question: ReadingQuestion, value: str, *, supported: bool, rng: random.Random
) -> ReadingQuestion:
    asked = field_name(question) or rng.choice(question.asked)
    claim, place = stated(asked, value)
    return ReadingQuestion(
        passage=question.passage,
        asked=(claim,),
        supported=int(supported),
        unfounded=() if supported else (place,),
        source=f"{question.source}+claim",
        group=question.group,
        language=question.language,
    )


def stated(asked: str, value: str) -> tuple[str, Place]:
    """ "Type: Value", or the question and its answer; and where the value is in it."""
    stem = f"{asked.strip()} " if asked.rstrip().endswith("?") else f"{asked}: "
    return stem + value, (len(stem), len(stem) + len(value))


def altered_sentences(
    questions: Sequence[ReadingQuestion], pool: SlotPool, share: float, seed: int
) -> Iterator[ReadingQuestion]:
    """A sentence of the passage as a claim: as it is, shortened, or with a value exchanged."""
    rng = random.Random(seed)
    for question in questions:
        if question.supported is not None or not question.answers or rng.random() >= share:
            continue
        start, end = rng.choice(question.answers)
        text, value = question.passage, question.passage[start:end]
        if len(value) > _LONGEST_VALUE or len(text) > 320:
            continue
        other = pool.another(question, value, rng) or _wrong_value(question, rng)
        changed = other is not None and rng.random() < 0.55
        words = other if changed and other is not None else value
        before, after = _shortened(text[:start], text[end:], rng)
        yield ReadingQuestion(
            passage=text,
            asked=(before + words + after,),
            supported=int(not changed),
            unfounded=((len(before), len(before) + len(words)),) if changed else (),
            source=f"{question.source}+altered",
            group=question.group,
            language=question.language,
        )


def _wrong_value(question: ReadingQuestion, rng: random.Random) -> str | None:
    if not question.wrong:
        return None
    start, end = rng.choice(question.wrong)
    return question.passage[start:end]


def _shortened(before: str, after: str, rng: random.Random) -> tuple[str, str]:
    """What is around a value, sometimes cut at a comma or full stop."""
    if rng.random() < 0.5:
        return before, after
    for sign in (". ", ", "):
        if sign in before:
            before = before.rpartition(sign)[2]
            break
    for sign in (". ", ", ", "; "):
        if sign in after:
            after = after.partition(sign)[0] + "."
            break
    return before, after
