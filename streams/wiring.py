"""Puts the roles of `topology` together with what they need: clients, caches, models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal, get_args

from redis.asyncio import Redis

from schemas import Assessment, Coordinates

from .delivery.breaker import CircuitBreaker
from .delivery.delivery import Delivery, Role
from .kafka.publisher import Publisher
from .kafka.reading import reread
from .kafka.records import UnreadableRecord, decode
from .settings import Settings
from .topics import DOCUMENTS, RESPONSES

if TYPE_CHECKING:
    from agents.aligner import Aligner
    from agents.document_store import DocumentStore
    from agents.extraction.extractor import Extractor, Price
    from scoring_worker import Pair, Scorer

    from .release.live_scorer import ScoreSource
    from .worker import Source

# Models and their libraries take seconds to import: a role imports what it uses, when it starts.
# ruff: noqa: PLC0415

REDIS_TIMEOUT_SECONDS = 5.0

RoleName = Literal["extract", "align", "score", "review", "report"]
ROLE_NAMES: tuple[RoleName, ...] = get_args(RoleName)

Assess = Callable[[Sequence["Pair"]], Awaitable[Sequence[Assessment]]]


async def source(
    role: str, publisher: Publisher, settings: Settings, resources: AsyncExitStack
) -> Source:
    """A role ready to run. What it opens is closed with ``resources``.

    Raises:
        ValueError: there is no such role.
    """
    match role:
        case "extract":
            return await _extract(publisher, settings, resources)
        case "align":
            return await _align(publisher, settings, resources)
        case "score":
            return await _score(publisher, settings, resources)
        case "report":
            from .report.source import ReportSource

            return ReportSource(publisher, settings)
        case "review":
            from .console import ReviewSource

            return ReviewSource(publisher, settings, await document_store(settings, resources))
        case _:
            raise ValueError(f"no role {role!r}; there are: {', '.join(ROLE_NAMES)}")


def companions(role: str, publisher: Publisher, settings: Settings) -> list[Source]:
    """What runs beside a role in the same process, in consumer groups of its own."""
    if role != "report":
        return []
    from .audit.source import AuditSource
    from .drift.source import drift_source

    return [AuditSource(publisher, settings), drift_source(publisher, settings)]


def delivery(role: Role, publisher: Publisher, settings: Settings) -> Delivery:
    """The delivery guarantee around a role's step."""
    breaker = CircuitBreaker(
        consecutive=settings.breaker_consecutive,
        ratio=settings.breaker_ratio,
        window=settings.breaker_window,
    )
    models = {settings.topic(topic.name): topic.model for topic in role.topics}
    return Delivery(role, publisher, breaker, models)


