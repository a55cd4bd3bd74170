"""Framed values: the schema is registered once, and every reader reads with and without a frame."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pydantic import SecretStr

from safepassage.schemas import Document, Erasure
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import Outgoing, decode
from safepassage.streams.kafka.schema_registry import RegistryRefuses, framed, unframed
from safepassage.streams.sealing.frame import MAGIC
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS, ERASURES, KEYS


class Registry(HTTPServer):
    """Answers as a Schema Registry does; what was registered is kept."""

    status, answer = 200, b'{"id": 258}'

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.registered: list[tuple[str, str | None, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Asked(BaseHTTPRequestHandler):
    server: Registry

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.registered.append((self.path, self.headers["authorization"], body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def registry() -> Iterator[Registry]:
    server = Registry()
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server
    server.shutdown()
    serving.join()
    server.server_close()


async def test_values_are_framed_and_read_beside_those_without_a_frame(
    kafka: Settings, registry: Registry
):
    await create_topics(kafka)
    login = SecretStr("ada:secret")
    framing = kafka.model_copy(
        update={"schema_registry_url": registry.url, "schema_registry_basic_auth_user_info": login}
    )
    documents = [Document(id=name, text="a text") for name in ("a", "b", "c")]
    for settings, document in zip((framing, kafka, framing), documents, strict=True):
        async with open_publisher(settings) as publisher:
            await publisher.publish([Outgoing(DOCUMENTS, "d", document)])
    records = [record async for record in read_topics(kafka, [DOCUMENTS])]
    assert [decode(record, Document).event for record in records] == documents
    starts = [(record.value or b"")[:6] for record in records]
    assert starts == [b"\0\0\0\1\2{", starts[1], b"\0\0\0\1\2{"]
    assert starts[1].startswith(b"{")
    ((path, authorization, body),) = registry.registered
    assert path == f"/subjects/{kafka.topic('documents')}-value/versions"
    assert authorization == "Basic " + base64.b64encode(b"ada:secret").decode()
    assert body["schemaType"] == "JSON"
    assert "text" in json.loads(body["schema"])["properties"]


async def test_what_is_sealed_and_what_was_erased_have_no_frame(registry: Registry):
    settings = Settings(schema_registry_url=registry.url)
    assert await framed(MAGIC + b"x", DOCUMENTS, settings) == MAGIC + b"x"
    for topic in (ERASURES, KEYS):
        assert await framed(b"{}", topic, settings) == b"{}"
    assert registry.registered == []
    assert unframed(MAGIC + b"x") == MAGIC + b"x"
    assert ERASURES.model is Erasure


@pytest.mark.parametrize(
    ("status", "answer", "why"),
    [
        (409, b"{}", "not compatible"),
        (401, b"{}", "401"),
        (200, b"no json", "gives no number"),
        (200, b'{"id": -1}', "gives no number"),
        (200, b"[]", "gives no number"),
    ],
)
async def test_a_schema_that_is_not_taken_is_told(
    registry: Registry, status: int, answer: bytes, why: str
):
    registry.status, registry.answer = status, answer
    settings = Settings(schema_registry_url=registry.url, topic_prefix=f"{status}{len(answer)}-")
    with pytest.raises(RegistryRefuses, match=why):
        await framed(b"{}", DOCUMENTS, settings)


async def test_a_registry_that_is_away_is_told():
    settings = Settings(schema_registry_url="http://127.0.0.1:9", topic_prefix="away-")
    with pytest.raises(RegistryRefuses, match="gives no number"):
        await framed(b"{}", DOCUMENTS, settings)
