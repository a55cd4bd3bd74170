"""aiokafka clients, all made here so that security and limits are set in one place."""

import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from safepassage.streams.settings import Settings

from .contact import back_off

back_off()

# aiokafka adds the batch's frame to what it compares with max_request_size.
FRAME_BYTES = 64 * 1024
LINGER_MILLISECONDS = 5


def ssl_context(settings: Settings) -> ssl.SSLContext | None:
    """The TLS context for Kafka, or None where the protocol uses no TLS.

    Raises:
        OSError: a certificate or key file cannot be read.
    """
    if not settings.kafka_security_protocol.endswith("SSL"):
        return None
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
    }
    if settings.kafka_security_protocol.startswith("SASL"):
        password = settings.kafka_password
        options |= {
            "sasl_mechanism": settings.kafka_sasl_mechanism,
            "sasl_plain_username": settings.kafka_username,
            "sasl_plain_password": password.get_secret_value() if password else None,
        }
    return options


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
