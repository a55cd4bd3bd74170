"""What an LLM answered before, so that a redelivered document yields the same again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection

import redis.asyncio
import structlog
import zstandard
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from safepassage.schemas import Usage, stable_id

from .answers import Answer, Finding

log = structlog.get_logger(__name__)

MAX_ANSWER_BYTES = 16 * 1024 * 1024
REDIS_TIMEOUT = 2.0
PREFIX = "extraction:"
"""Of the Redis keys of answers."""


class CacheKey(BaseModel):
    """Everything that an answer depends on. ``record`` is where a document is that has an
    answer of its own, although its text was answered before."""

    model_config = ConfigDict(frozen=True)

    document_digest: str
    model: str
    prompt_digest: str
    schema_digest: str
    chunking: str
    endpoint: str = ""
    temperature: str = ""
    record: str = ""

    @property
    def name(self) -> str:
        """The Redis key."""
        own = () if self.record else ("record",)  # the names of before
        return PREFIX + stable_id("cached", *self.model_dump(exclude={*own}).values())


class CachedAnswer(BaseModel):
    """The findings of a whole document, and what they took."""

    key: CacheKey
    rows: list[Finding]
    skipped: dict[str, int] = Field(default_factory=dict)
    usage: Usage

    @classmethod
    def of(cls, key: CacheKey, answer: Answer, usage: Usage) -> CachedAnswer:
        rows, skipped = list(answer.findings), dict(answer.skipped)
        return cls(key=key, rows=rows, skipped=skipped, usage=usage)

    @property
    def answer(self) -> Answer:
        return Answer(tuple(self.rows), Counter(self.skipped))


class ExtractionCache:
    """Answers in Redis, for ``ttl`` seconds. Best effort: without Redis every call is a miss.

    What comes back is validated, and has to name the key it was asked by.
    """

    def __init__(
        self,
        redis: redis.asyncio.Redis,
        *,
        ttl: int = 7 * 24 * 3600,
        erased: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._redis = redis
        self._ttl = ttl
        self._erased = erased

    async def get(self, key: CacheKey) -> CachedAnswer | None:
        try:
            async with asyncio.timeout(REDIS_TIMEOUT):
                stored = await self._redis.get(key.name)
        except (redis.RedisError, OSError) as error:
            log.warning("extraction_cache_unavailable", error=type(error).__name__)
            return None
        return _decoded(stored, key) if isinstance(stored, bytes) else None

    async def keep(self, answer: CachedAnswer, doc_id: str = "") -> CachedAnswer:
        """Stores ``answer`` unless there is one already, and returns the one that counts. Of a
        document that was erased while the LLM was asked nothing is stored.

        Two workers may extract the same document at the same time; both then go on with the
        answer that came first.
        """
        if self._erased(doc_id):
            return answer
        encoded = zstandard.compress(answer.model_dump_json().encode())
        try:
            async with asyncio.timeout(REDIS_TIMEOUT):
                is_first = await self._redis.set(answer.key.name, encoded, ex=self._ttl, nx=True)
        except (redis.RedisError, OSError) as error:
            log.warning("extraction_cache_unavailable", error=type(error).__name__)
            return answer
        return answer if is_first else await self.get(answer.key) or answer


async def answers_about(redis: redis.asyncio.Redis, digests: Collection[str]) -> list[bytes]:
    """The keys of the answers about texts of these digests. Every answer is looked into. Raises
    `redis.RedisError` or `OSError`: Redis does not answer."""
    found = []
    async for name in redis.scan_iter(match=f"{PREFIX}*", count=500):
        stored = await redis.get(name)
        answer = _answer(stored) if isinstance(stored, bytes) else None
        if answer and answer.key.document_digest in digests:
            found.append(name)
    return found


def _decoded(stored: bytes, key: CacheKey) -> CachedAnswer | None:
    answer = _answer(stored)
    if answer is None:
        log.warning("cached_extraction_unreadable", key=key.name)
        return None
    return answer if answer.key == key else None


def _answer(stored: bytes) -> CachedAnswer | None:
    try:
        if zstandard.frame_content_size(stored) > MAX_ANSWER_BYTES:
            return None
        return CachedAnswer.model_validate_json(
            zstandard.decompress(stored, max_output_size=MAX_ANSWER_BYTES)
        )
    except (zstandard.ZstdError, ValidationError):
        return None
