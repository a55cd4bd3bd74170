"""What stands between this configuration and a running pipeline, and what to do about it.

Every check ends in a `Diagnosis`, whatever happens inside: a doctor that crashes helps nobody.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from aiokafka.errors import KafkaError
from redis.exceptions import AuthenticationError, RedisError

from .admin import TopicProblem, create_topics, topic_problems
from .kafka_clients import new_admin, ssl_context
from .reading import UnknownTopic, newest_timestamp
from .settings import Settings
from .topics import ACCEPTED, DOCUMENTS, QUARANTINE, REPORTS

State = Literal["ok", "warning", "failed"]

PATIENCE_SECONDS = 20.0
PROBE_SECONDS = 5.0
MAX_SKEW_SECONDS = 5.0
OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one check. ``remedy`` says what to do where ``state`` is not "ok"."""

    subject: str
    state: State
    found: str
    remedy: str = ""


Check = Callable[[Settings], Awaitable[list[Diagnosis]]]


async def diagnose(
    settings: Settings, *, create_missing_topics: bool = False
) -> AsyncIterator[Diagnosis]:
    """Run all checks, one after the other; each takes a bounded time.

    What needs the broker, or its topics, is left out where there is none.
    """
    broker = await check_broker(settings)
    yield broker
    checks: list[tuple[str, Check]] = []
    if broker.state == "ok":
        if create_missing_topics:
            checks.append(("topics", create_missing))
        checks += [("topics", check_topics)]
    checks += [("redis", check_redis), ("model", check_model), ("llm", check_llm)]
    for subject, check in checks:
        diagnoses = await _bounded(subject, check, settings)
        for diagnosis in diagnoses:
            yield diagnosis
        if check is check_topics and not needs_mending(diagnoses):
            for diagnosis in await _bounded("clock", check_record_clock, settings):
                yield diagnosis


async def check_broker(settings: Settings) -> Diagnosis:
    """Whether a Kafka client can talk to the cluster, and if not, how far it gets."""
    where = settings.kafka_bootstrap_servers
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            admin = new_admin(settings)
            try:
                await admin.start()
                cluster = await admin.describe_cluster()
            finally:
                await admin.close()
    except Exception as error:  # noqa: BLE001 - a failed login comes as KeyError out of aiokafka
        return await _why_no_broker(settings, error)
    return Diagnosis("broker", "ok", f"{where} answers; {len(cluster['brokers'])} broker(s)")


async def create_missing(settings: Settings) -> list[Diagnosis]:
    """Create the topics that are missing."""
    created = await create_topics(settings)
    return [Diagnosis("topics", "ok", f"created {', '.join(created)}")] if created else []


async def check_topics(settings: Settings) -> list[Diagnosis]:
    """Whether every topic exists, with as many partitions as the settings say."""
    problems = await topic_problems(settings)
    if not problems:
        return [Diagnosis("topics", "ok", f"all there, {settings.partitions} partitions each")]
    return [_of_topic(problem) for problem in problems]


async def check_record_clock(settings: Settings) -> list[Diagnosis]:
    """Whether a record is stamped with a time that is still to come."""
    newest = await newest_timestamp(settings, (DOCUMENTS, ACCEPTED, QUARANTINE, REPORTS))
    if newest is None:
        return [Diagnosis("clock", "ok", "no records yet to compare this machine's clock with")]
    ahead = newest / 1000 - time.time()
    return [_of_skew(ahead if ahead > 0 else 0.0, "the newest record")]


async def check_redis(settings: Settings) -> list[Diagnosis]:
    """Whether Redis answers, is bounded, evicts, and shares our time."""
    from .wiring import redis_client  # noqa: PLC0415 - imports the roles' libraries

    client = redis_client(settings)
    try:
        memory, stats = await client.info("memory"), await client.info("stats")
        seconds, microseconds = await client.time()
    except AuthenticationError:
        return [
            Diagnosis(
                "redis",
                "failed",
                "refuses the user or the password",
                "put the password into REDIS_URL: rediss://USER:PASSWORD@HOST:PORT/0",
            )
        ]
    except (RedisError, OSError) as error:
        return [_no_redis(error)]
    finally:
        with suppress(RedisError, OSError):
            await client.aclose()
    skew = seconds + microseconds / 1e6 - time.time()
    return [_of_redis_memory(memory, stats), _of_skew(skew, "Redis")]


