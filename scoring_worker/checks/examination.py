"""Puts the checks together: what can be said of a pair without a model, and in figures for one."""

from __future__ import annotations

from schemas import CLAIM_TYPE, render_value
from scoring_worker.packs.contracts import clauses
from scoring_worker.packs.folding import fold
from scoring_worker.packs.legal import categories
from scoring_worker.scorer import Pair

from . import absence, dates, quantities
from .names import Coverage, cover
from .record import (
    CATEGORY,
    CLAIM,
    CLAUSE,
    DATE,
    FIGURE,
    MAX_VALUE_CHARACTERS,
    NAME,
    Examination,
    Place,
)
from .types import examine_type, examine_type_words


def examine(pair: Pair) -> Examination:
    """Every check that applies to ``pair``."""
    value = render_value(pair.value)[:MAX_VALUE_CHARACTERS]
    folded = fold(pair.premise)
    if pair.entity_type == CLAIM_TYPE:
        examination = Examination(CLAIM)
        _examine_claim(examination, value, pair.premise, folded)
        return examination
    if clauses.answer(value) is not None and categories.choice(pair.entity_type, value, "") is None:
        return _examine_clause(pair.entity_type, value, folded)
    if absence.is_none(value):
        examination = Examination(NAME)
        examination.note("value_is_none", f"{value!r} is no value")
        return examination
    examination, place = _examine_value(pair, value, folded)
    examine_type(examination, pair.entity_type, value, folded, place)
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
    if not figures.wanted:
        examination = Examination(NAME)
        return examination, _examine_words(examination, value, folded)
    examination = Examination(FIGURE)
    _examine_figures(examination, figures)
    return examination, _examine_unit(examination, value, folded)


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
    either_way = seen.swappable or date.swappable
    swapped = either_way and (seen.day, seen.month) == (date.month, date.day)
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


def _examine_unit(examination: Examination, value: str, folded: str) -> Place | None:
    """The words beside the figures of a value: what they count, or what they belong to."""
    examination.features["verbatim"] = float(fold(value) in folded)
    unit = quantities.without_figures(value)
    if not any(map(str.isalpha, unit)):
        at = folded.find(fold(value))
        return Place(at, at + len(fold(value))) if at >= 0 else None
    coverage = cover(unit, folded)
    examination.features["covered"] = coverage.share
    examination.features["all_words"] = float(coverage.share == 1.0)
    if coverage.missing:
        examination.note("words_missing", f"the passage has no {' '.join(coverage.missing)!r}")
    return Place(coverage.start, coverage.end) if coverage.share and not coverage.acronym else None


def _examine_words(examination: Examination, value: str, folded: str) -> Place | None:
    coverage = cover(value, folded)
    examination.features["covered"] = coverage.share
    examination.features["verbatim"] = coverage.verbatim
    whole = coverage.share == 1.0 and not coverage.expanded
    examination.features["all_words"] = float(whole)
    examination.features["short_value"] = float(len(fold(value)) <= 4)
    _note_words(examination, coverage)
    if coverage.share == 0 or coverage.acronym:
        return None
    return Place(coverage.start, coverage.end)


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


def _examine_clause(entity_type: str, value: str, folded: str) -> Examination:
    examination = Examination(CLAUSE)
    says_yes = clauses.answer(value)
    examination.features["answer_is_yes"] = float(bool(says_yes))
    examine_type_words(examination, entity_type, folded)
    clause = clauses.clause_of_type(entity_type)
    if clause is None:
        examination.features["clause_unknown"] = 1.0
        return examination
    examination.features["clause_spoken_of"] = clauses.share_spoken(clause, folded)
    if not examination.features["clause_spoken_of"]:
        examination.note("other_clause", f"nothing in the passage speaks of {entity_type.lower()}")
    return examination


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
