"""Roles of people and dates in decisions, kinds of bodies, hearings in public or in private."""

from safepassage.schemas import FindingCode, render_value
from safepassage.scoring_worker.comparison.contract import Comparison, Place, Question
from safepassage.scoring_worker.comparison.dates import date_of_value
from safepassage.scoring_worker.packs.folding import REDACTED, fold, words
from safepassage.scoring_worker.packs.interface import NamedThing, Notes, Pack, PackOpinion

from . import categories, kinds, roles
from .places import plain_places
from .reading import examine_role
from .synonyms import synonyms_in
from .things import things_in

MAX_PASSAGE = 20_000
MAX_VALUE = 2_000
_ABSENT = frozenset({"name_absent", "words_missing"})
_FIGURES = frozenset({"number", "money", "quantity"})


class LegalPack(Pack):
    """Knows the labels of decisions and agreements (roles.txt) and the like."""

    name = "legal"

    def synonyms(self, question: Question) -> tuple[str, ...]:
        """Other names of a place or a body."""
        if not isinstance(question.value, str):
            return ()
        return synonyms_in(question.value, question.passage.quote[:MAX_PASSAGE])

    def things(self, sentence: str) -> tuple[NamedThing, ...]:
        """Provisions, courts and parties by role."""
        return things_in(sentence[:MAX_PASSAGE])

    def opinion(self, question: Question, comparison: Comparison) -> PackOpinion:
        """Features and findings about role, kind, category and places."""
        notes = Notes(self.name)
        value = render_value(question.value)[:MAX_VALUE]
        quote = question.passage.quote[:MAX_PASSAGE]
        folded = fold(quote)
        role = roles.role_of_type(question.entity_type) if comparison.kind == "none" else None
        if role is not None and role.kind == "person":
            notes.finding("nobody", "the value states an absence, and names nobody")
            return notes.opinion(different=True)
        if comparison.kind in {"claim", "none", "truth"} or not value:
            return notes.opinion()
        chosen = categories.choice(question.entity_type, value, folded)
        if chosen is not None and chosen.wanted is not None:
            return _category(notes, chosen)
        place = _place(quote, comparison)
        if place is None:
            place = _same_place(notes, value, folded)
        asked = question.entity_type
        fits = _kind(notes, asked, value, comparison, folded=folded, place=place)
        examine_role(notes, asked, folded, place, kind_fits=fits)
        missing = place is None and _is_missing(question, comparison, folded)
        if missing:
            notes.finding("not_in_quote", "a decision is quoted with the name or the date itself")
        return notes.opinion(different=missing)


def _is_missing(question: Question, comparison: Comparison, folded: str) -> bool:
    """Whether the quote has nothing of a name that the type asks for, or only a part of a date:
    "early 1995" is no January, and a day in "XXXXX 22, 2000" is in no month.
    """
    codes = {finding.code for finding in comparison.findings}
    if comparison.kind == "date":
        redacted = "date_unread" in codes and REDACTED.search(folded) is not None
        date = date_of_value(question.value, question.passage.language)
        by_month = date is not None and date.month is not None
        return by_month and ("date_vague" in codes or redacted)
    role = roles.role_of_type(question.entity_type)
    wanted = role.kind if role is not None else kinds.kind_of_type(question.entity_type)
    named = wanted in {"person", "place", "body"} and comparison.kind in {"name", "words"}
    return named and not comparison.places and bool(codes & _ABSENT)


def _category(notes: Notes, chosen: categories.Choice) -> PackOpinion:
    others = [name for name in chosen.said if name != chosen.wanted]
    if chosen.wanted in chosen.said:
        notes.feature("category_shown")
        notes.in_other_words = True
    # The pack's word is decisive only where the passage says another option and not this one.
    different = bool(others) and chosen.wanted not in chosen.said
    if others:
        detail = f"passage says {others}, value says {chosen.wanted}"
        code: FindingCode = "category_differs" if different else "category_unsure"
        notes.finding(code, detail, feature="category_differs")
    elif chosen.wanted not in chosen.said:
        notes.finding("category_missing", f"nothing in the passage says {chosen.wanted}")
    return notes.opinion(different=different)


def _place(quote: str, comparison: Comparison) -> Place | None:
    if not comparison.places:
        return None
    first = comparison.places[0]
    start = len(fold(quote[: first.start] + "x")) - 1
    return Place(start, start + len(fold(quote[first.start : first.end])))


def _same_place(notes: Notes, value: str, folded: str) -> Place | None:
    """Where the quote has the value's place under another name ("BC", "Colombie-Britannique")."""
    sought, resolved = words(plain_places(fold(value))), plain_places(folded)
    if (not sought or sought == words(fold(value))) and resolved == folded:
        return None
    if f" {' '.join(sought)} " in f" {' '.join(words(resolved))} ":
        notes.feature("same_place")
        notes.in_other_words = True
        return Place(0, len(folded))
    return None


def _kind(
    notes: Notes,
    entity_type: str,
    value: str,
    comparison: Comparison,
    *,
    folded: str,
    place: Place | None,
) -> bool:
    wanted = kinds.kind_of_type(entity_type)
    is_date = comparison.kind == "date"
    looks = kinds.kind_of_acronym(value, folded) or kinds.kind_of_value(value, is_date=is_date)
    if place is not None and not is_date and kinds.is_addressed(folded, place.start):
        looks = "person"
    if comparison.kind in {"name", "words"}:
        notes.feature("kind_agrees", wanted is not None and wanted == looks)
    has_figures = comparison.kind in _FIGURES or any(map(str.isdigit, value))
    if kinds.differs(wanted, looks, value, has_figures=has_figures):
        detail = f"the type asks for: {wanted}; the value looks like: {looks or 'text'}"
        notes.finding("kind_differs", detail)
        return False
    return True
