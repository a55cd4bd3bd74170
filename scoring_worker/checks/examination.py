"""Puts the checks together: what can be said of a pair without a model, and in figures for one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from schemas import CLAIM_TYPE, Finding, render_value
from scoring_worker.scorer import Pair

from . import absence, categories, dates, kinds, quantities, roles
from .names import Coverage, cover
from .numerals import digits_for_words
from .text import fold, words

CLAIM, DATE, CATEGORY, FIGURE, NAME = "claim", "date", "category", "figure", "name"
SHAPES = (CLAIM, DATE, CATEGORY, FIGURE, NAME)
"""What a value is compared as. Every shape has coefficients of its own in the stack."""


MAX_VALUE_CHARACTERS = 2_000
"""What is compared of a value: no fact is longer, and the effort grows with it."""


@dataclass
class Examination:
    """The shape of a pair's value, features in [0, 1] by name (absent means 0), and findings."""

    shape: str
    features: dict[str, float] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def note(self, code: str, detail: str = "") -> None:
        """A finding that is a feature as well."""
        self.features[code] = 1.0
        self.findings.append(Finding(code=code, detail=detail[:500]))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value stands in the folded passage."""

    start: int
    end: int


def examine(pair: Pair) -> Examination:
    """Every check that applies to ``pair``."""
    value = render_value(pair.value)[:MAX_VALUE_CHARACTERS]
    folded = fold(pair.premise)
    if pair.entity_type == CLAIM_TYPE:
        examination = Examination(CLAIM)
        _examine_claim(examination, value, pair.premise, folded)
        return examination
    if absence.is_none(value):
        examination = Examination(NAME)
        examination.note("value_is_none", f"{value!r} is no value")
        return examination
    examination, place = _examine_value(pair, value, folded)
    _examine_type(examination, pair.entity_type, value, folded, place)
    _examine_absence(examination, folded)
    return examination


def _examine_value(pair: Pair, value: str, folded: str) -> tuple[Examination, Place | None]:
    date = dates.date_of_value(pair.value)
    if date is not None:
        return _examine_date(date, pair.premise)
    chosen = categories.choice(pair.entity_type, value, folded)
    if chosen is not None and chosen.wanted is not None:
        return _examine_category(chosen), None
    figures = quantities.compare_figures(value, pair.premise)
    examination = Examination(FIGURE if figures.wanted else NAME)
    if figures.wanted:
        _examine_figures(examination, figures)
    return examination, _examine_words(examination, value, folded)


def _examine_date(date: dates.PartialDate, premise: str) -> tuple[Examination, Place | None]:
    examination = Examination(DATE)
    there = dates.dates_in(premise)
    examination.features["several_dates"] = float(len(there) > 1)
    examination.features["vague"] = float(dates.is_vague(premise))
    examination.features["partial_value"] = float(None in date.parts)
    if not there:
        examination.note("date_missing", f"the passage has no date, the value says {date}")
        return examination, None
    shown = [seen for seen in there if _shows(seen, date)]
    if shown:
        examination.features["date_shown"] = 1.0
        return examination, _place_of(shown[0])
    agreeing = [seen for seen in there if _agrees(seen, date)]
    said = ", ".join(map(str, there[:5]))
    if agreeing:
        examination.note("date_more_precise", f"passage says {said}, value says {date}")
        return examination, _place_of(agreeing[0])
    examination.note("date_differs", f"passage says {said}, value says {date}")
    return examination, None


def _place_of(date: dates.PartialDate) -> Place:
    return Place(date.start, date.end)


def _shows(seen: dates.PartialDate, date: dates.PartialDate) -> bool:
    """Whether the passage's date states every part that the value states."""
    stated = [(s, d) for s, d in zip(seen.parts, date.parts, strict=True) if d is not None]
    if all(s == d for s, d in stated):
        return True
    swapped = seen.swappable and (seen.day, seen.month) == (date.month, date.day)
    return swapped and seen.year == date.year


def _agrees(seen: dates.PartialDate, date: dates.PartialDate) -> bool:
    """Whether no part differs that both state, and the year is stated by both."""
    shared = [(s, d) for s, d in zip(seen.parts, date.parts, strict=True) if s and d]
    return bool(shared) and all(s == d for s, d in shared)


def _examine_category(chosen: categories.Choice) -> Examination:
    examination = Examination(CATEGORY)
    others = [name for name in chosen.said if name != chosen.wanted]
    if chosen.wanted in chosen.said:
        examination.features["category_shown"] = 1.0
    if others:
        examination.note("category_differs", f"passage says {others}, value says {chosen.wanted}")
    elif chosen.wanted not in chosen.said:
        examination.note("category_missing", f"nothing in the passage says {chosen.wanted}")
    return examination


def _examine_figures(examination: Examination, figures: quantities.Figures) -> None:
    if figures.borne_out:
        examination.features["figures_shown"] = 1.0
        return
    wanted = ", ".join(figures.missing)
    if figures.there:
        said = ", ".join(figures.there[:8])
        examination.note("number_differs", f"passage has {said}, value has {wanted}")
    elif figures.missing:
        examination.note("number_missing", f"the passage has no {wanted}")
    if figures.currency_clash:
        examination.note("currency_differs", "value and passage name different currencies")


