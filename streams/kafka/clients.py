"""aiokafka clients, all made here so that security and limits are set in one place."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from safepassage.agents.extraction.user_modules import imported_module

from ..runtime.errors import OperatorError
from ..runtime.signals import unless_stopped
from ..settings import Settings
from .contact import back_off

back_off()

# aiokafka adds the batch's frame to what it compares with max_request_size.
FRAME_BYTES = 64 * 1024
LINGER_MILLISECONDS = 5
# aiokafka 0.14 asks a former leader for a first position until its metadata is renewed, and fetches
# nothing of its node meanwhile: 231 s were seen with the default of 300 s.
METADATA_MILLISECONDS = 10_000


def ssl_context(settings: Settings) -> ssl.SSLContext | None:
    """The TLS context for Kafka, or None where the protocol uses no TLS."""
    if not settings.kafka_security_protocol.endswith("SSL"):
        return None
    for name in ("kafka_ca_file", "kafka_certificate_file", "kafka_key_file"):
        path = getattr(settings, name)
        try:  # OpenSSL does not say which of its files it cannot read
            if path is not None:
                Path(path).read_bytes()
        except OSError as error:
            variable = f"SAFEPASSAGE_{name.upper()}"
            raise OperatorError(f"{variable}: {path!r}: {error.strerror}") from None
    context = ssl.create_default_context(cafile=settings.kafka_ca_file)
    if settings.kafka_certificate_file:
        context.load_cert_chain(settings.kafka_certificate_file, settings.kafka_key_file)
    return context


def connection(settings: Settings) -> dict[str, Any]:
    """What every client needs to reach the cluster."""
    options: dict[str, Any] = {
        "bootstrap_servers": settings.kafka_bootstrap_servers,
        "security_protocol": settings.kafka_security_protocol,
        "ssl_context": ssl_context(settings),
        "metadata_max_age_ms": METADATA_MILLISECONDS,
    }
    if settings.kafka_security_protocol.startswith("SASL"):
        password = settings.kafka_password
        options |= {
            "sasl_mechanism": settings.kafka_sasl_mechanism,
            "sasl_plain_username": settings.kafka_username,
            "sasl_plain_password": password.get_secret_value() if password else None,
            "sasl_oauth_token_provider": token_provider(settings),
        }
    return options


class _UserTokens(AbstractTokenProvider):  # type: ignore[misc]
    """Tokens of the user's function: a string, or a pair of it and its expiry, as the signers for
    MSK give it. It is called for every new connection, off the event loop."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    async def token(self) -> str:
        made = await asyncio.to_thread(self._function)
        token = made[0] if isinstance(made, tuple) else made
        if not isinstance(token, str) or not token:
            raise OperatorError("SAFEPASSAGE_KAFKA_TOKEN_PROVIDER returned no token")
        return token


def token_provider(settings: Settings) -> AbstractTokenProvider | None:
    """What gives the tokens of OAUTHBEARER; None for another mechanism."""
    if settings.kafka_sasl_mechanism != "OAUTHBEARER":
        return None
    named = settings.kafka_token_provider
    if named is None:
        raise OperatorError(
            "OAUTHBEARER needs SAFEPASSAGE_KAFKA_TOKEN_PROVIDER, such as tokens:make, a function "
            "of yours that returns a token"
        )
    module, _, function = named.partition(":")
    try:
        return _UserTokens(getattr(imported_module(module), function))
    except Exception as error:
        raise OperatorError(
            f"SAFEPASSAGE_KAFKA_TOKEN_PROVIDER={named}: {type(error).__name__}: {error}"
        ) from error


def new_producer(settings: Settings) -> AIOKafkaProducer:
    """A producer that acknowledges only what all in-sync replicas hold."""
    return AIOKafkaProducer(
        **connection(settings),
        acks="all",
        enable_idempotence=settings.kafka_idempotence,
        linger_ms=LINGER_MILLISECONDS,
        max_request_size=2 * settings.max_record_bytes + FRAME_BYTES,
    )


def new_group_consumer(settings: Settings, role: str) -> AIOKafkaConsumer:
    """A member of a role's consumer group that commits only when told to.

    Range assignment gives a member the same partition numbers of every topic it subscribes to,
    which the roles that join several topics by document rely on.
    """
    session = int(settings.kafka_session_timeout_seconds * 1000)
    return AIOKafkaConsumer(
        **connection(settings),
        group_id=settings.group(role),
        group_instance_id=settings.group_instance(role),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        partition_assignment_strategy=[RangePartitionAssignor],
        session_timeout_ms=session,
        heartbeat_interval_ms=session // 5,
        rebalance_timeout_ms=int(settings.kafka_rebalance_timeout_seconds * 1000),
        max_poll_interval_ms=int(settings.kafka_rebalance_timeout_seconds * 1000),
        **_fetching(settings),
    )


def new_reader(settings: Settings) -> AIOKafkaConsumer:
    """A consumer outside every group, for bounded reads: it can disturb nobody's offsets."""
    return AIOKafkaConsumer(
        **connection(settings),
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        **_fetching(settings),
    )


async def stop_consumer(consumer: AIOKafkaConsumer) -> None:
    """Stop it. aiokafka 0.14 may let out the cancellation of a task of its own, which would replace
    the error that ended the reading; one of the caller's goes on."""
    try:
        await consumer.stop()
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise


def new_admin(settings: Settings) -> AIOKafkaAdminClient:
    return AIOKafkaAdminClient(**connection(settings))


@contextlib.asynccontextmanager
async def open_admin(settings: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for topics, groups and configurations, closed on the way out."""
    admin = new_admin(settings)
    try:
        await admin.start()
        yield admin
    finally:
        await admin.close()


def _fetching(settings: Settings) -> dict[str, Any]:
    return {
        # What a transaction took back was never said.
        "isolation_level": "read_committed",
        "fetch_max_wait_ms": int(settings.kafka_fetch_wait_seconds * 1000),
        "max_partition_fetch_bytes": settings.max_record_bytes,
    }


LEAVE_PATIENCE_SECONDS = 5.0


@contextlib.asynccontextmanager
async def group_member(
    settings: Settings,
    role: str,
    topics: Sequence[str],
    listener: ConsumerRebalanceListener,
    stop: asyncio.Event,
) -> AsyncIterator[AIOKafkaConsumer]:
    """A member of the role's group, which left it on the way out, also where it could not join.

    Joining waits for the other members to end their batches, and for a broker that is away. Where
    ``stop`` is set first, the consumer that is given has not joined: read nothing from it."""
    consumer = new_group_consumer(settings, role)
    consumer.subscribe(list(topics), listener=listener)
    joined = False
    try:
        await unless_stopped(stop, consumer.start())
        joined = not stop.is_set()
        yield consumer
    finally:
        # A member that is joining would wait for the broker's answer before it leaves.
        async with contextlib.AsyncExitStack() as patience:
            if not joined:
                patience.enter_context(contextlib.suppress(TimeoutError))
                await patience.enter_async_context(asyncio.timeout(LEAVE_PATIENCE_SECONDS))
            await stop_consumer(consumer)
