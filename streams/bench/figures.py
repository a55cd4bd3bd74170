"""The figures of one rate."""

import math
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from safepassage.schemas import Contract, Coordinates

from .arrivals import Arrival
from .completions import Ending
from .roles import RoleFigures

PERCENTILES = (50, 90, 99)


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
    loads: Sequence[RoleFigures],
    lags: Mapping[str, int],
    bottleneck: str | None,
) -> BenchFigures:
    """The figures of ``arrivals`` within ``seconds``, of which some ended before ``until``, when
    the last one was due; ``lags`` are those of that moment."""
    ended = [endings[arrival.place] for arrival in arrivals if arrival.place in endings]
    in_time = [ending for ending in ended if ending.at <= until]
    by_role = {name: RoleFigures(role=name) for name in lags} | {one.role: one for one in loads}
    ends = [endings[a.place].at if a.place in endings else math.inf for a in arrivals]
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
        end_to_end=percentiles(end - a.accepted for a, end in zip(arrivals, ends, strict=True)),
        from_due=percentiles(end - a.due for a, end in zip(arrivals, ends, strict=True)),
        late=percentiles(a.accepted - a.due for a in arrivals),
        roles=tuple(
            role.model_copy(update={"lag": lags.get(name)}) for name, role in by_role.items()
        ),
        bottleneck=bottleneck,
        kept_up=len(ended) == len(arrivals) and len(in_time) >= 0.9 * len(arrivals),
    )


def percentiles(values: Iterable[float]) -> dict[str, float | None]:
    """Of ``values``, and the largest; None for infinity, and where there is no value."""
    ordered = sorted(values)
    if not ordered:
        return dict.fromkeys([*(f"p{p}" for p in PERCENTILES), "max"])
    ranks = {f"p{p}": math.ceil(p / 100 * len(ordered)) - 1 for p in PERCENTILES}
    found = {name: ordered[rank] for name, rank in {**ranks, "max": -1}.items()}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}
