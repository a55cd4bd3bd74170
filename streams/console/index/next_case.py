"""Which case a reviewer gets next, and by which draw."""

import math
from collections.abc import Collection

from safepassage.schemas import Draw
from safepassage.scoring_worker.risk.draws import Chance, check_every, draw

from .case_filter import CaseFilter
from .store import CaseStore

PREFERRED = 20  # The cases that teach most, from which the draws are taken that are not uniform

Choice = tuple[str | None, Draw | None]
"""A case, and the draw where chance chose it; twice None where there is no case."""


def choose(
    store: CaseStore, wanted: CaseFilter, person: str, taken: Collection[str], chance: Chance
) -> Choice:
    """A case that is not ``taken``; with the whole queue, double reviews and checks first."""
    order = [wanted]
    if wanted.pool == "queue":
        order.append(CaseFilter(pool="checks"))
        every = check_every(store.draws(accepted=True))
        if store.reviews_made(person) % every == every - 1:
            order.reverse()
        order.insert(0, CaseFilter(pool="double"))
    found = (_next(store, pool, person, taken, chance) for pool in order)
    return next((one for one in found if one[0]), (None, None))


def _next(
    store: CaseStore, wanted: CaseFilter, person: str, taken: Collection[str], chance: Chance
) -> Choice:
    """The next case of a filter: the first, or where chance decides, a draw.

    Several consoles draw as several reviewers at one do: what others have open is left out. One
    that is behind by some reviews may draw what was just decided elsewhere: that is not leased, and
    drawn again. It counts these among the open cases and not before, so that the population, which
    is their sum and what certificates rest on, is the same.
    """
    if not wanted.drawn:
        return store.next_case(wanted, person, taken), None
    own = {case for case in taken if store.holds(case, wanted, person)}
    among = store.count(wanted, person) - len(own)
    if among < 1:
        return None, None
    checks = wanted.pool == "checks"
    top = [] if checks else _teaching(store, wanted, person, own)
    drawn = draw(range(len(top)), among, chance)
    if drawn.position < len(top):
        case_id: str | None = top[drawn.position]
    else:
        # The lots are as good as chance, and the same after a restart.
        position = 0 if checks else drawn.position - len(top)
        case_id = store.by_lot(wanted, person, own | set(top), position)
    said = Draw(
        probability=drawn.probability,
        among=among,
        before=store.draws(accepted=checks),
        rate=store.sample_rate if checks else 1.0,
    )
    return case_id, said


def _teaching(
    store: CaseStore, wanted: CaseFilter, person: str, taken: Collection[str]
) -> list[str]:
    """The open cases of the filter that teach most, a handful."""
    valued = [
        (-teaching_value(one.margin, one.labels_of_type, one.labels_alike), one.id)
        for one in store.candidates(wanted, person)
        if one.id not in taken
    ]
    return [case_id for _, case_id in sorted(valued)[:PREFERRED]]


def teaching_value(margin: float, labels_of_type: int, labels_alike: int) -> float:
    """How much a case teaches, in [0, 2.5]: uncertain, of rare types, unlike what is known."""
    uncertain = max(0.0, 1.0 - 2.0 * margin)
    return uncertain + 1.0 / math.sqrt(1 + labels_of_type) + 0.5 / (1 + labels_alike)
