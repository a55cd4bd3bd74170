"""What the settings describe, built: extractor, document store, Redis."""

from __future__ import annotations

from contextlib import AsyncExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from redis.asyncio import Redis

from safepassage.schemas import Coordinates, Document, Event

from .kafka.erasures_and_seals import protection
from .kafka.point_reader import PointReader, point_reader
from .kafka.records import UnreadableRecord, decode
from .runtime import metrics
from .settings import Settings
from .topics import DOCUMENTS, RESPONSES, Topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from safepassage.agents.document_store import DocumentStore
    from safepassage.agents.extraction.extractor import Extractor
    from safepassage.llm_calls.retrying import Within

# Models and their libraries take seconds to import: a role imports what it uses, when it starts.
# ruff: noqa: PLC0415

REDIS_TIMEOUT_SECONDS = 5.0


def new_extractor(
    settings: Settings,
    resources: AsyncExitStack,
    within: Within | None = None,
    told: Callable[[str], None] | None = None,
) -> Extractor:
    """The extractor on the configured endpoint, model and schema; ``within`` is told how long each
    token may take, and ``told`` of calls that are made again. Raises `ValueError` where the schema
    cannot be loaded."""
    from safepassage.agents.extraction.cache import ExtractionCache
    from safepassage.agents.extraction.extractor import Extractor
    from safepassage.agents.extraction.schema_loading import load_schema
    from safepassage.llm_calls.client import configured_client
    from safepassage.llm_calls.price import configured_price
    from safepassage.llm_calls.retrying import RetryPolicy

    schema = load_schema(settings.extraction_schema, settings.entity_types)
    client = configured_client(settings)
    resources.push_async_callback(client.close)
    redis = redis_client(settings)
    resources.push_async_callback(redis.aclose)
    return Extractor(
        client,
        model=settings.model,
        schema=schema,
        chunk_characters=settings.chunk_characters,
        overlap_characters=settings.chunk_overlap_characters,
        max_document_characters=settings.max_document_characters,
        max_concurrency=settings.llm_concurrency,
        timeout=settings.llm_timeout_seconds,
        retries=RetryPolicy(attempts=settings.llm_attempts),
        temperature=settings.llm_temperature,
        max_tokens=settings.llm_max_tokens,
        price=configured_price(settings),
        cache=ExtractionCache(redis, erased=protection(settings).erased),
        within=within or nullcontext,
        told=told,
        ask_again_below=settings.alignment_threshold if settings.ask_again else None,
    )


async def document_store(settings: Settings, resources: AsyncExitStack) -> DocumentStore:
    """The texts: in this process, in Redis, and in the end on their topic."""
    from safepassage.agents.document_store import DocumentStore

    client, known = redis_client(settings), protection(settings)
    resources.push_async_callback(client.aclose)
    points = point_reader(settings, resources)
    store = DocumentStore(
        client,
        reread=lambda coordinates: reread_text(points, coordinates),
        ttl=settings.text_ttl_seconds,
        local_cache_bytes=settings.local_text_bytes,
        observe=lambda read: metrics.CACHE.labels("texts", read).inc(),
        erased=known.erased,
    )
    resources.callback(known.listen(store.forget))
    return store


def redis_client(settings: Settings) -> Redis:
    options: dict[str, Any] = {
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
    }
    if settings.redis_ca_file:
        options["ssl_ca_certs"] = settings.redis_ca_file
    return Redis.from_url(settings.redis_url.get_secret_value(), **options)


async def reread_document(points: PointReader, coordinates: Coordinates) -> Document:
    """A document with its layout from the record it came in. Raises `LookupError` where the record
    is gone, or is no document."""
    return await _reread(points, coordinates, DOCUMENTS)  # type: ignore[return-value]


async def _reread(points: PointReader, coordinates: Coordinates, *topics: Topic) -> Event:
    """Coordinates come with the events, from outside: only topics of documents are read."""
    model = {points.settings.topic(t.name): t.model for t in topics}.get(coordinates.topic)
    if model is None:
        raise LookupError(f"{coordinates.topic} is no topic of documents")
    try:
        return decode(await points.read(coordinates), model).event
    except UnreadableRecord as error:
        raise LookupError(str(error)) from error


async def reread_text(points: PointReader, coordinates: Coordinates) -> str:
    """A document's text from the record it came in. Raises `DocumentMissing` where the record is
    gone, or is no document."""
    from safepassage.agents.document_store import DocumentMissing

    try:
        event = await _reread(points, coordinates, DOCUMENTS, RESPONSES)
    except LookupError as error:
        raise DocumentMissing(str(error)) from error
    return event.text  # type: ignore[attr-defined, no-any-return]  # a Document or a Response
