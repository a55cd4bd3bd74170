"""The live stream at a glance: rates, lag, what is stopped, the latest verdicts, warnings.

It reads outside every group and asks for other groups' offsets without joining them.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from safepassage.schemas import DriftWarning, Verdict

from ..kafka import admin
from ..kafka.reading import ends, follow_topics, read_topics, tails
from ..kafka.records import Record, event_of
from ..settings import Settings
from ..topics import ACCEPTED, ACCESS, DEAD_LETTERS, QUARANTINE, READ_BY, WARNINGS
from .deduplication import VERDICT_TOPICS

# `review` and `learn` read outside every group, so that they have neither lag nor a rate.
GROUPED = {role: topics for role, topics in READ_BY.items() if ACCESS[role].groups}
COUNTED = tuple(topic for topics in GROUPED.values() for topic in topics)

WINDOW_VERDICTS = 2_000
LATEST_VERDICTS = 8
LATEST_WARNINGS = 4
TAIL_RECORDS = 200
REFRESH_SECONDS = 2.0
MAX_TYPES = 12
Line = Callable[[], Awaitable[str]]
"""Reads a line for below the view; "" where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Rates in records a second by topic, and lag in records by role.

    A role that never committed, and so perhaps never ran, has no lag (None).
    """

    rates: Mapping[str, float]
    lags: Mapping[str, int | None]


@dataclass(slots=True)
class Stream:
    """What was seen of the stream lately: bounded."""

    window: deque[tuple[str, bool]] = field(default_factory=lambda: deque(maxlen=WINDOW_VERDICTS))
    latest: deque[Verdict] = field(default_factory=lambda: deque(maxlen=LATEST_VERDICTS))
    warnings: deque[DriftWarning] = field(default_factory=lambda: deque(maxlen=LATEST_WARNINGS))

    def read(self, record: Record, settings: Settings) -> None:
        is_warning = record.topic == settings.topic(WARNINGS.name)
        if event := event_of(record, DriftWarning) if is_warning else event_of(record, Verdict):
            self.note(event)

    def note(self, event: Verdict | DriftWarning) -> None:
        if isinstance(event, DriftWarning):
            self.warnings.append(event)
            return
        self.window.append((event.entity_type, event.decision != "accepted"))
        self.latest.append(event)

    def stopped_by_type(self) -> list[tuple[str, int, int]]:
        """Entity type, how many were stopped, of how many; most frequent types first."""
        totals = Counter(entity_type for entity_type, _ in self.window)
        stopped = Counter(entity_type for entity_type, was_stopped in self.window if was_stopped)
        return [(name, stopped[name], count) for name, count in totals.most_common(MAX_TYPES)]


class TrafficMeter:
    """Measures `Traffic` from one call to the next."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last: tuple[float, dict[str, int]] | None = None

    async def read(self) -> Traffic:
        """Rates since the last call (0 at the first), and lags as they are."""
        reach = await ends(self._settings, COUNTED)
        behind = await admin.lags(self._settings, reach, GROUPED)
        now, totals = time.monotonic(), Counter[str]()
        for tp, end in reach.items():
            totals[tp.topic] += end
        before, former = self._last or (now, totals)
        self._last = now, totals
        seconds = max(now - before, 1e-9)
        rates = {name: max(0, totals[name] - former.get(name, 0)) / seconds for name in totals}
        return Traffic(
            {topic.name: rates[self._settings.topic(topic.name)] for topic in COUNTED},
            {role: records if ran else None for role, (records, ran) in behind.items()},
        )


async def snapshot(settings: Settings, learning: Line) -> RenderableType:
    """The stream as it is, measured over about a second; ``learning`` tells of a training."""
    meter, stream = TrafficMeter(settings), Stream()
    await meter.read()
    topics = (*VERDICT_TOPICS, WARNINGS)
    start = await tails(settings, topics, TAIL_RECORDS)
    records = [record async for record in read_topics(settings, topics, start=start)]
    for record in sorted(records, key=lambda record: record.timestamp):
        stream.read(record, settings)
    await asyncio.sleep(1)
    return render(stream, await meter.read(), await learning())


async def watch(settings: Settings, learning: Line) -> AsyncIterator[RenderableType]:
    """The stream as it goes on, without end; ``learning`` tells of a training."""
    meter, stream = TrafficMeter(settings), Stream()
    topics = (*VERDICT_TOPICS, WARNINGS)
    start = await tails(settings, topics, TAIL_RECORDS)

    async def follow() -> None:
        async for record in follow_topics(settings, topics, start=start):
            stream.read(record, settings)

    following = asyncio.create_task(follow())
    try:
        while not following.done():
            yield render(stream, await meter.read(), await learning())
            await asyncio.sleep(REFRESH_SECONDS)
        following.result()
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def render(stream: Stream, traffic: Traffic, learning: str = "") -> RenderableType:
    """The view. Texts of documents are never read as markup."""
    parts: list[RenderableType] = [Columns([_roles(traffic), _stopped(stream)]), _latest(stream)]
    if learning:
        parts.append(Text(learning))
    if stream.warnings:
        parts.append(_warnings(stream))
    return Group(*parts)


def _roles(traffic: Traffic) -> Table:
    table = Table("role", "in /s", "lag", title="Roles", title_justify="left")
    for role, topics in GROUPED.items():
        rate, lag = sum(traffic.rates[topic.name] for topic in topics), traffic.lags[role]
        table.add_row(role, f"{rate:.1f}", "never ran" if lag is None else str(lag))
    for topic in (ACCEPTED, QUARANTINE, DEAD_LETTERS):
        table.add_row(f"→ {topic.name}", f"{traffic.rates[topic.name]:.1f}", "")
    return table


def _stopped(stream: Stream) -> Table:
    title = f"Stopped, of the last {len(stream.window)}"
    table = Table("entity type", "stopped", "of", title=title, title_justify="left")
    for name, stopped, total in stream.stopped_by_type():
        table.add_row(Text(name[:40]), f"{stopped / total:.0%}", str(total))
    return table


def _latest(stream: Stream) -> Table:
    table = Table("decision", "claim", "score", "why", title="Latest", title_justify="left")
    for verdict in reversed(stream.latest):
        score = "–" if verdict.score is None else f"{verdict.score:.2f}"
        why = ", ".join(verdict.reasons)
        table.add_row(verdict.decision, Text(verdict.hypothesis[:60]), score, why)
    return table


def _warnings(stream: Stream) -> Table:
    table = Table("when", "measure", "type", "", title="Warnings", title_justify="left")
    for warning in reversed(stream.warnings):
        entity_type = Text(warning.entity_type or "all")
        when = f"{warning.raised_at:%Y-%m-%d %H:%M}"
        table.add_row(when, warning.measure, entity_type, Text(warning.detail))
    return table
