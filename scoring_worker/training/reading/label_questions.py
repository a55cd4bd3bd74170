"""Labelled pairs as questions: what reviewers and graders decided, as the reader is taught.

A pair is asked what the scorer asks of it (`safepassage.scoring_worker.weighing.questions`): which
words answer its type, where the comparators find the value in the passage, and whether "Type:
Value" follows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from safepassage.schemas import CLAIM_TYPE
from safepassage.schemas.hypothesis import render_value
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair
from safepassage.scoring_worker.weighing.questions import Part, parts_of

from .questions import Place, ReadingQuestion, places_of

LONGEST = 400
"""Characters of a passage to train on; of a longer one what is around the value is shown."""


def questions_of(pairs: Iterable[LabelledPair]) -> list[ReadingQuestion]:
    """What ``pairs`` teach, in order: one question for each passage and type with all known values,
    and every pair as a claim. An unsupported value with several parts teaches nothing: no label
    says which part is wrong."""
    asked: dict[tuple[str, str], ReadingQuestion] = {}
    claims: list[ReadingQuestion] = []
    for pair in pairs:
        for taught in _taught(pair):
            if taught.supported is not None:
                claims.append(taught)
                continue
            key = taught.passage, taught.asked[0]
            asked[key] = _together(asked[key], taught) if key in asked else taught
    return [*asked.values(), *claims]


@dataclass(frozen=True, slots=True)
class _Labelled:
    pair: LabelledPair
    part: Part


def _taught(pair: LabelledPair) -> Iterator[ReadingQuestion]:
    parts = parts_of(pair.pair)
    if len(parts) > 1 and not pair.label:
        return
    for part in parts:
        places = _places(part)
        if part.question is not None and places:
            yield _question(_Labelled(pair, part), places)
        yield _claim(_Labelled(pair, part), places)


def _places(part: Part) -> tuple[Place, ...]:
    """Where the value is in the text that the reader reads."""
    if part.question is None or part.comparison.answer == "different":
        return ()
    if part.comparison.places:
        return tuple((p.start + part.shift, p.end + part.shift) for p in part.comparison.places)
    return tuple(places_of(render_value(part.asked.value), part.question.passage))


def _question(labelled: _Labelled, places: Sequence[Place]) -> ReadingQuestion:
    part, label = labelled.part, labelled.pair.label
    assert part.question is not None  # noqa: S101 (for the type checker; `_taught` knows)
    passage, shown = _shown(part.question.passage, places)
    return ReadingQuestion(
        passage=passage,
        asked=(part.question.asked,),
        answers=shown if label else (),
        wrong=() if label else shown,
        source=labelled.pair.kind,
        group=labelled.pair.group,
        exhaustive=bool(label),
    )


def _claim(labelled: _Labelled, places: Sequence[Place]) -> ReadingQuestion:
    claim, label = labelled.part.claim, labelled.pair.label
    free = labelled.part.asked.entity_type == CLAIM_TYPE
    value = render_value(labelled.part.asked.value)
    unfounded: tuple[Place, ...] | None = ()
    if not label:
        there = claim.asked.endswith(value) and value and not free
        unfounded = ((len(claim.asked) - len(value), len(claim.asked)),) if there else None
    return ReadingQuestion(
        passage=_shown(claim.passage, places)[0],
        asked=(claim.asked,),
        supported=label,
        unfounded=unfounded,
        source=labelled.pair.kind,
        group=labelled.pair.group,
    )


def _shown(passage: str, places: Sequence[Place]) -> tuple[str, tuple[Place, ...]]:
    """A stretch of at most `LONGEST` characters around the first place, and the places in it."""
    if len(passage) <= LONGEST:
        return passage, tuple(places)
    first = places[0] if places else (0, 0)
    start = max(0, min((first[0] + first[1] - LONGEST) // 2, len(passage) - LONGEST))
    while 0 < start < first[0] and passage[start - 1].isalnum():
        start += 1
    end = start + LONGEST
    inside = tuple((a - start, b - start) for a, b in places if start <= a and b <= end)
    return passage[start:end], inside


def _together(one: ReadingQuestion, other: ReadingQuestion) -> ReadingQuestion:
    """Both questions' values; a place that one calls right is not wrong."""
    answers = tuple(dict.fromkeys((*one.answers, *other.answers)))
    wrong = tuple(dict.fromkeys((*one.wrong, *other.wrong)))
    return replace(
        one,
        answers=answers,
        wrong=tuple(w for w in wrong if not any(a <= w[0] and w[1] <= b for a, b in answers)),
        exhaustive=one.exhaustive or other.exhaustive,
    )
