"""How far two reviewers agree who did not see each other's decision."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from safepassage.schemas import Review
from safepassage.schemas.reviews_that_count import JUDGED, in_order
from safepassage.scoring_worker.evaluation.kappa import exchangeable_kappa, kappa_interval

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReviewerAgreement:
    """Of one entity type, or of all (""): how many cases two people reviewed without seeing each
    other's decision, on how many they ``agree``, and Cohen's kappa in [-1, 1] with its 95%
    interval. None where all said the same of every case."""

    entity_type: str
    cases: int
    agree: int
    kappa: float | None
    interval: tuple[float, float] | None


def blind_pair(reviews: Iterable[Review]) -> Pair | None:
    """What the first two people said of a case who saw nobody else's decision: 1 supported, 0 not.
    None while fewer than two did. A decision that was taken back before there was another one to
    see is replaced by the next; afterwards the first word counts."""
    said: dict[str, int] = {}
    open_to: dict[str, str] = {}
    for review in in_order(reviews):
        taken_back = open_to.get(review.supersedes or "")
        if review.decision == "undone" and taken_back and len(said) == 1:
            del said[taken_back]
        if review.decision not in JUDGED or review.double_blind is None:
            continue
        if review.person in said and len(said) > 1:
            continue
        said[review.person] = int(review.decision == "supports")
        open_to[review.id] = review.person
        if len(said) == 2:
            break
    return (*said.values(),) if len(said) == 2 else None  # type: ignore[return-value]


def agreement(pairs: Iterable[tuple[str, Pair]]) -> list[ReviewerAgreement]:
    """Over all, then by entity type, most cases first. ``pairs`` are types and `blind_pair`."""
    of_type: dict[str, list[Pair]] = defaultdict(list)
    for entity_type, pair in pairs:
        of_type[entity_type].append(pair)
    every = [pair for of_one in of_type.values() for pair in of_one]
    named = sorted(of_type, key=lambda name: (-len(of_type[name]), name))
    return [_agreement("", every), *(_agreement(name, of_type[name]) for name in named)]


def _agreement(entity_type: str, pairs: Sequence[Pair]) -> ReviewerAgreement:
    agree = sum(a == b for a, b in pairs)
    kappa = exchangeable_kappa(pairs)
    return ReviewerAgreement(entity_type, len(pairs), agree, kappa, kappa_interval(pairs))