def _examine_words(examination: Examination, value: str, folded: str) -> Place | None:
    coverage = cover(value, folded)
    if coverage.share == 0 and examination.features.get("figures_shown") and _is_bare(value):
        # 1200 stands in "$1,200.00", only written in another way.
        examination.features |= {"covered": 1.0, "verbatim": 0.0, "all_words": 1.0}
        return None
    examination.features["covered"] = coverage.share
    examination.features["verbatim"] = float(coverage.verbatim)
    whole = coverage.share == 1.0 and not coverage.expanded
    examination.features["all_words"] = float(whole)
    examination.features["short_value"] = float(len(fold(value)) <= 4)
    _note_words(examination, coverage)
    if coverage.share == 0 or coverage.acronym:
        return None
    return Place(coverage.start, coverage.end)


def _is_bare(value: str) -> bool:
    return not any(map(str.isalpha, value))


def _note_words(examination: Examination, coverage: Coverage) -> None:
    if coverage.missing and coverage.share == 0:
        examination.note("value_missing", f"the passage has no {' '.join(coverage.missing)!r}")
    elif coverage.missing:
        examination.note("words_missing", f"the passage has no {' '.join(coverage.missing)!r}")
    if coverage.expanded:
        shown = " ".join(coverage.expanded)
        examination.note("initial_expanded", f"the passage has only the initial of {shown!r}")
    if coverage.altered:
        examination.note("spelling_differs", f"spelt otherwise: {' '.join(coverage.altered)!r}")
    examination.features["altered_share"] = coverage.altered_share
    examination.features["acronym"] = float(coverage.acronym)


def _examine_type(
    examination: Examination, entity_type: str, value: str, folded: str, place: Place | None
) -> None:
    _examine_kind(examination, entity_type, value)
    role = roles.role_of_type(entity_type)
    if role is None:
        examination.features["role_unknown"] = 1.0
        examination.features["generic_type"] = float(kinds.is_generic(entity_type))
        _examine_type_words(examination, entity_type, folded)
        return
    if place is None or examination.shape == CATEGORY:
        return
    if examination.shape == DATE:
        folded = digits_for_words(folded)
    _examine_role(examination, entity_type, role, folded, place)


def _examine_role(
    examination: Examination, entity_type: str, role: roles.Role, folded: str, place: Place
) -> None:
    given = roles.governing_role(folded, roles.labels_in(folded), role.kind, place.start, place.end)
    fitting = roles.fitting_roles(entity_type, role)
    if given is None:
        _examine_cues(examination, role, fitting, folded, place)
    elif given.name in fitting:
        examination.features["label_agrees"] = 1.0
    else:
        detail = f"the label beside it is of {given.name}, not {role.name}"
        examination.note("label_differs", detail)


def _examine_cues(
    examination: Examination, role: roles.Role, fitting: frozenset[str], folded: str, place: Place
) -> None:
    gaps = {
        other.name: gap
        for other in roles.roles()
        if other.kind == role.kind
        for gap in [roles.nearest_cue(folded, other, place.start, place.end)]
        if gap is not None
    }
    own = min((gap for name, gap in gaps.items() if name in fitting), default=None)
    rival = min((gap for name, gap in gaps.items() if name not in fitting), default=None)
    if own is not None:
        examination.features["cue_near"] = 1.0 if own <= 25 else 0.5
        examination.features["rival_nearer"] = float(rival is not None and rival < own)
    elif rival is not None:
        name = min((n for n in gaps if n not in fitting), key=lambda n: gaps[n])
        examination.note("cue_differs", f"the words near it speak of {name}, not {role.name}")
    else:
        examination.note("no_cue", f"nothing near the value speaks of {role.name}")


def _examine_kind(examination: Examination, entity_type: str, value: str) -> None:
    wanted, looks = kinds.kind_of_type(entity_type), kinds.kind_of_value(value)
    if examination.shape == DATE:
        looks = "date"
    if kinds.differs(wanted, looks, value):
        looks = looks or "text"
        examination.note("kind_differs", f"the type asks for a {wanted}, the value is a {looks}")


def _examine_type_words(examination: Examination, entity_type: str, folded: str) -> None:
    asked = [
        word for word in re.findall(r"[a-z]{3,}", fold(entity_type)) if word not in {"the", "for"}
    ]
    there = {word.text[:5] for word in words(folded)}
    found = sum(word[:5] in there for word in asked)
    examination.features["type_words"] = found / len(asked) if asked else 0.0


def _examine_absence(examination: Examination, folded: str) -> None:
    if absence.says_none(folded):
        examination.note("says_none", "the passage says that there is none")
    examination.features["redacted"] = float(absence.is_redacted(folded))


def _examine_claim(examination: Examination, claim: str, premise: str, folded: str) -> None:
    coverage = cover(claim, folded)
    examination.features["covered"] = coverage.share
    claimed, said = absence.denies(fold(claim)), absence.denies(folded)
    examination.features["denial_differs"] = float(claimed != said)
    figures = quantities.compare_figures(claim, premise)
    if figures.missing:
        examination.note("number_differs", f"the passage has no {', '.join(figures.missing)}")
