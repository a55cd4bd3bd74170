"""What no annotated corpus has enough of: denial, supposition, condition, and labelled forms.

Each generator takes questions of a corpus (their slots, values and passages) and makes new ones
whose answer is known by construction. A value that the passage denies is a wrong one, and its
tokens are taught to be none; beside it are wordings in which a word of negation denies nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from safepassage.scoring_worker.training.reading.questions import Place, ReadingQuestion

from .wordings import WORDINGS, Wordings

_MARKS = re.compile(r"\{([vwtab])\}")
LONGEST_VALUE = 60
LONGEST_NAME = 40


@dataclass
class SlotPool:
    """Values seen for every slot of a corpus, so that another value of the same slot is at hand."""

    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    by_source: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, questions: Sequence[ReadingQuestion]) -> SlotPool:
        """The slots and right values of ``questions``: names short enough to head a field."""
        pool = cls()
        for question in questions:
            name = field_name(question)
            if name is None:
                continue
            for start, end in question.answers:
                value = question.passage[start:end]
                if len(value) <= LONGEST_VALUE:
                    pool.values.setdefault((question.source, name), []).append(value)
        for source, name in pool.values:
            pool.by_source.setdefault(source, []).append((source, name))
        return pool

    def another(self, question: ReadingQuestion, value: str, rng: random.Random) -> str | None:
        """Another value of the same slot; None if it is missing within a few draws."""
        name = field_name(question)
        values = self.values.get((question.source, name or ""), [])
        for _ in range(4):
            if values:
                other = rng.choice(values)
                if not _same(other, value) and other.lower() not in question.passage.lower():
                    return other
        return None


def field_name(question: ReadingQuestion) -> str | None:
    """The form of the question that reads as the name of a field; None where all are questions.

    A form that is another one without its question mark is a question too.
    """
    asked = {form.rstrip(" ?").lower() for form in question.asked if form.rstrip().endswith("?")}
    for form in question.asked:
        short = len(form) <= LONGEST_NAME and form[:1].strip()
        if short and not form.rstrip().endswith("?") and form.lower() not in asked:
            return form
    return None


def _same(left: str, right: str) -> bool:
    left, right = left.lower().strip(), right.lower().strip()
    return left in right or right in left


def filled(wording: str, **values: str) -> tuple[str, dict[str, list[Place]]]:
    """``wording`` with its marks filled in, and where each mark's text is."""
    parts: list[str] = []
    places: dict[str, list[Place]] = {}
    length = at = 0
    for mark in _MARKS.finditer(wording):
        before, text = wording[at : mark.start()], values[mark[1]]
        start = length + len(before)
        parts += [before, text]
        length = start + len(text)
        places.setdefault(mark[1], []).append((start, length))
        at = mark.end()
    return "".join([*parts, wording[at:]]), places


def rewritten(
    question: ReadingQuestion, pool: SlotPool, rng: random.Random
) -> ReadingQuestion | None:
    """The passage with its value replaced by a wording that denies it, or only seems to."""
    words = WORDINGS.get(question.language)
    if words is None or len(question.answers) != 1 or question.supported is not None:
        return None
    start, end = question.answers[0]
    value = question.passage[start:end]
    other = pool.another(question, value, rng)
    if other is None or len(value) > LONGEST_VALUE:
        return None
    denies = rng.random() < 0.75
    wording = rng.choice(words.replaced if denies else words.joined)
    text, places = filled(wording, v=value, w=other)
    passage = question.passage[:start] + text + question.passage[end:]

    def moved(place: Place) -> Place:
        return (place[0] + start, place[1] + start)

    shift = len(text) - (end - start)
    apart = [p for p in question.wrong if p[1] <= start or p[0] >= end]
    wrong = [p if p[1] <= start else (p[0] + shift, p[1] + shift) for p in apart]
    old, new = [moved(p) for p in places["v"]], [moved(p) for p in places["w"]]
    return replace(
        question,
        passage=passage,
        answers=tuple(new if denies else [*old, *new]),
        wrong=tuple([*wrong, *old] if denies else wrong),
        source=f"{question.source}+rewritten",
    )


