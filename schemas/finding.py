"""What a deterministic check saw: a contradiction, which decides, or a doubt, which is weighed."""

from typing import TYPE_CHECKING, Final, Literal, get_args

from pydantic import Field

from .alignment import Scatter
from .base import Contract
from .reason import Reason

# fmt: off
Contradiction = Literal[
    # the passage says something else
    "absence_differs", "acronym_differs", "answer_differs", "category_differs",
    "comparator_differs", "currency_differs", "date_differs", "denial_differs",
    "figure_differs", "identifier_differs", "identifier_longer", "listed_instead",
    "name_differs", "number_differs", "part_differs", "range_end_differs", "time_differs",
    "unit_differs", "value_is_stated", "word_differs",
    # the passage does not say it, or not of this
    "date_missing", "date_more_precise", "date_outside_quote", "denied", "identifier_absent",
    "number_missing", "of_someone_else", "only_planned", "only_supposed", "other_record",
    "part_of_another", "superseded",
    # the schema does not allow it
    "not_allowed",
    # of packs
    "nobody", "not_in_quote",
]
# fmt: on
"""Findings that show the value wrong: nothing that carries one is accepted."""

# fmt: off
Doubt = Literal[
    "accents_differ", "acronym_possible", "acronym_spelt", "another_field", "check_digit",
    "comparator_unsure", "currency_missing", "date_ambiguous", "date_completed",
    "date_in_identifier", "date_not_seen", "date_other_calendar", "date_precision_unsure",
    "date_relative", "date_unread", "date_vague", "date_zone", "denial_asked", "denial_near",
    "denial_near_elsewhere", "denial_unread", "denial_unsure", "denied_elsewhere",
    "denied_twice", "denied_twice_elsewhere", "figure_unseen", "hypothetical",
    "hypothetical_elsewhere", "identifier_long", "identifier_masked", "identifier_part",
    "name_absent", "name_close", "name_inflected", "name_initial", "name_order",
    "name_other_script", "name_partial", "name_scattered", "name_transliterated",
    "none_not_said", "number_ambiguous", "number_cut", "number_unread", "number_unreadable",
    "of_someone_else_elsewhere", "ordinal_differs", "outside_quote", "part_of_range",
    "phone_prefix", "reviewed_alike", "rival_preferred", "someone_else_near",
    "someone_else_near_elsewhere", "spacing_differs", "time_ambiguous", "time_missing",
    "too_many_parts", "unit_missing", "unit_unsure", "value_too_long", "word_inflected",
    "words_missing", "words_scattered", "words_unfounded",
    # of packs
    "category_missing", "category_unsure", "cue_differs", "kind_differs", "label_differs",
    "no_cue", "other_clause", "other_number_in_type", "role_denial_near",
    # of a decision model: which of three options is the likeliest
    "says_another_value", "says_nothing_of_it", "says_this",
    # of the decision rule
    "conflicts_with", "rival_not_judged",
]
# fmt: on
"""Findings for the person who reads the verdict, and for the stack to weigh."""

FindingCode = Contradiction | Doubt | Reason | Scatter

CONTRADICTIONS: Final[frozenset[str]] = frozenset(get_args(Contradiction))


class Finding(Contract):
    """What a deterministic check saw, e.g. ``date_differs: passage says 2014, value says 2013``.

    ``code`` is stable and countable, ``detail`` is for the person who reads the verdict. What
    is read from a topic may have a code of another version; what is made here has one of these.
    """

    code: str = Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_]*$")
    detail: str = Field(default="", max_length=500, repr=False)

    if TYPE_CHECKING:

        def __init__(self, *, code: FindingCode, detail: str = "") -> None: ...

    @property
    def contradicts(self) -> bool:
        """Whether this alone shows that the value is wrong."""
        return self.code in CONTRADICTIONS
