"""A comparison in figures: what the stack weighs beside the judge's opinion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pydantic import JsonValue

from safepassage.scoring_worker.comparison.contract import Answer, Comparison, Kind, Question
from safepassage.scoring_worker.comparison.denials.tokens import tokens_of
from safepassage.scoring_worker.comparison.denials.type_words import words_of_type

ANSWERS: tuple[Answer, ...] = ("same", "different", "not_comparable")
KINDS: tuple[Kind, ...] = (
    "number", "money", "quantity", "date", "identifier", "name", "words", "truth", "category",
    "none", "list", "object", "claim",
)  # fmt: skip
FINDINGS = (
    "denial_near", "denial_asked", "denied_twice", "denial_unread", "hypothetical",
    "someone_else_near", "denied_elsewhere", "denial_near_elsewhere", "hypothetical_elsewhere",
    "outside_quote", "too_many_parts",
    "none_not_said",
    "denial_unsure", "figure_unseen", "check_digit", "acronym_possible", "acronym_spelt",
    "words_missing", "date_ambiguous", "date_vague",
    "date_precision_unsure", "accents_differ",
)  # fmt: skip
"""Doubts with a feature of their own; another one counts as ``finding_other``. Contradictions have
none: they decide."""
_MANY = 4
_SEVERAL = 2
_SHORT = 4


def general_features(question: Question, comparison: Comparison) -> dict[str, float]:
    """Features in [0, 1] by name; one that is absent is 0. They name no domain.

    ``answer_*`` and ``kind_*`` are one-hot, ``kind_answer_*`` their product. ``exact``: the
    value stands at its place letter for letter; ``share`` and ``lonely``: how much of the quote
    it is, and that no rival stands there. ``type_words``: how many of the type's words the quote,
    ``type_words_around`` its surroundings, have.
    """
    passage, places = question.passage, comparison.places
    features = {
        f"answer_{comparison.answer}": 1.0,
        f"kind_{comparison.kind}": 1.0,
        f"{comparison.kind}_{comparison.answer}": 1.0,
        "placed": float(bool(places)),
        "several_places": float(len(places) >= _SEVERAL),
        "rivals": min(len(comparison.rivals), _MANY) / _MANY,
        "lonely": float(bool(places) and not comparison.rivals),
        "exact": float(_is_exact(question, comparison)),
        "share": _share(question, comparison),
        "type_words": _type_words(question.entity_type, passage.quote),
        "type_words_around": _type_words(
            question.entity_type, f"{passage.heading} {passage.before[-200:]} {passage.after[:200]}"
        ),
        "short_value": float(_is_short(question.value) and comparison.kind != "none"),
    }
    for finding in comparison.findings:
        if finding.contradicts:
            continue
        known = finding.code in FINDINGS
        features[f"finding_{finding.code}" if known else "finding_other"] = 1.0
    return {name: value for name, value in features.items() if value}


def _is_exact(question: Question, comparison: Comparison) -> bool:
    if not comparison.places or not isinstance(question.value, str | int | float):
        return False
    sought = " ".join(str(question.value).split()).casefold()
    return any(
        " ".join(question.passage.quote[place.start : place.end].split()).casefold() == sought
        for place in comparison.places[:_MANY]
    )


def _is_short(value: JsonValue) -> bool:
    """Whether a text is so short that it stands in many places by chance. That there is none is
    not looked for by its letters: "None", a null and an empty list are one value."""
    return isinstance(value, str) and len(value.strip()) <= _SHORT


def _share(question: Question, comparison: Comparison) -> float:
    covered = sum(place.end - place.start for place in comparison.places[:1])
    return min(1.0, covered / max(1, len(question.passage.quote)))


def _type_words(entity_type: str, text: str) -> float:
    asked = [word[:5] for word in words_of_type(entity_type) if len(word) > 2]
    if not asked:
        return 0.0
    there = _stems_of(text[:5_000])
    return sum(word in there for word in asked) / len(asked)


@lru_cache(maxsize=64)
def _stems_of(text: str) -> frozenset[str]:
    """The first letters of a text's words: many types are asked of the same quote."""
    return frozenset(token.text[:5] for token in tokens_of(text) if token.is_word)


def names_of_features() -> Mapping[str, None]:
    """Every name that `general_features` may give, in order: the columns of the stack."""
    simple = (
        "placed", "several_places", "rivals", "lonely", "exact", "share", "type_words",
        "type_words_around", "short_value", "finding_other",
    )  # fmt: skip
    return dict.fromkeys(
        (
            *(f"answer_{answer}" for answer in ANSWERS),
            *(f"kind_{kind}" for kind in KINDS),
            *(f"{kind}_{answer}" for kind in KINDS for answer in ANSWERS),
            *(f"finding_{code}" for code in FINDINGS),
            *simple,
        )
    )