def sentence(
    question: ReadingQuestion, pool: SlotPool, rng: random.Random
) -> ReadingQuestion | None:
    """A sentence of its own that states, denies or supposes a value, alone or between others."""
    words, name = WORDINGS.get(question.language), field_name(question)
    if words is None or name is None or not question.answers:
        return None
    start, end = rng.choice(question.answers)
    value = question.passage[start:end]
    if len(value) > LONGEST_VALUE:
        return None
    kind = rng.choices(("stated", "denied", "supposed"), (0.4, 0.4, 0.2))[0]
    wording = rng.choice(getattr(words, kind))
    text, places = filled(wording, v=value, t=_cased(name, rng))
    passage, shift = _among_others(text, question, pool, words, rng)
    there = tuple((a + shift, b + shift) for a, b in places["v"])
    return replace(
        question,
        passage=passage,
        answers=there if kind == "stated" else (),
        wrong=() if kind == "stated" else there,
        source=f"{question.source}+{kind}",
    )


def _among_others(
    text: str, question: ReadingQuestion, pool: SlotPool, words: Wordings, rng: random.Random
) -> tuple[str, int]:
    """``text`` between sentences on other slots of the same corpus, and how far it moved."""
    names = pool.by_source.get(question.source, [])
    mine = question.asked
    others: list[str] = []
    for _ in range(rng.choice((0, 1, 1, 2))):
        if names:
            source, name = rng.choice(names)
            if name not in mine:
                made = filled(
                    rng.choice(words.stated),
                    v=rng.choice(pool.values[source, name]),
                    t=_cased(name, rng),
                )
                others.append(made[0])
    cut = rng.randint(0, len(others))
    joint = rng.choice((" ", " ", "\n"))
    before = joint.join([*others[:cut], ""]) if cut else ""
    after = joint.join(["", *others[cut:]]) if others[cut:] else ""
    return before + text + after, len(before)


def conditional(
    question: ReadingQuestion, pool: SlotPool, rng: random.Random
) -> ReadingQuestion | None:
    """Two values of one slot under two conditions, and a question for one of them."""
    words, name = WORDINGS.get(question.language), field_name(question)
    if words is None or name is None or not question.answers:
        return None
    start, end = rng.choice(question.answers)
    value = question.passage[start:end]
    other = pool.another(question, value, rng)
    if other is None or max(len(value), len(other)) > LONGEST_VALUE:
        return None
    first, second, absent = rng.sample(words.conditions, 3)
    text, places = filled(
        rng.choice(words.conditional), v=value, w=other, t=_cased(name, rng), a=first, b=second
    )
    wanted = rng.choices((first, second, absent), (0.42, 0.42, 0.16))[0]
    forms = tuple(
        form.replace("{t}", name).replace("{c}", wanted)
        for form in rng.sample(words.asked_for, min(2, len(words.asked_for)))
    )
    right = {first: "v", second: "w"}.get(wanted)
    return replace(
        question,
        passage=text,
        asked=forms,
        answers=tuple(places[right]) if right else (),
        wrong=tuple(p for mark in "vw" if mark != right for p in places[mark]),
        source=f"{question.source}+conditional",
    )


