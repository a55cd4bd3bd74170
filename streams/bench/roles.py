"""How busy each role is, from the workers' own metrics, and what it has not done, from Kafka."""

import asyncio
import time
import urllib.request
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families

from safepassage.schemas import Contract

from ..kafka import admin
from ..kafka.reading import ends
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import READ_BY, RoleName

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
