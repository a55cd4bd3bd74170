"""What comparator and reader say of a part, in figures for the stack and in words for people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas import CLAIM_TYPE, Finding
from safepassage.scoring_worker.comparison import Place
from safepassage.scoring_worker.encoders.batching import PairFailure
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.forest import Predictor
from safepassage.scoring_worker.memory.reviewed_alike import Recall

from .claim_support import claim_support, reading
from .preferred_rival import preferred_rival
from .questions import Part

LARGEST = 8.0
"""Logits are cut at this size and scaled to [-1, 1]."""

UNREAD = {"entailed": -1.0}
"""What the reader says for a claim that it has nothing to read for."""

SHAPES = ("claim", "located", "unlocated")
CLAUSE = "clause_mean"
"""The value's tokens where the reader reads nothing but the value's own clause: what is around
it distracts (emails of `general`: AUROC .83 with this feature, .77 without)."""
READ_FEATURES = frozenset(
    {
        "value_mean", "value_least", "rival", "lead", "entailed", "founded_least", "borne_out",
        CLAUSE,
    }
)  # fmt: skip
"""What the reader says; the other features are of the comparators and of packs."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """``shape`` says which coefficients weigh ``features``; ``different`` is decisive. ``recall``
    is what people decided on values like this one."""

    shape: str
    features: dict[str, float]
    findings: tuple[Finding, ...] = ()
    different: bool = False
    unfounded: tuple[Place, ...] = ()
    recall: Recall | None = None

    def with_statement(self, said: float) -> Opinion:
        """This opinion as if the reader had said ``said`` in [-1, 1] of the whole statement."""
        return replace(self, features={**self.features, "entailed": said, "founded_least": said})


def opinion_of(
    part: Part,
    read: Reading | PairFailure | None,
    entailed: Reading | PairFailure | None,
    forest: Predictor,
    clause: Reading | PairFailure | None = None,
) -> Opinion | PairFailure:
    """The opinion on ``part``: ``read`` answers its question, ``entailed`` its claim, ``clause``
    its question of the value's clause.

    Each is None where it was not asked. A failure of what was asked is the part's failure.
    ``forest`` weighs free-text claims; see `claim_support`.
    """
    for given in (read, entailed, clause):
        if isinstance(given, PairFailure):
            return given
    assert not isinstance(read, PairFailure)  # noqa: S101 (for the type checker)
    assert not isinstance(entailed, PairFailure)  # noqa: S101
    assert not isinstance(clause, PairFailure)  # noqa: S101
    comparison = part.comparison
    features = dict(part.known)
    findings = list(comparison.findings)
    unfounded: tuple[Place, ...] = ()
    if read is not None and comparison.places:
        located, rival = _located(part, read)
        features |= located
        findings += rival
    if clause is not None:
        place, shift = comparison.places[0], part.shift - part.clause_start
        inside = clause.inside(place.start + shift, place.end + shift)
        if inside.any():
            features[CLAUSE] = _scaled(float(clause.answers[inside].mean()))
    if entailed is not None:
        features |= of_statement(entailed)
        unfounded = unfounded_words(entailed)
    shape = shape_of(part)
    if part.unread:
        features |= UNREAD
    if part.asked.entity_type == CLAIM_TYPE and "entailed" in features:
        features["borne_out"] = _scaled(claim_support(features | reading(features), forest))
    if shape == "claim" and entailed is not None and unfounded:
        findings.append(_unfounded_finding(part, unfounded))
    return Opinion(shape, features, tuple(findings), comparison.answer == "different", unfounded)


def of_statement(read: Reading) -> dict[str, float]:
    """What the reader says of a whole statement, and of the word in it that is founded least."""
    said = {"entailed": _scaled(read.claim)}
    if len(read.founded):
        said["founded_least"] = _scaled(float(read.founded.min()))
    return said


def shape_of(part: Part) -> str:
    """Which coefficients weigh ``part``."""
    if part.question is None:
        return "claim"
    return "located" if part.comparison.places else "unlocated"


def at_places(part: Part, read: Reading) -> list[NDArray[np.bool_]]:
    """Which tokens of the passage are the value's, for each place where it has any."""
    inside = [
        read.inside(place.start + part.shift, place.end + part.shift)
        for place in part.comparison.places
    ]
    return [one for one in inside if one.any()]


def _located(part: Part, read: Reading) -> tuple[dict[str, float], list[Finding]]:
    """The value's tokens against the best token elsewhere."""
    places = at_places(part, read)
    if not places:
        return {}, []
    found = [read.answers[inside] for inside in places]
    mean, least = max((float(logits.mean()), float(logits.min())) for logits in found)
    beside = np.logical_or.reduce(places)
    for place in part.comparison.companions:
        beside |= read.inside(place.start + part.shift, place.end + part.shift)
    elsewhere = np.where(beside, -np.inf, read.answers)
    if part.siblings:  # other values of the field are no rivals of this one
        elsewhere = np.full(len(read.answers), -np.inf)
    rival = float(elsewhere.max()) if len(elsewhere) else -LARGEST
    features = {
        "value_mean": _scaled(mean),
        "value_least": _scaled(least),
        "rival": _scaled(rival),
        "lead": _scaled(mean - rival),
    }
    return features, preferred_rival(part, read, elsewhere, mean)


def unfounded_words(read: Reading) -> tuple[Place, ...]:
    """Places in the claim whose words the passage does not support, neighbours as one."""
    places: list[Place] = []
    for start, end, logit in zip(read.asked_starts, read.asked_ends, read.founded, strict=True):
        if logit >= 0:
            continue
        if places and start - places[-1].end <= 1:
            places[-1] = Place(places[-1].start, int(end))
        else:
            places.append(Place(int(start), int(end)))
    return tuple(places)


def _unfounded_finding(part: Part, places: tuple[Place, ...]) -> Finding:
    words = [part.claim.asked[place.start : place.end].strip() for place in places]
    listed = "; ".join(repr(word) for word in words if word)
    return Finding(code="words_unfounded", detail=f"not supported: {listed}"[:500])


def _scaled(logit: float) -> float:
    return min(max(logit, -LARGEST), LARGEST) / LARGEST