def form(question: ReadingQuestion, pool: SlotPool, rng: random.Random) -> ReadingQuestion | None:
    """Labelled fields one below the other, in a row, or as a table; one is asked for, or none."""
    name = field_name(question)
    names = [entry for entry in pool.by_source.get(question.source, []) if entry[1] != name]
    if name is None or len(names) < 3 or not question.answers:
        return None
    start, end = rng.choice(question.answers)
    value = question.passage[start:end]
    if len(value) > LONGEST_VALUE:
        return None
    chosen = rng.sample(names, min(len(names), rng.randint(2, 6)))
    fields = [(n, rng.choice(pool.values[s, n])) for s, n in chosen]
    absent = rng.random() < 0.15
    if not absent:
        fields.insert(rng.randint(0, len(fields)), (name, value))
    passage, places = rng.choice(_LAYOUTS)(fields, rng)
    if overlapping(places):
        return None
    right = [p for (n, _), p in zip(fields, places, strict=True) if n == name]
    wrong = [
        p for (n, v), p in zip(fields, places, strict=True) if n != name and not _same(v, value)
    ]
    return replace(
        question,
        passage=passage,
        answers=tuple(right),
        wrong=tuple(wrong),
        source=f"{question.source}+form",
    )


def overlapping(places: Iterable[Place]) -> bool:
    """Whether any two of ``places`` share a code point."""
    ordered = sorted(places)
    return any(left[1] > right[0] for left, right in pairwise(ordered))


def shape_of(value: str) -> str:
    """How a value looks: "figure" with a digit, "name" with a capital first, else "words"."""
    if any(map(str.isdigit, value)):
        return "figure"
    return "name" if value[:1].isupper() else "words"


Fields = list[tuple[str, str]]


def _lines(fields: Fields, rng: random.Random) -> tuple[str, list[Place]]:
    sign = rng.choice((": ", ": ", " - ", "\t", " ... ", ":\n", " = ", " | "))
    joint = rng.choice(("\n", "\n", ". ", "; ", "  ", ", "))
    return _laid_out([f"{_cased(n, rng)}{sign}" for n, _ in fields], fields, joint)


def _values_first(fields: Fields, rng: random.Random) -> tuple[str, list[Place]]:
    parts, places, at = [], [], 0
    joint = rng.choice(("\n", "; ", ", "))
    for name, value in fields:
        text = f"{value} ({_cased(name, rng)})"
        parts.append(text)
        places.append((at, at + len(value)))
        at += len(text) + len(joint)
    return joint.join(parts), places


def _table(fields: Fields, rng: random.Random) -> tuple[str, list[Place]]:
    bar = rng.choice((" | ", "\t", "  "))
    head = bar.join(_cased(name, rng) for name, _ in fields) + "\n"
    places, at = [], len(head)
    for _, value in fields:
        places.append((at, at + len(value)))
        at += len(value) + len(bar)
    return head + bar.join(value for _, value in fields), places


def _laid_out(labels: list[str], fields: Fields, joint: str) -> tuple[str, list[Place]]:
    parts, places, at = [], [], 0
    for label, (_, value) in zip(labels, fields, strict=True):
        places.append((at + len(label), at + len(label) + len(value)))
        parts.append(label + value)
        at += len(label) + len(value) + len(joint)
    return joint.join(parts), places


_LAYOUTS: tuple[Callable[[Fields, random.Random], tuple[str, list[Place]]], ...] = (
    _lines,
    _lines,
    _lines,
    _values_first,
    _table,
)


def _cased(name: str, rng: random.Random) -> str:
    """A field's name as people write it: as it is, in capitals, in small letters."""
    return rng.choice((name, name, name.lower(), name.upper(), name.capitalize()))


Generator = Callable[[ReadingQuestion, SlotPool, random.Random], ReadingQuestion | None]
GENERATORS: dict[str, Generator] = {
    "rewritten": rewritten,
    "sentence": sentence,
    "conditional": conditional,
    "form": form,
}


def generated(
    questions: Sequence[ReadingQuestion], shares: dict[str, float], seed: int
) -> Iterator[ReadingQuestion]:
    """New questions from ``questions``: of each generator about ``shares`` of their number.

    A passage in a language without wordings gives forms only.
    """
    rng = random.Random(seed)
    pool = SlotPool.of(questions)
    for question in questions:
        for name, share in shares.items():
            made = GENERATORS[name](question, pool, rng) if rng.random() < share else None
            if made is not None:
                yield made