async def check_model(settings: Settings) -> list[Diagnosis]:
    """Whether the scorer loads and scores, and which revision it is."""
    try:
        revision = await asyncio.to_thread(_probe_scorer, settings.scorer)
    except (ImportError, LookupError, OSError, RuntimeError, ValueError) as error:
        return [
            Diagnosis(
                "model",
                "failed",
                f"scorer {settings.scorer!r} cannot be used: {_first_line(error)}",
                "set SAFEPASSAGE_SCORER to a scorer's name or to a folder that holds its "
                "scorer.json and weights",
            )
        ]
    return [Diagnosis("model", "ok", f"scorer {settings.scorer!r} loads, revision {revision}")]


async def check_llm(settings: Settings) -> list[Diagnosis]:
    """Whether the LLM endpoint answers, takes the key, and has the model."""
    key = settings.openai_api_key
    if key is None and settings.openai_base_url == OPENAI_URL:
        return [
            Diagnosis(
                "llm",
                "warning",
                "no endpoint is configured: the role `extract` cannot run",
                "set OPENAI_API_KEY, or OPENAI_BASE_URL to any OpenAI-compatible endpoint",
            )
        ]
    from agents.extraction.client import create_client  # noqa: PLC0415 - slow to import

    client = create_client(
        settings.openai_base_url,
        api_key=key.get_secret_value() if key else None,
        timeout=PROBE_SECONDS,
    )
    try:
        return [await _ask_llm(client, settings)]
    finally:
        await client.close()


async def _bounded(subject: str, check: Check, settings: Settings) -> list[Diagnosis]:
    # The model takes its time to load, and no network is waited for there.
    patience = None if subject == "model" else PATIENCE_SECONDS
    try:
        async with asyncio.timeout(patience):
            return await check(settings)
    except TimeoutError:
        return [Diagnosis(subject, "failed", f"no answer within {patience} s", "see the above")]
    except (KafkaError, OSError, UnknownTopic) as error:
        return [
            Diagnosis(
                subject,
                "failed",
                f"{type(error).__name__}: {_first_line(error)}",
                "the broker answers, but not to this: are this user's rights sufficient?",
            )
        ]


async def _why_no_broker(settings: Settings, error: BaseException) -> Diagnosis:
    server = settings.kafka_bootstrap_servers.split(",")[0].strip()
    host, _, port = server.rpartition(":")
    protocol = settings.kafka_security_protocol
    problem = await asyncio.to_thread(_probe_server, host.strip("[]"), port, settings)
    if problem:
        return Diagnosis("broker", "failed", f"{server}: {problem[0]}", problem[1])
    return Diagnosis(
        "broker",
        "failed",
        f"{server} listens, but does not talk Kafka over {protocol}: {type(error).__name__}",
        "compare SAFEPASSAGE_KAFKA_SECURITY_PROTOCOL with the listener's"
        + (
            "; then SAFEPASSAGE_KAFKA_USERNAME, _PASSWORD and _SASL_MECHANISM"
            if protocol.startswith("SASL")
            else "; a listener with TLS or a login hangs up on clients without"
        ),
    )


def _probe_server(host: str, port: str, settings: Settings) -> tuple[str, str] | None:
    """What is wrong below Kafka's protocol, with its remedy; None if nothing is."""
    try:
        with socket.create_connection((host, int(port)), PROBE_SECONDS) as connection:
            if context := ssl_context(settings):
                with context.wrap_socket(connection, server_hostname=host):
                    pass
    except ssl.SSLError as error:
        return (
            f"TLS fails: {getattr(error, 'verify_message', '') or error.reason or error}",
            "SAFEPASSAGE_KAFKA_CA_FILE must hold the authority that signed the broker's "
            "certificate, and the certificate must name the host; for mutual TLS also set "
            "SAFEPASSAGE_KAFKA_CERTIFICATE_FILE and _KEY_FILE",
        )
    except (OSError, ValueError) as error:
        return (
            f"cannot be reached: {_first_line(error)}",
            "start the broker, or set KAFKA_BOOTSTRAP_SERVERS to host:port of one",
        )
    return None


def _of_topic(problem: TopicProblem) -> Diagnosis:
    return Diagnosis("topics", "failed", f"{problem.topic} {problem.problem}", problem.remedy)


def _of_skew(seconds: float, other: str) -> Diagnosis:
    if abs(seconds) <= MAX_SKEW_SECONDS:
        return Diagnosis("clock", "ok", f"within {MAX_SKEW_SECONDS:.0f} s of {other}")
    direction = "behind" if seconds > 0 else "ahead of"
    return Diagnosis(
        "clock",
        "failed",
        f"this machine's clock is {abs(seconds):.1f} s {direction} {other}",
        "let NTP set the clocks of all machines: retention, `replay --since` and latencies "
        "rest on the records' times",
    )


