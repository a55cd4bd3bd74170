"""A comparison in figures: what the stack weighs beside the judge's opinion."""

from pydantic import JsonValue

from safepassage.scoring_worker.comparison.contract import Comparison, Question

FINDINGS = frozenset(
    {
        "denial_near", "denial_asked", "denied_twice", "denial_unread", "hypothetical",
        "someone_else_near", "denied_elsewhere", "hypothetical_elsewhere", "outside_quote",
        "none_not_said", "acronym_possible", "words_missing", "date_ambiguous", "date_vague",
    }
)  # fmt: skip
"""Doubts with a feature of their own; another one counts as ``finding_other``. Contradictions have
none: they decide."""
UNWEIGHED = frozenset(
    {
        "denial_near_elsewhere", "too_many_parts", "denial_unsure", "figure_unseen", "check_digit",
        "acronym_spelt", "date_precision_unsure", "accents_differ",
    }
)  # fmt: skip
"""Doubts that say nothing for or against a value."""
_MANY = 4
_SEVERAL = 2
_SHORT = 4


def general_features(question: Question, comparison: Comparison) -> dict[str, float]:
    """Features in [0, 1] by name; one that is absent is 0. They name no domain.

    ``exact``: the value is at its place letter for letter; ``share`` and ``lonely``: how much
    of the quote it is, and that no rival is there.
    """
    places = comparison.places
    features = {
        "answer_same": float(comparison.answer == "same"),
        "several_places": float(len(places) >= _SEVERAL),
        "rivals": min(len(comparison.rivals), _MANY) / _MANY,
        "lonely": float(bool(places) and not comparison.rivals),
        "exact": float(_is_exact(question, comparison)),
        "share": _share(question, comparison),
        "short_value": float(_is_short(question.value) and comparison.kind != "none"),
    }
    for finding in comparison.findings:
        if not finding.contradicts and finding.code not in UNWEIGHED:
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
    """Whether a text is so short that it is in many places by chance. An absence is
    not looked for by its letters: "None", a null and an empty list are one value."""
    return isinstance(value, str) and len(value.strip()) <= _SHORT


def _share(question: Question, comparison: Comparison) -> float:
    covered = sum(place.end - place.start for place in comparison.places[:1])
    return min(1.0, covered / max(1, len(question.passage.quote)))
