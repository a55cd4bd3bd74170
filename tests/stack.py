"""The servers the tests run against: embedded ones, or real ones named by the environment."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from safepassage.streams.demo.embedded import embedded_redis, embedded_stack
from safepassage.streams.kafka.clients import open_admin
from safepassage.streams.settings import Settings

PARTITIONS = 4
# Real Kafka refuses less than 6 s; on the embedded broker joining a group takes half of it.
REAL_SESSION_SECONDS = 6.0
EMBEDDED_SESSION_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Stack:
    """A broker and a Redis. Tests that share real ones differ by topic prefix."""

    bootstrap_servers: str
    redis_url: str
    embedded: bool
    prefixes: list[str] = field(default_factory=list)

    def settings(self, **changes: object) -> Settings:
        """Settings with a topic prefix of their own, so that no test sees another's records."""
        made = Settings(
            kafka_bootstrap_servers=self.bootstrap_servers,
            redis_url=SecretStr(self.redis_url),
            kafka_idempotence=not self.embedded,
            topic_prefix=self._new_prefix(),
            partitions=PARTITIONS,
            publish_patience_seconds=20,
            drain_seconds=10,
        )
        session = EMBEDDED_SESSION_SECONDS if self.embedded else REAL_SESSION_SECONDS
        # Not validated: the embedded broker takes the short session that Settings refuse.
        return made.model_copy(update={"kafka_session_timeout_seconds": session, **changes})

    def _new_prefix(self) -> str:
        self.prefixes.append(f"t{uuid.uuid4().hex[:10]}-")
        return self.prefixes[-1]

    async def delete_topics(self) -> None:
        """Delete the topics of all settings that were given: a real broker maps files of each."""
        async with open_admin(Settings(kafka_bootstrap_servers=self.bootstrap_servers)) as admin:
            mine = [t for t in await admin.list_topics() if t.startswith(tuple(self.prefixes))]
            await admin.delete_topics(mine)


def environment(settings: Settings) -> dict[str, str]:
    """The variables under which a child process uses the same servers and topics."""
    session = max(REAL_SESSION_SECONDS, settings.kafka_session_timeout_seconds)
    return {
        **os.environ,
        "KAFKA_BOOTSTRAP_SERVERS": settings.kafka_bootstrap_servers,
        "REDIS_URL": settings.redis_url.get_secret_value(),
        "SAFEPASSAGE_KAFKA_IDEMPOTENCE": str(settings.kafka_idempotence),
        "SAFEPASSAGE_KAFKA_SESSION_TIMEOUT_SECONDS": str(session),
        "SAFEPASSAGE_TOPIC_PREFIX": settings.topic_prefix,
        "SAFEPASSAGE_PARTITIONS": str(settings.partitions),
        "OMP_NUM_THREADS": "1",
    }


@contextmanager
def running_stack() -> Iterator[Stack]:
    """The servers named by KAFKA_BOOTSTRAP_SERVERS and REDIS_URL, or embedded ones."""
    if bootstrap := os.environ.get("KAFKA_BOOTSTRAP_SERVERS"):
        given = os.environ.get("REDIS_URL")
        with contextlib.nullcontext(given) if given else embedded_redis() as redis_url:
            stack = Stack(bootstrap, redis_url, embedded=False)
            yield stack
        if stack.prefixes:
            asyncio.run(stack.delete_topics())
        return
    with embedded_stack() as running:
        yield Stack(running.bootstrap_servers, running.redis_url, embedded=True)