async def _extract(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from .delivery.faust_source import FaustSource
    from .topology import extract_role

    extractor = new_extractor(settings, resources)
    role = extract_role(
        extractor,
        await document_store(settings, resources),
        max_characters=settings.max_document_characters,
        lanes=settings.llm_concurrency,
    )
    return FaustSource(role, delivery(role, publisher, settings), settings)


async def _align(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from .delivery.faust_source import FaustSource
    from .topology import align_role

    aligner = new_aligner(settings)
    resources.callback(aligner.close)
    role = align_role(aligner, await document_store(settings, resources))
    return FaustSource(role, delivery(role, publisher, settings), settings)


async def _score(publisher: Publisher, settings: Settings, resources: AsyncExitStack) -> Source:
    from scoring_worker import load_scorer

    return await score_source(load_scorer, publisher, settings, resources)


async def score_source(
    load: Callable[[str], Scorer],
    publisher: Publisher,
    settings: Settings,
    resources: AsyncExitStack,
) -> ScoreSource:
    """The score role with the released scorer, or with SAFEPASSAGE_SCORER where none is.

    Raises:
        ReleaseRefused: that scorer cannot be loaded, or is another than was released.
    """
    from .delivery.batch_source import BatchSource
    from .release.live_scorer import LiveScorer, ScoreSource
    from .release.releases import releases_in_force
    from .release.shadow import ShadowScoring
    from .topology import score_role

    held = await releases_in_force(settings)
    released, shadowed = held.releases.get("live"), held.releases.get("shadow")
    live, shadow = LiveScorer(load), ShadowScoring(publisher, load)
    resources.callback(live.close)
    if released and released.scorer:
        await live.change_to(released.scorer, released.revision)
    else:
        await live.change_to(settings.scorer, None)
    if shadowed:
        shadow.change_to(shadowed.scorer, shadowed.revision)
    else:
        shadow.change_to(settings.shadow_scorer, None)
    role = score_role(live.assess, batch=settings.score_batch_records, observe=shadow.offer)
    batches = BatchSource(role, delivery(role, publisher, settings), settings)
    return ScoreSource(batches, live, shadow, settings, held)


def new_aligner(settings: Settings) -> Aligner:
    """The aligner with the configured threshold and limits."""
    from agents.aligner import Aligner

    return Aligner(
        threshold=settings.alignment_threshold,
        max_document_characters=settings.max_document_characters,
        max_context_characters=settings.max_context_characters,
    )


def new_extractor(settings: Settings, resources: AsyncExitStack) -> Extractor:
    """The extractor on the configured endpoint, model and schema.

    Raises:
        ValueError: the schema cannot be loaded.
    """
    from agents.extraction.cache import ExtractionCache
    from agents.extraction.client import create_client
    from agents.extraction.completion import RetryPolicy
    from agents.extraction.extractor import Extractor
    from agents.extraction.schema_loading import load_schema

    schema = load_schema(settings.extraction_schema, settings.entity_types)
    key = settings.openai_api_key
    client = create_client(
        settings.openai_base_url,
        api_key=key.get_secret_value() if key else None,
        timeout=settings.llm_timeout_seconds,
    )
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
        price=llm_price(settings),
        cache=ExtractionCache(redis),
    )


def llm_price(settings: Settings) -> Price | None:
    """What the LLM's tokens cost, where the settings say it."""
    from agents.extraction.extractor import Price

    into, out_of = settings.llm_input_usd_per_million, settings.llm_output_usd_per_million
    return None if into is None or out_of is None else Price(into, out_of)


def assess_off_the_loop(scorer: Scorer) -> Assess:
    """The scorer's blocking `assess` in a thread, so that the worker keeps answering Kafka."""

    async def assess(pairs: Sequence[Pair]) -> Sequence[Assessment]:
        assessments = await asyncio.to_thread(scorer.assess, pairs)
        if len(assessments) != len(pairs):
            raise RuntimeError(f"{scorer.name} gave {len(assessments)} of {len(pairs)} scores")
        return assessments

    return assess


async def document_store(settings: Settings, resources: AsyncExitStack) -> DocumentStore:
    """The texts: in this process, in Redis, and in the end on their topic."""
    from agents.document_store import DocumentStore

    client = redis_client(settings)
    resources.push_async_callback(client.aclose)
    return DocumentStore(
        client,
        reread=lambda coordinates: reread_text(settings, coordinates),
        ttl=settings.text_ttl_seconds,
        local_cache_bytes=settings.local_text_bytes,
    )


def redis_client(settings: Settings) -> Redis:
    """A client for ``REDIS_URL``; ``rediss://`` is TLS."""
    options: dict[str, Any] = {
        "socket_timeout": REDIS_TIMEOUT_SECONDS,
        "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
    }
    if settings.redis_ca_file:
        options["ssl_ca_certs"] = settings.redis_ca_file
    return Redis.from_url(settings.redis_url.get_secret_value(), **options)


async def reread_text(settings: Settings, coordinates: Coordinates) -> str:
    """A document's text from the record it came in.

    Raises:
        DocumentMissing: the record is gone, or is no document. Coordinates come with the events,
            from outside: only the two topics that carry documents are read.
        aiokafka.errors.KafkaError: the broker did not answer.
    """
    from agents.document_store import DocumentMissing

    model = {settings.topic(t.name): t.model for t in (DOCUMENTS, RESPONSES)}.get(coordinates.topic)
    if model is None:
        raise DocumentMissing(f"{coordinates.topic} is no topic of documents")
    try:
        record = await reread(settings, coordinates)
        event = decode(record, model).event
    except (LookupError, UnreadableRecord) as error:
        raise DocumentMissing(str(error)) from error
    return event.text  # type: ignore[attr-defined, no-any-return]  # a Document or a Response
