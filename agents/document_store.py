"""Where the aligner finds the text of a document again.

Kafka holds the truth. Redis and the memory of the worker only save the way to it: an empty,
broken or lying Redis costs time, and never leads to an alignment with another text, since every
text is checked against the digest under which it was asked for.
"""

import asyncio
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import redis.asyncio
import structlog
import zstandard

from safepassage.schemas import Coordinates, DocumentRef, Reason, text_digest


class LocalTexts:
    """A map from digest to text that forgets the least recently used above ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._documents: dict[str, set[str]] = {}  # by digest, whose text it is
        self.bytes = 0

    def get(self, digest: str) -> str | None:
        text = self._texts.get(digest)
        if text is not None:
            self._texts.move_to_end(digest)
        return text

    def put(self, digest: str, text: str, doc_id: str = "") -> None:
        """Keeps ``text`` of a document, unless it alone is above the bound."""
        if sys.getsizeof(text) > self._max_bytes:
            return
        self._documents.setdefault(digest, set()).add(doc_id)
        if digest in self._texts:
            return
        self._texts[digest] = text
        self.bytes += sys.getsizeof(text)
        while self.bytes > self._max_bytes:
            self._drop(next(iter(self._texts)))

    def forget(self, doc_id: str) -> None:
        """Drops every text of the document, also where another one has the same."""
        for digest in [d for d, documents in self._documents.items() if doc_id in documents]:
            self._drop(digest)

    def _drop(self, digest: str) -> None:
        del self._documents[digest]
        self.bytes -= sys.getsizeof(self._texts.pop(digest))


T = TypeVar("T")

log = structlog.get_logger(__name__)

Reread = Callable[[Coordinates], Awaitable[str]]
"""Reads the text of the document at these coordinates.

