"""Erases documents: says so on ``erasures``, then deletes what it can reach, place by place.

Every step may be repeated, so a run that was cut off is repeated whole. From the first step on no
role works on the documents; only the last one says that all is done.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog
from redis import RedisError

from safepassage.agents.document_store import text_key
from safepassage.agents.extraction.cache import answers_about
from safepassage.schemas import Erasure
from safepassage.scoring_worker.manifest import file_digest

from ..agent_factory import redis_client
from ..kafka.admin import topic_retention
from ..kafka.publisher import KafkaPublisher, PublishFailed, open_publisher, send_values
from ..kafka.reading import read_erasures
from ..kafka.records import Outgoing
from ..offline.evidence_boxes import original_path
from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import ERASURES, MEMORIES, Topic
from .files import Taught, learnt_files, lines_about, taught_scorers, without
from .keys import delete_keys
from .survey import REMADE, Found, survey

log = structlog.get_logger(__name__)

ROUNDS = 5  # A worker writes a snapshot half a second after a decision went: looked for so often
ROUND_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Remains:
    """Records that stay on a topic until their retention is over: ``until`` then; None where that
    is never, or, with ``untold``, where the broker does not say. ``sealed`` ones stay as long, and
    cannot be read: their key is deleted."""

    topic: str
    records: int
    sealed: int
    until: datetime | None
    untold: bool = False


@dataclass(slots=True)
class Report:
    """What an erasure did, or a dry run would do. ``unreached`` says in a line each what could not
    be looked at or deleted; the erasure is not done then."""

    documents: tuple[str, ...]
    dry_run: bool
    tombstones: dict[str, int] = field(default_factory=dict)
    texts: int = 0
    answers: int = 0
    originals: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    lines: int = 0
    remains: list[Remains] = field(default_factory=list)
    scorers: list[Taught] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)


async def unfinished(settings: Settings) -> list[str]:
    known = await read_erasures(settings)
    return [one.doc_id for one in known.erasures.values() if one.done_at is None]


async def erase(
    settings: Settings, documents: Sequence[str], by: str, reason: str, *, dry_run: bool = False
) -> Report:
    """Erase ``documents``, or with ``dry_run`` say what that would do."""
    report = Report(tuple(documents), dry_run)
    async with AsyncExitStack() as resources:
        writer = None
        if not dry_run:
            publisher = await resources.enter_async_context(open_publisher(settings))
            writer = _Writer(publisher, settings)
            await writer.announce(documents, by, reason)
        found = await survey(settings, documents)
        await _redis(settings, found, report)
        _originals(settings, found, report)
        _learnt(settings, report)
        await _tombstones(settings, found, report, writer)
        # Last, and only if all else is done: what is sealed is needed to know where to look.
        if writer and not report.unreached:
            await writer.delete_keys(documents)
        await _remains(settings, found, report)
        report.scorers = await taught_scorers(settings, documents)
        if writer and not report.unreached:
            await writer.finish(documents)
    return report


class _Writer:
    """What an erasure writes."""

    def __init__(self, publisher: KafkaPublisher, settings: Settings) -> None:
        self._settings = settings
        self._publisher = publisher

    async def announce(self, documents: Iterable[str], by: str, reason: str) -> None:
        """Say that the documents are erased; of those erased before, who said so first stays."""
        known = await read_erasures(self._settings)
        now = datetime.now(UTC)
        new = {d: Erasure(doc_id=d, at=now, by=by, reason=reason) for d in documents}
        begun = [known.erasures.get(doc_id, erasure) for doc_id, erasure in new.items()]
        await self._say(one.model_copy(update={"done_at": None}) for one in begun)

    async def finish(self, documents: Iterable[str]) -> None:
        known = await read_erasures(self._settings)
        now = datetime.now(UTC)
        await self._say(known.erasures[d].model_copy(update={"done_at": now}) for d in documents)

    async def delete_keys(self, names: Collection[str]) -> None:
        if self._settings.keys_file:
            await delete_keys(self._settings, self._publisher.producer, names)

    async def tombstones(self, topic: Topic, keys: Iterable[bytes]) -> None:
        name = self._settings.topic(topic.name)
        await send_values(self._publisher.producer, name, dict.fromkeys(keys))

    async def _say(self, erasures: Iterable[Erasure]) -> None:
        said = list(erasures)
        outgoing = [Outgoing(ERASURES, erasure.doc_id, erasure) for erasure in said]
        if await self._publisher.publish(outgoing):
            raise PublishFailed("the broker refuses an event of the erasure")
        known = await read_erasures(self._settings)
        for erasure in said:
            known.add(erasure)


async def _redis(settings: Settings, found: Found, report: Report) -> None:
    client = redis_client(settings)
    try:
        texts = [text_key(digest) for digest in sorted(found.digests)]
        report.texts = await client.exists(*texts) if texts else 0
        answers = await answers_about(client, found.digests) if texts else []
        report.answers = len(answers)
        if texts and not report.dry_run:
            await client.delete(*texts, *answers)
    except (RedisError, OSError) as error:
        report.unreached.append(
            f"Redis does not answer ({type(error).__name__}): texts stay there for "
            f"{settings.text_ttl_seconds} seconds, answers of the LLM for a week"
        )
    finally:
        await client.aclose()


def _originals(settings: Settings, found: Found, report: Report) -> None:
    for uri, original in sorted(found.originals.items()):
        if settings.originals is None:
            report.unreached.append(f"original {uri}: SAFEPASSAGE_ORIGINALS is not set here")
            continue
        try:
            path = original_path(settings.originals, original)
            if path is None or file_digest(path) != original.digest:
                continue
            if uri in found.shared:
                report.shared.append(uri)
            else:
                report.originals.append(uri)
                if not report.dry_run:
                    path.unlink()
        except OSError as error:
            report.unreached.append(f"original {uri}: {error.strerror}")


def _learnt(settings: Settings, report: Report) -> None:
    for path in learnt_files(settings):
        try:
            lines = lines_about(path, report.documents)
            report.lines += lines
            if lines and not report.dry_run:
                without(path, report.documents)
        except OSError as error:
            report.unreached.append(f"{path}: {error.strerror}")


async def _tombstones(
    settings: Settings, found: Found, report: Report, writer: _Writer | None
) -> None:
    """Take the documents out of what is compacted. A worker that had not heard of the erasure, or
    that notes what it forgot, may write once more: looked for again until nothing is found."""
    rounds = 0
    while found.tombstones:
        for topic, keys in found.tombstones.items():
            report.tombstones[topic.name] = report.tombstones.get(topic.name, 0) + len(keys)
            if writer:
                if topic is MEMORIES:
                    await writer.delete_keys([key.decode("utf-8", "replace") for key in keys])
                await writer.tombstones(topic, keys)
        rounds += 1
        if writer is None:
            return
        if rounds >= ROUNDS:
            raise OperatorError("a worker goes on writing what it learnt: run it again")
        await asyncio.sleep(ROUND_SECONDS)
        found = await survey(settings, report.documents, REMADE)


async def _remains(settings: Settings, found: Found, report: Report) -> None:
    there = {*found.records, *found.sealed}
    topics = sorted((t for t in there if not t.compacted), key=lambda topic: topic.name)
    kept = await topic_retention(settings, topics) if topics else {}
    for topic in topics:
        name = settings.topic(topic.name)
        milliseconds = kept.get(name)
        until = None
        if milliseconds is not None and milliseconds >= 0:
            until = datetime.fromtimestamp(found.newest[topic] / 1000, UTC) + timedelta(
                milliseconds=min(milliseconds, _CENTURY_MS)
            )
        counts = found.records[topic], found.sealed[topic]
        report.remains.append(Remains(topic.name, *counts, until, untold=milliseconds is None))


_CENTURY_MS = 100 * 366 * 24 * 3600 * 1000
