"""From a document with known fields to supported and unsupported pairs.

A corruption takes a document and one of its fields and returns a pair with label 0, or None where
it does not apply. They mirror what extractors get wrong.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import JsonValue

from recipes.corruption import windows
from research.known_documents import GENERIC_TYPES, KnownDocument, KnownField
from safepassage.schemas import render_value
from safepassage.scoring_worker.evaluation.labelled_pair import LabelledPair

from .mutations import alter, sharpen

Corruption = Callable[[KnownDocument, KnownField, random.Random], LabelledPair | None]


def labelled_pairs(
    documents: Iterable[KnownDocument], seed: int = 0, negatives_per_field: float = 1.0
) -> Iterator[LabelledPair]:
    """Supported pairs of every field and about ``negatives_per_field`` corruptions of each."""
    rng = random.Random(seed)
    for document in documents:
        for known in document.fields:
            yield from _supported(document, known, rng)
            for _ in range(_draws(negatives_per_field, rng)):
                corrupted = corrupt(document, known, rng)
                if corrupted is not None:
                    yield corrupted
        yield from _absent(document, rng)


def corrupt(document: KnownDocument, known: KnownField, rng: random.Random) -> LabelledPair | None:
    """One corruption that applies to ``known``, drawn by `WEIGHTS`; None where none does."""
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    for _ in range(4):
        found = CORRUPTIONS[rng.choices(names, weights)[0]](document, known, rng)
        if found is not None:
            return found
    return None


def wrong_type(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> LabelledPair | None:
    """The right value under the type of another field of the same kind, or of another kind."""
    if known.kind in {"text", "category", "number"}:
        return None
    right = set(known.entity_types) | set(known.generic_types)
    same = {t for f in document.fields if f.kind == known.kind for t in f.entity_types[:2]}
    same_kind = sorted(same - right - _covering(document, known))
    pool = _generic_of_others(known)
    if same_kind and (known.kind == "clause" or rng.random() > 0.3):
        pool = same_kind
    if not pool:
        return None
    chosen = rng.choice(pool)
    passage = _role_passage(document, known, rng)
    return _pair(document, known, passage, "wrong_type", entity_type=chosen)


def _covering(document: KnownDocument, known: KnownField) -> set[str]:
    """Types that the same words have as well, e.g. of a clause that is two things at once."""
    covering = (f for f in document.fields if f.start < known.end and known.start < f.end)
    return {entity_type for f in covering for entity_type in f.entity_types}


def _generic_of_others(known: KnownField) -> list[str]:
    if known.kind == "clause":
        return []
    return [types[0] for kind, types in GENERIC_TYPES.items() if types and kind != known.kind]


def wrong_value(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> LabelledPair | None:
    """An altered value, or another value of the same kind in the same document."""
    values = [f.value for f in document.fields if f.kind == known.kind and f.value != known.value]
    values = [value for value in values if isinstance(value, dict) == isinstance(known.value, dict)]
    value: JsonValue = alter(known.value, known.kind, rng)
    if values and known.kind not in {"category", "clause"} and rng.random() < 0.35:
        value = rng.choice(values)
    passage = windows.supporting_passage(document, known, rng)
    if value is None or value == known.value or _shown(value, passage):
        return None
    return _pair(document, known, passage, "wrong_value", value=value)


def over_normalised(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> LabelledPair | None:
    """More precision than the passage shows: a day, a first name, a city, a longer name."""
    surface = document.text[known.start : known.end]
    value = sharpen(known.value, surface, known.kind, rng)
    passage = windows.supporting_passage(document, known, rng)
    if value is None or _shown(value, passage):
        return None
    return _pair(document, known, passage, "over_normalised", value=value)


def bad_grounding(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> LabelledPair | None:
    """The label, or the sentence, without the value."""
    passage = windows.blank_passage(document, known, rng)
    if len(passage) < 6 or known.kind in {"category", "clause"} or _shown(known.value, passage):
        return None
    return _pair(document, known, passage, "bad_grounding")


def elsewhere(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> LabelledPair | None:
    """A passage of the same document that does not hold the value."""
    if document.plain and rng.random() < 0.3:
        start, end = rng.choice(document.plain)
        passage = document.text[start:end]
    else:
        passage = windows.other_passage(document, known, rng)
    if not passage or _shown(known.value, passage):
        return None
    return _pair(document, known, passage, "other_passage")


def negation(document: KnownDocument, known: KnownField, rng: random.Random) -> LabelledPair | None:
    """The sentence that states the value, with its verb denied."""
    context = document.text[known.context_start : known.context_end]
    named = [word for word in " ".join(known.entity_types).casefold().split() if len(word) > 3]
    if known.kind in {"clause", "category"} or not any(n in context.casefold() for n in named):
        return None  # where the sentence does not name the type, a denied mention is a mention
    passage = windows.denied(context, known)
    return _pair(document, known, passage, "negation") if passage else None


CORRUPTIONS: Mapping[str, Corruption] = {
    "wrong_type": wrong_type,
    "wrong_value": wrong_value,
    "over_normalised": over_normalised,
    "bad_grounding": bad_grounding,
    "other_passage": elsewhere,
    "negation": negation,
}
WEIGHTS = {
    "wrong_type": 3.0,
    "wrong_value": 2.0,
    "over_normalised": 2.5,
    "bad_grounding": 1.0,
    "other_passage": 1.2,
    "negation": 1.2,
}
"""How often each is tried; wrong types most, since no rule catches them all."""


def _supported(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> Iterator[LabelledPair]:
    return filter(None, _supported_views(document, known, rng))


def _supported_views(
    document: KnownDocument, known: KnownField, rng: random.Random
) -> Iterator[LabelledPair | None]:
    if known.entity_types:
        passage = windows.supporting_passage(document, known, rng)
        chosen = known.entity_types[0] if rng.random() < 0.6 else rng.choice(known.entity_types)
        yield _pair(document, known, passage, "supported", entity_type=chosen, label=1)
    if known.generic_types and (not known.entity_types or rng.random() < 0.3):
        view = windows.supporting_passage if rng.random() < 0.5 else windows.value_passage
        chosen = known.generic_types[0] if rng.random() < 0.8 else rng.choice(known.generic_types)
        passage = view(document, known, rng)
        yield _pair(document, known, passage, "supported", entity_type=chosen, label=1)


def _absent(document: KnownDocument, rng: random.Random) -> Iterator[LabelledPair]:
    """Labels that say N/A, with a value of the document, or with "N/A" itself."""
    for label in document.empty:
        kinds = [f for f in document.fields if f.kind in {"person", "date", "money"}]
        if not kinds or rng.random() < 0.4:
            continue
        known = rng.choice(kinds)
        value = rng.choice((known.value, known.value, known.value, "N/A", "None"))
        passage = document.text[label.start : label.end].strip()
        chosen = rng.choice(label.entity_types)
        yield LabelledPair(passage, chosen, value, 0, "negation", document.id)


def _role_passage(document: KnownDocument, known: KnownField, rng: random.Random) -> str:
    """The context, at times up to and including the label of the next field."""
    following = [label for label in document.labels if label.start >= known.context_end]
    if following and rng.random() < 0.35 and following[0].start - known.context_end < 3:
        return document.text[known.context_start : following[0].end].strip()
    return windows.supporting_passage(document, known, rng)


def _pair(
    document: KnownDocument,
    known: KnownField,
    passage: str,
    kind: str,
    *,
    entity_type: str | None = None,
    value: JsonValue = None,
    label: int = 0,
) -> LabelledPair | None:
    types = known.entity_types or known.generic_types
    if not passage or not (entity_type or types):
        return None
    return LabelledPair(
        premise=passage,
        entity_type=entity_type or types[0],
        value=known.value if value is None else value,
        label=1 if label else 0,
        kind=kind,
        group=document.id,
    )


def _shown(value: JsonValue, passage: str) -> bool:
    """Whether the passage, taken literally, shows ``value`` after all."""
    if isinstance(value, dict) and isinstance(value.get("yyyy"), int):
        return str(value["yyyy"]) in passage and not value.get("mm")
    return render_value(value).casefold() in passage.casefold()


def _draws(mean: float, rng: random.Random) -> int:
    return int(mean) + (rng.random() < mean % 1)
