"""The figures of one rate."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from pydantic import Field

from safepassage.schemas import Contract, Coordinates

from .arrivals import Arrival
from .completions import Ending
from .roles import RoleLoad

PERCENTILES = (50, 90, 99)


class RoleFigures(Contract):
    """One role; ``lag`` at the end of the arrivals, and the most that was seen. ``busy`` and
    ``seconds_per_record`` are None where its workers' metrics were not given,
    ``cpu_seconds_per_record`` also where other roles share its process."""

    role: str
    busy: float | None = None
    records_per_second: float | None = None
    seconds_per_record: float | None = None
    cpu_seconds_per_record: float | None = None
    lag: int | None = None
    highest_lag: int | None = None


class BenchFigures(Contract):
    """One rate. Times are in seconds. A percentile is over all documents that came; None is one
    of a document that had not ended when the benchmark did.

    ``end_to_end`` is from the broker's acceptance to the last verdict as a reader sees it,
    ``from_due`` from the moment at which the document was due, ``late`` by how much the
    benchmark itself sent late: where that is not small, its machine is the bottleneck.
    """

    rate: float
    seconds: float
    characters: float
    documents: int = Field(ge=0)
    ended: int = Field(ge=0)
    failed: int = Field(ge=0)
    verdicts: int = Field(ge=0)
    documents_per_second: float
    verdicts_per_second: float
    end_to_end: dict[str, float | None]
    from_due: dict[str, float | None]
    late: dict[str, float | None]
    roles: tuple[RoleFigures, ...]
    bottleneck: str | None
    kept_up: bool


def figures(
    *,
    rate: float,
    seconds: float,
    characters: float,
    arrivals: Sequence[Arrival],
    endings: Mapping[Coordinates, Ending],
    until: float,
    loads: Sequence[RoleLoad],
    lags: Sequence[Mapping[str, int]],
    bottleneck: str | None,
) -> BenchFigures:
    """The figures of ``arrivals`` within ``seconds``, of which some ended before ``until``, when
    the last one was due; ``lags`` were seen in this order."""
    ended = [endings[arrival.place] for arrival in arrivals if arrival.place in endings]
    in_time = [ending for ending in ended if ending.at <= until]
    by_role = {load.role: load for load in loads}
    names = dict.fromkeys((*by_role, *(role for seen in lags for role in seen)))

    def waits(start: Mapping[Coordinates, float]) -> list[float]:
        return [
            endings[place].at - at if place in endings else math.inf for place, at in start.items()
        ]

    return BenchFigures(
        rate=rate,
        seconds=seconds,
        characters=characters,
        documents=len(arrivals),
        ended=len(ended),
        failed=sum(ending.failed for ending in ended),
        verdicts=sum(ending.verdicts for ending in ended),
        documents_per_second=len(in_time) / seconds,
        verdicts_per_second=sum(ending.verdicts for ending in in_time) / seconds,
        end_to_end=percentiles(waits({a.place: a.accepted for a in arrivals})),
        from_due=percentiles(waits({a.place: a.due for a in arrivals})),
        late=percentiles(a.accepted - a.due for a in arrivals),
        roles=tuple(_role(name, by_role.get(name), lags) for name in names),
        bottleneck=bottleneck,
        kept_up=len(ended) == len(arrivals) and len(in_time) >= 0.9 * len(arrivals),
    )


def percentiles(values: Iterable[float]) -> dict[str, float | None]:
    """The smallest value that so many percent do not exceed, and the largest; None for infinity,
    and where there is no value."""
    ordered = sorted(values)
    if not ordered:
        return dict.fromkeys([*(f"p{p}" for p in PERCENTILES), "max"])
    ranks = {f"p{p}": math.ceil(p / 100 * len(ordered)) - 1 for p in PERCENTILES}
    found = {name: ordered[rank] for name, rank in {**ranks, "max": -1}.items()}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _role(name: str, load: RoleLoad | None, lags: Sequence[Mapping[str, int]]) -> RoleFigures:
    seen = [lag[name] for lag in lags if name in lag]
    return RoleFigures(
        **(asdict(load) if load else {"role": name}),
        lag=seen[-1] if seen else None,
        highest_lag=max(seen, default=None),
    )
