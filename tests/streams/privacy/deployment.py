"""A deployment that knows a document everywhere, and a search of every byte of it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

import orjson
import zstandard
from redis.asyncio import Redis

from safepassage.agents.document_store import DocumentStore
from safepassage.agents.extraction.cache import CachedAnswer, CacheKey, ExtractionCache
from safepassage.schemas import (
    AlignedExtraction,
    Alignment,
    Assessment,
    Coordinates,
    DeadLetter,
    Document,
    Extraction,
    ExtractionManifest,
    ExtractorTrail,
    Layout,
    MemorySnapshot,
    Review,
    Span,
    StandingDecision,
    Usage,
    judge,
)
from safepassage.schemas.layout import Original
from safepassage.schemas.memory import MemoryEntry, ReviewerVote
from safepassage.schemas.reviews_that_count import case_id
from safepassage.schemas.verdict_after_review import decision_on
from safepassage.streams.delivery.dead_letter_event import dead_letter, subject_of
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_admin, new_producer
from safepassage.streams.kafka.erasures_and_seals import protection
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.kafka.reading import assign, high_watermarks, reader
from safepassage.streams.kafka.records import Outgoing, Record
from safepassage.streams.replay.plan import verdicts_topic
from safepassage.streams.sealing.seals import Seals
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ALIGNMENTS,
    DEAD_LETTERS,
    DECISIONS,
    DOCUMENTS,
    EXTRACTIONS,
    MANIFESTS,
    MEMORIES,
    QUARANTINE,
    REVIEWS,
)
from tests.streams.console.cases import review

REPLAY = verdicts_topic("earlier")


def canary(doc_id: str) -> str:
    """Words that stand in no other text."""
    return f"canary-{hashlib.sha256(doc_id.encode()).hexdigest()[:20]}"


def document_of(doc_id: str, original: Original | None = None) -> Document:
    text = f"The tenant {canary(doc_id)} pays 700 a month. The judge was {canary(doc_id)}."
    layout = Layout(pages=(), regions=()) if original else None
    return Document(id=doc_id, text=text, original=original, layout=layout)


class Traces:
    """Everything that the flow makes of a document."""

    def __init__(self, doc_id: str, original: Original | None = None) -> None:
        self.document = document_of(doc_id, original)
        self.ref = self.document.ref(Coordinates(topic="documents", partition=0, offset=0))
        text = self.document.text
        self.extraction = Extraction(
            id=f"{doc_id}-tenant",
            doc_id=doc_id,
            entity_type="Tenant",
            value=canary(doc_id),
            context=text[:60],
            document=self.ref,
            extractor=ExtractorTrail(model="m", prompt_digest="p", schema_digest="s"),
        )
        self.aligned = AlignedExtraction(
            extraction=self.extraction,
            document=self.ref,
            alignment=Alignment(
                score=1.0,
                matches=60,
                length=60,
                unaligned=0,
                threshold=0.5,
                spans=(Span(start=0, end=60, text=text[:60]),),
                route="verbatim",
            ),
        )
        self.verdict = judge(
            self.aligned, Assessment(scorer="s", revision="1", score=0.3, threshold=0.5)
        )
        self.review = review(self.verdict)
        decision = decision_on(self.verdict, [self.review])
        assert decision
        self.decision: StandingDecision = decision
        self.snapshot = MemorySnapshot.of("scorer", None, (self._entry(),), ())
        record = Record("x", 0, 1, doc_id.encode(), self.extraction.to_json())
        self.letter: DeadLetter = dead_letter(
            record, "align", "Broken", "", about=subject_of(self.extraction)
        )

    def _entry(self) -> MemoryEntry:
        return MemoryEntry(
            case_id=case_id(self.verdict),
            doc_id=self.document.id,
            review_id=self.review.id,
            entity_type="Tenant",
            shape="located",
            space="1",
            state=base64.b64encode(canary(self.document.id).encode()).decode(),
            log_odds=0.1,
            votes=(ReviewerVote(reviewer="Ana", supported=True),),
        )

    def outgoing(self) -> list[Outgoing]:
        doc_id, verdict = self.document.id, self.verdict
        manifest = ExtractionManifest(document=self.ref, extraction_ids=(self.extraction.id,))
        return [
            Outgoing(DOCUMENTS, doc_id, self.document),
            Outgoing(MANIFESTS, doc_id, manifest),
            Outgoing(EXTRACTIONS, doc_id, self.extraction),
            Outgoing(ALIGNMENTS, doc_id, self.aligned),
            Outgoing(QUARANTINE, doc_id, verdict),
            Outgoing(REPLAY, doc_id, verdict),
            Outgoing(REVIEWS, doc_id, self.review),
            Outgoing(DECISIONS, self.decision.case_id, self.decision),
            Outgoing(MEMORIES, self.snapshot.name, self.snapshot),
            Outgoing(DEAD_LETTERS, doc_id, self.letter),
        ]


TOPICS = (DOCUMENTS, MANIFESTS, EXTRACTIONS, ALIGNMENTS, QUARANTINE, REPLAY, REVIEWS, DEAD_LETTERS)
COMPACTED = (DECISIONS, MEMORIES)


async def deploy(settings: Settings, ids: Iterable[str]) -> list[Traces]:
    """Put every trace of the documents where it lies in a deployment."""
    await create_topics(settings)
    await create_topics(settings, [REPLAY])
    made = []
    publisher = KafkaPublisher(new_producer(settings), settings)
    await publisher.start()
    try:
        for doc_id in ids:
            traces = Traces(doc_id, _original(settings, doc_id))
            made.append(traces)
            assert await publisher.publish(traces.outgoing()) == {}
            await _to_redis(settings, traces)
            _to_learn_folder(settings, traces.review)
    finally:
        await publisher.stop()
    return made


def _original(settings: Settings, doc_id: str) -> Original | None:
    if settings.originals is None:
        return None
    settings.originals.mkdir(exist_ok=True)
    content = f"scan of {canary(doc_id)}".encode()
    (settings.originals / f"{doc_id}.pdf").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return Original(uri=f"{doc_id}.pdf", digest=digest, media_type="application/pdf")


async def _to_redis(settings: Settings, traces: Traces) -> None:
    async def nowhere(_: object) -> str:
        raise LookupError

    async with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        await DocumentStore(redis, reread=nowhere).put(traces.ref, traces.document.text)
        key = CacheKey(
            document_digest=traces.ref.digest,
            model="m",
            prompt_digest="p",
            schema_digest="s",
            chunking="c",
        )
        row = {"entity_type": "Tenant", "value": traces.extraction.value, "context": "tenant"}
        usage = Usage(input_tokens=1, output_tokens=1, milliseconds=1)
        answer = CachedAnswer.model_validate({"key": key, "rows": [row], "usage": usage})
        await ExtractionCache(redis).keep(answer)


def _to_learn_folder(settings: Settings, made: Review) -> None:
    folder = settings.learn_folder / "20260101-000000-000000-00000000"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "reviews.jsonl").open("ab") as file:
        file.write(made.to_json() + b"\n")


async def places_with(settings: Settings, needle: str) -> set[str]:
    """Where a text can be read: topics, ``redis``, and files by name. Compressed values are
    opened, and what is base64 in a record is decoded."""
    places = set()
    async for topic, value in _every_value(settings):
        if _reads(value, needle):
            places.add(topic)
    async with Redis.from_url(settings.redis_url.get_secret_value()) as redis:
        async for key in redis.scan_iter():
            stored = await redis.get(key) or b""
            plain = zstandard.decompress(stored) if stored[:4] == b"\x28\xb5\x2f\xfd" else stored
            if _reads(plain, needle):
                places.add("redis")
    folders = [settings.learn_folder, *([settings.originals] if settings.originals else [])]
    files = await asyncio.to_thread(lambda: [p for f in folders for p in Path(f).rglob("*")])
    places |= {p.name for p in files if p.is_file() and _reads(p.read_bytes(), needle)}
    return places


def _reads(value: bytes, needle: str) -> bool:
    if needle.encode() in value:
        return True
    return any(
        needle.encode() in base64.b64decode(found[: len(found) // 4 * 4])
        for found in re.findall(rb"[A-Za-z0-9+/]{24,}", value)
    )


async def _every_value(settings: Settings):
    """Topic without prefix and value of every record; of compacted topics as compaction leaves
    them, which the embedded broker does not do by itself."""
    admin = new_admin(settings)
    await admin.start()
    names = [n for n in await admin.list_topics() if n.startswith(settings.topic_prefix)]
    await admin.close()
    compacted = {settings.topic(topic.name) for topic in COMPACTED}
    latest: dict[tuple[str, bytes], bytes] = {}
    async with reader(settings) as consumer:
        assigned = await assign(consumer, names)
        ends = await high_watermarks(consumer, assigned)
    async with reader(settings) as consumer:
        await assign(consumer, names)
        missing = {tp for tp, end in ends.items() if end}
        while missing:
            for tp, messages in (await consumer.getmany(timeout_ms=200)).items():
                for one in messages:
                    if one.topic in compacted:
                        latest[one.topic, one.key] = one.value or b""
                    elif one.value is not None:
                        yield one.topic.removeprefix(settings.topic_prefix), one.value
                    assert all(b"canary" not in value for _, value in one.headers)
                if messages[-1].offset + 1 >= ends[tp]:
                    missing.discard(tp)
    for (topic, _), value in latest.items():
        yield topic.removeprefix(settings.topic_prefix), value


def learnt_rows(settings: Settings) -> list[str]:
    """The documents of the reviews in the learn folder."""
    files = settings.learn_folder.glob("*/reviews.jsonl")
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    return [orjson.loads(line)["verdict"]["doc_id"] for line in lines]


def add_master_key(path: Path) -> Path:
    """A new key in front of those of the file, if there is one."""
    before = path.read_bytes() if path.exists() else b""
    path.touch(mode=0o600)
    path.write_bytes(base64.b64encode(os.urandom(32)) + b"\n" + before)
    return path


def forget_what_is_known(settings: Settings) -> None:
    """As if this process had just started."""
    known = protection(settings)
    known.erasures.clear()
    known.offsets.clear()
    known._read_at = float("-inf")
    if settings.keys_file:
        known.seals = Seals(settings.keys_file)