def _no_redis(error: BaseException) -> Diagnosis:
    return Diagnosis(
        "redis",
        "failed",
        f"cannot be reached: {type(error).__name__}: {_first_line(error)}",
        "start Redis, or set REDIS_URL; for rediss:// with an own authority also "
        "SAFEPASSAGE_REDIS_CA_FILE. Without Redis every document is read again from Kafka",
    )


def _of_redis_memory(memory: dict[str, Any], stats: dict[str, Any]) -> Diagnosis:
    limit, policy = int(memory.get("maxmemory", 0)), str(memory.get("maxmemory_policy", "?"))
    evicted = int(stats.get("evicted_keys", 0))
    if not limit:
        return Diagnosis(
            "redis",
            "warning",
            "answers, but its memory is not bounded",
            "CONFIG SET maxmemory 1gb and maxmemory-policy allkeys-lru: it is a cache",
        )
    if policy == "noeviction":
        return Diagnosis(
            "redis",
            "warning",
            "is bounded, but refuses new texts when it is full (noeviction)",
            "CONFIG SET maxmemory-policy allkeys-lru: it is a cache, and texts have a TTL",
        )
    if evicted:
        return Diagnosis(
            "redis",
            "warning",
            f"has evicted {evicted} keys: texts are read again from Kafka, which costs time",
            "raise maxmemory, or lower SAFEPASSAGE_TEXT_TTL_SECONDS",
        )
    return Diagnosis("redis", "ok", f"answers; {limit // 2**20} MiB, {policy}, nothing evicted")


def _probe_scorer(name: str) -> str:
    from scoring_worker import Pair, load_scorer  # noqa: PLC0415 - takes seconds to import

    scorer = load_scorer(name)
    try:
        pair = Pair("The hearing was held on May 3, 2012.", "Date: May 3, 2012", "Date", "May 3")
        (assessment,) = scorer.assess([pair])
        if assessment.failure:
            raise RuntimeError(f"it cannot score: {assessment.failure}")
        return scorer.revision
    finally:
        scorer.close()


async def _ask_llm(client: Any, settings: Settings) -> Diagnosis:
    import openai  # noqa: PLC0415 - slow to import

    where = _without_credentials(settings.openai_base_url)
    try:
        return await _list_models(client, settings.model, where)
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        return Diagnosis(
            "llm",
            "failed",
            f"{where} refuses the key (status {error.status_code})",
            "set OPENAI_API_KEY to a key of this endpoint that is allowed to use the model",
        )
    except openai.APIConnectionError as error:
        return Diagnosis(
            "llm",
            "failed",
            f"{where} cannot be reached: {_first_line(error.__cause__ or error)}",
            "set OPENAI_BASE_URL, and check the way there: proxy, firewall, certificate",
        )
    except openai.APIStatusError as error:
        return Diagnosis(
            "llm",
            "failed",
            f"{where} answers with status {error.status_code}",
            "is OPENAI_BASE_URL complete (it usually ends in /v1), SAFEPASSAGE_MODEL right, and "
            "the account in credit?",
        )
    except openai.OpenAIError as error:
        return Diagnosis(
            "llm",
            "failed",
            f"{where} gives no usable answer: {type(error).__name__}",
            "OPENAI_BASE_URL must be an OpenAI-compatible endpoint",
        )


async def _list_models(client: Any, model: str, where: str) -> Diagnosis:
    """Ask for the models, which costs nothing; where they are not listed, for one word."""
    import openai  # noqa: PLC0415 - slow to import

    try:
        names = [listed.id async for listed in client.models.list()]
    except (openai.NotFoundError, openai.UnprocessableEntityError):
        await client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "Say yes."}], max_tokens=1
        )
        return Diagnosis("llm", "ok", f"{where} answers with {model}")
    if model in names:
        return Diagnosis("llm", "ok", f"{where} takes the key and has {model}")
    return Diagnosis(
        "llm",
        "warning",
        f"{where} takes the key, but does not list the model {model}",
        f"set SAFEPASSAGE_MODEL to one that it lists, e.g. {', '.join(names[:3]) or 'none'}",
    )


def _without_credentials(url: str) -> str:
    """``url`` as it may be printed: some put a password before the host."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


def needs_mending(diagnoses: Sequence[Diagnosis]) -> bool:
    """Whether something failed; warnings are for later."""
    return any(diagnosis.state == "failed" for diagnosis in diagnoses)
