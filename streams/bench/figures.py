"""The figures of one rate, and how busy each role was: from the workers' own metrics, and Kafka."""

import asyncio
import math
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families
from pydantic import Field

from safepassage.schemas import Contract, Coordinates

from ..kafka import admin
from ..kafka.reading import ends
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import READ_BY, RoleName
from .load import Arrival, Ending

PERCENTILES = (50, 90, 99)
# The roles on the way from a document to its verdicts, in their order.
ON_THE_WAY: tuple[RoleName, ...] = ("extract", "align", "score")
SCRAPE_SECONDS = 5.0


@dataclass(slots=True)
class Scrape:
    """What the workers say at one moment, summed over them by role. ``capacity`` is how many
    batches they handle at once; ``cpu`` is by the roles that share a process."""

    at: float
    busy: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    records: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    capacity: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    cpu: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))


class RoleFigures(Contract):
    """One role; ``lag`` is that at the end of the arrivals. ``busy`` and ``seconds_per_record`` are
    None where its workers' metrics were not given, ``cpu_seconds_per_record`` also where other
    roles share its process."""

    role: str
    busy: float | None = None
    records_per_second: float | None = None
    seconds_per_record: float | None = None
    cpu_seconds_per_record: float | None = None
    lag: int | None = None


async def scrape(urls: Sequence[str]) -> Scrape:
    texts = await asyncio.gather(*(asyncio.to_thread(_get, url) for url in urls))
    found = Scrape(time.monotonic())
    for text in texts:
        _add(found, text)
    return found


def loads(before: Scrape, after: Scrape, drained: Scrape) -> list[RoleFigures]:
    """What every role did from ``before`` to ``after``, while documents came. What a record takes
    is counted until ``drained``: a batch counts when it has ended, and may be as long as the rate
    was held."""
    seconds = after.at - before.at
    made = []
    for role in sorted(after.capacity):
        records = drained.records[role] - before.records[role]
        cpu = drained.cpu[role] - before.cpu[role] if role in drained.cpu else None
        made.append(
            RoleFigures(
                role=role,
                busy=(after.busy[role] - before.busy[role]) / (seconds * after.capacity[role]),
                records_per_second=(after.records[role] - before.records[role]) / seconds,
                seconds_per_record=_each(drained.busy[role] - before.busy[role], records),
                cpu_seconds_per_record=_each(cpu, records),
            )
        )
    return made


def _each(seconds: float | None, records: float) -> float | None:
    return None if seconds is None or not records else seconds / records


async def lags(settings: Settings) -> dict[str, int]:
    reach = await ends(settings, [topic for role in ON_THE_WAY for topic in READ_BY[role]])
    behind = await admin.lags(settings, reach, ON_THE_WAY)
    return {role: records for role, (records, _) in behind.items()}


def bottleneck(
    loads: Sequence[RoleFigures], first: Mapping[str, int], last: Mapping[str, int], records: int
) -> str | None:
    """The role that bounds the rate: the busiest on the way, if it is busy for four fifths of the
    time; else the one whose lag grew most, by more than a tenth of the ``records`` that came."""
    busy = {load.role: load.busy or 0.0 for load in loads if load.role in ON_THE_WAY}
    if busy and max(busy.values()) >= 0.8:
        return max(busy, key=lambda role: busy[role])
    growth = {role: lag - first.get(role, 0) for role, lag in last.items()}
    worst = max(growth, key=lambda role: growth[role], default=None)
    return worst if worst and growth[worst] > records / 10 else None


def _get(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise OperatorError(f"{url} is no address of metrics such as http://worker:9100/metrics")
    try:
        with urllib.request.urlopen(url, timeout=SCRAPE_SECONDS) as answer:  # noqa: S310
            return str(answer.read().decode())
    except OSError as error:
        raise OperatorError(f"{url}: no metrics: {error}") from error


def _add(found: Scrape, text: str) -> None:
    roles: set[str] = set()
    cpu = 0.0
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            role = sample.labels.get("role", "")
            match sample.name:
                case "safepassage_batch_seconds_sum":
                    found.busy[role] += sample.value
                case "safepassage_records_total":
                    found.records[role] += sample.value
                case "safepassage_lanes":
                    found.capacity[role] += sample.value
                    roles.add(role)
                case "process_cpu_seconds_total":
                    cpu = sample.value
    found.cpu["+".join(sorted(roles))] += cpu


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
    over = [endings[a.place].at if a.place in endings else math.inf for a in arrivals]
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
        end_to_end=percentiles(end - a.accepted for a, end in zip(arrivals, over, strict=True)),
        from_due=percentiles(end - a.due for a, end in zip(arrivals, over, strict=True)),
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
