"""Quotes that name their field: right for that field in other words, wrong for its neighbours.

"The deposit is £2,500." answers *Deposit* and *Security deposit*, and not *Rent*. A type of several
forms gives the right ones. Another type of the same source, with values of the same shape, gives
the wrong ones, and so does a qualifier: a former, a requested or another person's rent is no rent.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recipes.invented.generators import (
    LONGEST_NAME,
    LONGEST_VALUE,
    filled,
    shape_of,
)
from safepassage.scoring_worker.training.reading.questions import (
    ReadingQuestion,
)

WORDINGS = (
    "{t}: {v}", "{t} {v}", "{t} - {v}", "{t}: {v}.", "{v} ({t})", "The {t} is {v}.",
    "The {t} was {v}", "the {t} is {v}", "{v} is the {t}.", "{t} = {v}", "Its {t} is {v}.",
    "We have {v} as the {t}.", "{v} was given as {t}", "with {v} as its {t}", "{t}\t{v}",
    "The {t}, {v}, is on file.", "Please note the {t} of {v}.", "It names {v} as {t}.",
)  # fmt: skip
QUALIFIERS = (
    "former", "previous", "next", "requested", "proposed", "estimated", "minimum", "maximum",
    "original", "alternative", "rejected", "provisional", "other", "first", "second", "final",
    "claimed", "expected", "average", "the neighbour's", "the other party's", "the sender's",
    "the supplier's", "last year's",
)  # fmt: skip
RIGHT_SHARE = 0.42
QUALIFIED_SHARE = 0.35
"""Of the wrong ones; the others name another type of the source."""
RELATED_SHARE = 0.5
"""Of the other types, those that share a word with the one that is asked for."""


@dataclass(frozen=True, slots=True)
class _Field:
    question: ReadingQuestion
    names: tuple[str, ...]
    value: str

    @property
    def shape(self) -> str:
        return shape_of(self.value)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for name in self.names for word in name.lower().split())


def label_quotes(
    questions: Sequence[ReadingQuestion], share: float, seed: int
) -> Iterator[ReadingQuestion]:
    """For about ``share`` of the questions a quote that names their field, or another one."""
    rng = random.Random(seed)
    fields = [field for question in questions if (field := _field(question, rng))]
    by_kind: dict[tuple[str, str], list[_Field]] = {}
    for field in fields:
        by_kind.setdefault((field.question.source, field.shape), []).append(field)
    for field in fields:
        if rng.random() >= share:
            continue
        if rng.random() < RIGHT_SHARE:
            yield _right(field, rng)
            continue
        wrong = _wrong(field, by_kind[field.question.source, field.shape], rng)
        if wrong is not None:
            yield wrong


def _field(question: ReadingQuestion, rng: random.Random) -> _Field | None:
    if question.supported is not None or not question.answers:
        return None
    names = tuple(
        form
        for form in question.asked
        if len(form) <= LONGEST_NAME and form.strip() and not form.rstrip().endswith("?")
    )
    start, end = rng.choice(question.answers)
    value = question.passage[start:end]
    if not names or not 1 < len(value) <= LONGEST_VALUE:
        return None
    return _Field(question, names, value)


def _right(field: _Field, rng: random.Random) -> ReadingQuestion:
    """The quote has the type's name in another form, where there is one."""
    asked = rng.choice(field.names)
    others = [name for name in field.names if name != asked] or [asked]
    said = rng.choice(others) if rng.random() < 0.7 else asked
    if rng.random() < 0.25:
        qualifier = rng.choice(QUALIFIERS)
        return _quote(field, f"{qualifier} {asked}", f"{qualifier} {said}", rng, right=True)
    return _quote(field, asked, said, rng, right=True)


def _wrong(field: _Field, kin: Sequence[_Field], rng: random.Random) -> ReadingQuestion | None:
    asked = rng.choice(field.names)
    if rng.random() < QUALIFIED_SHARE:
        one, other = rng.sample(QUALIFIERS, 2)
        wanted = asked if rng.random() < 0.6 else f"{other} {asked}"
        return _quote(field, wanted, f"{one} {asked}", rng, right=False)
    drawn = [rng.choice(kin) for _ in range(24)]
    apart = [one for one in drawn if not _alike(field.words, one.words)]
    related = [one for one in apart if field.words & one.words]
    if related and rng.random() < RELATED_SHARE:
        apart = related
    if not apart:
        return None
    return _quote(field, asked, rng.choice(rng.choice(apart).names), rng, right=False)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two types may ask for the same: the words of one hold those of the other."""
    return one <= other or other <= one


def _quote(
    field: _Field, asked: str, said: str, rng: random.Random, *, right: bool
) -> ReadingQuestion:
    cased = rng.choice((said, said.lower(), said.capitalize(), said.title()))
    text, places = filled(rng.choice(WORDINGS), v=field.value, t=cased)
    found = tuple(places["v"])
    return replace(
        field.question,
        passage=text,
        asked=(rng.choice((asked, asked.title(), asked.capitalize())),),
        answers=found if right else (),
        wrong=() if right else found,
        source=f"{field.question.source}+label",
    )
