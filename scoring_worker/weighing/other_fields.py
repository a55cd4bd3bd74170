"""Whether the passage gives a value for another field of the schema.

A reader that is asked for one field prefers what is there to nothing: "The deposit is £2,500."
is an answer to *Rent*. Asked for every field, it says which of them the words answer best. Both
are asked by their names alone, so that a long description is no advantage.

Where a label names the value ("Bill to: …"), its words count beside what the reader says: a label
with none of the field's words may be a synonym of it ("Vendor:" for *Supplier*), so that the
reader has to be surer there; one with the words of another field is held against the value. The
head of a column is a label too. That of a row, and the words right before a value, count where they
name another field. A label that names the counterpart of the field ("Buyer:" for *Supplier*)
decides without the reader and without a schema.
"""

from collections.abc import Mapping

import numpy as np

from safepassage.schemas import Finding
from safepassage.scoring_worker.comparison import Place
from safepassage.scoring_worker.comparison.denials.assertion_status import may_deny
from safepassage.scoring_worker.comparison.denials.type_words import asks_for
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.encoders.reading_windows import Task
from safepassage.scoring_worker.scorer import Pair

from .labels import Heads, Label, labels_of, leads_of, names_another, nearer_by_words
from .opinion import LARGEST, Opinion, at_places
from .opposites import counterparts, excludes
from .questions import Part

CLEARLY, ANSWERED = 1.5, 1.0
"""The logit by which another field has to lead, since fields that mean nearly the same do not, and
that it has to reach: of two fields that a bare name answers badly, neither is better."""
MOST = 4.1
"""The largest logit of the large reader."""
SURE = MOST - CLEARLY
"""The logit from which on no other field is asked: none could lead. It spares three questions of
four on the tribunal's decisions."""
LEAD, WORDS, BASE = 0.35, 3.1, 0.6
"""What makes the log-odds that a label means the field: the logit by which the field leads, at most
`MOST_LEAD`, and the words of the label. Learnt on half the domains of
benchmarks/field_labels.jsonl, with both readers."""
MOST_LEAD = 6.0
LABEL_DIFFERS = -1.0
"""Log-odds below which the label names another field: 1 in 20 synonyms of the learnt half is."""

Readings = Mapping[Task, Reading | PairFailure]


def questions(pair: Pair, part: Part, opinion: Opinion) -> dict[str, Task]:
    """What the reader is asked, by field, the pair's own first; nothing where the value is not in
    the quote, where its schema has no other field, or where the reader is sure of it and
    no label has the words of another field."""
    said = opinion.features.get("value_mean")
    if said is None or part.question is None:
        return {}
    if said * LARGEST >= SURE and by_words(pair, part) >= 0:
        return {}
    passage = part.question.passage
    own = pair.entity_type
    others = (*(pair.field.others if pair.field else ()), *counterparts(own, passage))
    deniable = may_deny(part.asked.passage) and not asks_for(own, "asks")
    denied = (_not(own),) if deniable else ()
    names = dict.fromkeys((own, *others, *denied))
    return {name: Task(name, passage) for name in names} if len(names) > 1 else {}


def _not(field: str) -> str:
    """What a reader is asked for what is no such thing: "the shield is not ordered" for *Item*."""
    return f"Not {field}"


def excluding_label(pair: Pair, part: Part) -> Finding | None:
    """The finding that names the label of the value where it is the counterpart of the field;
    the schema need not have the other one: "Buyer" for *Supplier*."""
    said = pair.field.description or "" if pair.field else ""
    for label in _labels(pair, part):
        if excludes(label.text, pair.entity_type, said, alone=not label.names):
            return _another(label.text, pair.entity_type)
    return None


def _another(label: str, own: str) -> Finding:
    detail = f"the passage gives it as {label!r}, which is not {own}"
    return Finding(code="another_field", detail=detail[:500])


def may_be_better(pair: Pair, asked: Mapping[str, Task], part: Part, readings: Readings) -> bool:
    """Whether what the reader says of the other fields of ``asked`` could stop the value; its own,
    the first, was read."""
    least = _support(readings[next(iter(asked.values()))], part) - MOST
    labels = _labels(pair, part)
    if any(_is_of_another(pair, one) for one in labels):
        return True
    if any(one.names for one in labels):
        return _log_odds(pair, part, least) < LABEL_DIFFERS
    return least <= -CLEARLY


def _log_odds(pair: Pair, part: Part, lead: float) -> float:
    """That the value's label means its field, where the reader has it lead by ``lead``."""
    return LEAD * max(-MOST_LEAD, min(MOST_LEAD, lead)) + WORDS * by_words(pair, part) + BASE


def better_field(
    pair: Pair, asked: Mapping[str, Task], part: Part, readings: Readings
) -> Finding | None:
    """The finding that names the field of ``asked`` which the value clearly answers better, or
    whose words its label has."""
    own, *others = [(_support(readings[task], part), name) for name, task in asked.items()]
    best, name = max(others)
    if not np.isfinite(own[0]):
        return None
    labels = _labels(pair, part)
    other = next((one.text for one in labels if _is_of_another(pair, one)), None)
    named = next((one.text for one in labels if one.names), None)
    of_schema = pair.field.others if pair.field else ()
    nearest = max((said for said, one in others if one in of_schema), default=-np.inf)
    if named and _log_odds(pair, part, own[0] - nearest) < LABEL_DIFFERS:
        other = named
    if not named and best >= ANSWERED and best - own[0] >= CLEARLY:
        detail = f"the passage gives it as {name} rather than as {own[1]}"
        return Finding(code="another_field", detail=detail[:500])
    return _another(other, own[1]) if other else None


def by_words(pair: Pair, part: Part) -> float:
    """How much more of the words of the value's label is of its own field than of another."""
    labels = [one.text for one in _labels(pair, part)]
    if not labels or pair.field is None:
        return 0.0
    said = pair.field.description or ""
    return nearer_by_words(labels, pair.entity_type, pair.field.others, said)


def _is_of_another(pair: Pair, label: Label) -> bool:
    """Whether the head of a row, or the words before the value, name another field."""
    if label.names or pair.field is None:
        return False
    said = pair.field.description or ""
    return names_another(label.text, pair.entity_type, pair.field.others, said)


def _labels(pair: Pair, part: Part) -> list[Label]:
    """The labels of the value at the first place that has any; without one, where the value is at
    one place, the words that lead to it."""
    if part.question is None:
        return []
    text, kind = part.question.passage, part.comparison.kind
    quote = Place(part.shift, part.shift + len(pair.premise))
    heads = Heads(pair.row_head, pair.column_head)
    starts = [place.start + part.shift for place in part.comparison.places]
    found = next(filter(None, (labels_of(text, at, quote, heads) for at in starts)), [])
    if found or len(starts) != 1:
        return found
    leads = leads_of(text, starts[0], named=kind in {"name", "words"})
    return [Label(lead, names=False) for lead in leads]


def _support(read: Reading | PairFailure, part: Part) -> float:
    """The mean logit of the value's tokens, at the place where it is highest."""
    if isinstance(read, PairFailure):
        return -np.inf
    found = (float(read.answers[inside].mean()) for inside in at_places(part, read))
    return max(found, default=-np.inf)
