"""The risk of what one scorer lets pass, from labels that chance chose: bounds, and what lacks."""

from collections.abc import Sequence
from typing import Self

from safepassage.schemas.base import Contract, Probability

from .bounds import labels_needed, least_share_to_people
from .certificate import keeps, risk_at
from .strata import DrawnLabel, strata_of

ACCEPTED, STOPPED = 1.0, 0.0
"""Scores of labels whose decisions are known."""
_BETWEEN = 0.5


class AcceptedRisk(Contract):
    """How much is wrong of what passes without a person, between ``low`` and ``high``, each at
    ``confidence``, by ``labels`` of it (``wrong`` of these). ``certified``: that at most ``asked``
    is. Else ``wanted`` more labels as good as these would do, None where no number would; people
    have to judge the share ``to_people`` then. ``lacking`` says why there are no bounds."""

    labels: int = 0
    wrong: int = 0
    low: Probability = 0.0
    high: Probability = 1.0
    confidence: Probability
    asked: Probability | None = None
    certified: bool = False
    wanted: int | None = None
    to_people: Probability = 0.0
    lacking: str = ""

    def __str__(self) -> str:
        if self.lacking:
            return self.lacking
        said = f"{self.low:.1%} to {self.high:.1%} ({self.wrong} of {self.labels} wrong)"
        if self.asked is None:
            return said
        if self.certified:
            return f"{said}; certified: at most {self.asked:.1%}"
        if self.wanted is None:
            return f"{said}; no number of labels would certify {self.asked:.1%}"
        return f"{said}; for {self.asked:.1%} at least {self.wanted} more spot checks are wanted"

    @classmethod
    def of(
        cls,
        labels: Sequence[DrawnLabel],
        newly: int,
        *,
        confidence: float,
        asked: float | None = None,
    ) -> Self:
        """From ``labels`` with the scores `ACCEPTED` or `STOPPED` by the scorer in question, and
        how many values it accepts that were stopped when they were drawn (``newly``)."""
        # What was accepted says nothing of values that were stopped then, and the other way round.
        counted = labels if newly else [label for label in labels if label.accepted]
        strata = strata_of(counted)
        found = risk_at(strata, _BETWEEN, confidence)
        why = ""
        if not any(label.accepted for label in labels):
            why = "no spot check of accepted values counts"
        elif newly and len(strata) < 2:
            why = f"{newly} values pass that were stopped, and chance drew no label of such"
        elif not found.labels:
            why = "no spot check of what it accepts counts"
        if why:
            return cls(confidence=confidence, asked=asked, lacking=why)
        low, high = found.bounds
        certified = asked is not None and keeps(strata, _BETWEEN, asked, confidence)
        needed = None if asked is None else labels_needed(asked, confidence, found.observed)
        return cls(
            labels=found.labels,
            wrong=found.wrong,
            low=low,
            high=high,
            confidence=confidence,
            asked=asked,
            certified=certified,
            wanted=0 if certified else needed and max(1, needed - found.labels),
            to_people=0.0 if asked is None else least_share_to_people(found.observed, asked),
        )