It raises `DocumentMissing` where it is gone. Anything else that it raises (the broker is
down) passes through `DocumentStore.get`: that is no verdict on the document.
"""

_THREADED_BYTES = 256 * 1024
"""Above this, compressing and hashing would hold up the event loop for more than a millisecond."""

_PAUSE = 5.0
"""Seconds for which a Redis that failed is left alone, so that not every event pays a timeout."""


class DocumentStoreError(Exception):
    """There is no text to align with. ``code`` is the reason on the verdict."""

    code: ClassVar[Reason]


class DocumentMissing(DocumentStoreError):
    """The record is gone, or the reference names none."""

    code = "document_missing"


class DocumentMismatch(DocumentStoreError):
    """The text is not the one that the reference names."""

    code = "document_mismatch"


class DocumentStore:
    """Texts by content digest: in memory, else in Redis, else read again from Kafka.

    Args:
        redis: a client that answers bytes (``decode_responses=False``).
        reread: see `Reread`.
        ttl: seconds for which Redis keeps a text.
        max_bytes: a text that is larger than this when compressed is not put into Redis. The
            memory of all texts together is bounded by Redis' own ``maxmemory``.
        local_cache_bytes: how much of the worker's own memory may hold texts.
        redis_timeout: seconds that a call may take.
        observe: told each time what `get` was answered by: ``local``, ``redis`` or ``reread``; and
            ``corrupt``, of a text in Redis that was not what its key says.
        erased: whether a document, by its id, was erased: it is missing then, and put nowhere.
    """

    def __init__(
        self,
        redis: redis.asyncio.Redis,
        *,
        reread: Reread,
        ttl: int = 24 * 3600,
        max_bytes: int = 16 * 1024 * 1024,
        local_cache_bytes: int = 64 * 1024 * 1024,
        redis_timeout: float = 2.0,
        observe: Callable[[str], None] = lambda _: None,
        erased: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._redis = redis
        self._erased = erased
        self._reread = reread
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._redis_timeout = redis_timeout
        self._local = LocalTexts(local_cache_bytes)
        self._under_way: dict[DocumentRef, asyncio.Task[str]] = {}
        self._paused_until = float("-inf")
        self._failing: set[str] = set()
        self._observe = observe

    async def put(self, ref: DocumentRef, text: str) -> None:
        """Keeps ``text`` at hand. Without Redis it is only kept in memory. Raises
        `DocumentMismatch` where ``ref`` names another text."""
        await self._verify(ref, text)
        if not self._erased(ref.id):
            self._local.put(ref.digest, text, ref.id)
            await self._put_in_redis(ref, text)

    def forget(self, doc_id: str) -> None:
        """Drop the texts of a document from this process's memory."""
        self._local.forget(doc_id)

    async def get(self, ref: DocumentRef) -> str:
        """The text that ``ref`` names, and no other.

        Calls for the same document at the same time share one way to it. Raises `DocumentMissing`
        where it is nowhere; `DocumentMismatch` where its Kafka record holds another text."""
        if self._erased(ref.id):
            raise DocumentMissing(f"{ref.id} was erased")
        text = self._local.get(ref.digest)
        if text is not None:
            self._observe("local")
            return text
        task = self._under_way.get(ref)
        if task is None:
            task = self._under_way[ref] = asyncio.create_task(self._fetch(ref))
            task.add_done_callback(lambda done: self._landed(ref, done))
        # Shielded: a caller that is cancelled leaves the others their text.
        return await asyncio.shield(task)

    def _landed(self, ref: DocumentRef, task: asyncio.Task[str]) -> None:
        del self._under_way[ref]
        if not task.cancelled():
            task.exception()  # marks it as seen, should every caller have left

    async def _fetch(self, ref: DocumentRef) -> str:
        text = await self._get_from_redis(ref)
        if text is None:
            text = await self._read_again(ref)
            await self._put_in_redis(ref, text)
        self._local.put(ref.digest, text, ref.id)
        return text

    async def _read_again(self, ref: DocumentRef) -> str:
        if ref.coordinates is None:
            raise DocumentMissing(f"no text for {ref.id}, and no coordinates to read it from")
        text = await self._reread(ref.coordinates)
        await self._verify(ref, text)
        self._observe("reread")
        return text

    async def _verify(self, ref: DocumentRef, text: str) -> None:
        if len(text) != ref.length or await _off_loop(text_digest, text) != ref.digest:
            raise DocumentMismatch(f"the text of {ref.id} is not the one that was extracted from")

    async def _get_from_redis(self, ref: DocumentRef) -> str | None:
        stored = await self._ask_redis(self._redis.get, text_key(ref.digest))
        if not isinstance(stored, bytes):
            return None
        try:
            text = await _off_loop(_decompressed, stored, 4 * ref.length)
            await self._verify(ref, text)
        except (zstandard.ZstdError, UnicodeDecodeError, DocumentMismatch):
            self._observe("corrupt")
            log.warning("stored_text_is_another", doc_id=ref.id, digest=ref.digest)
            await self._ask_redis(self._redis.delete, text_key(ref.digest))
            return None
        self._observe("redis")
        return text

    async def _put_in_redis(self, ref: DocumentRef, text: str) -> None:
        compressed = await _off_loop(lambda text: zstandard.compress(text.encode()), text)
        if len(compressed) > self._max_bytes:
            log.info("text_too_large_for_redis", doc_id=ref.id, compressed_bytes=len(compressed))
            return
        await self._ask_redis(self._redis.set, text_key(ref.digest), compressed, ex=self._ttl)

    async def _ask_redis(
        self, command: Callable[..., Any], *args: object, **options: object
    ) -> object:
        """What Redis answers, or None where it does not: a cache may always be empty."""
        if time.monotonic() < self._paused_until:
            return None
        name = command.__name__
        try:
            async with asyncio.timeout(self._redis_timeout):
                answer = await command(*args, **options)
        except (redis.RedisError, OSError) as error:
            if not isinstance(error, redis.ResponseError):  # it is up, but full or read-only
                self._paused_until = time.monotonic() + _PAUSE
            if name not in self._failing:
                log.warning("redis_degraded", command=name, error=type(error).__name__)
            self._failing.add(name)
            return None
        if name in self._failing:
            log.info("redis_recovered", command=name)
        self._failing.discard(name)
        return answer


def text_key(digest: str) -> str:
    """The Redis key of the text of that digest."""
    return f"document:{digest}"


def _decompressed(stored: bytes, max_bytes: int) -> str:
    # The frame itself says how large it grows: asked first, as it may lie about being a text.
    if not 0 <= zstandard.frame_content_size(stored) <= max_bytes:
        raise zstandard.ZstdError("larger than the text can be")
    return zstandard.decompress(stored, max_output_size=max_bytes).decode()


async def _off_loop(function: Callable[..., T], content: str | bytes, *args: object) -> T:
    """``function(content, *args)``, in a thread where the content is large."""
    if len(content) < _THREADED_BYTES:
        return function(content, *args)
    return await asyncio.to_thread(function, content, *args)
