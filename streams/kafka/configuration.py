"""What the brokers were told to do with each topic, against what the promises need of it."""

import shlex
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int8, Int16, Int32, Schema, String

from ..settings import Settings
from ..topics import Topic, topic_config

FOR_EVER = -1
IN_SYNC = "min.insync.replicas"
# What may be set without a person's look: no record that counts is lost by it. Another policy may
# delete some, and fewer replicas may lose some.
SAFE_TO_SET = (
    *("retention.ms", "retention.bytes", "max.message.bytes"),
    *("max.compaction.lag.ms", "min.compaction.lag.ms"),
)

Severity = Literal["failed", "warning"]


@dataclass(frozen=True, slots=True)
class TopicProblem:
    """Something about a topic that would lose or reorder events, or could not be found out.
    ``setting`` is the one that mends it, with its value, where that is `SAFE_TO_SET`."""

    topic: str
    problem: str
    remedy: str
    severity: Severity = "failed"
    setting: tuple[str, str] | None = None


async def configuration_problems(
    admin: AIOKafkaAdminClient,
    settings: Settings,
    topics: Sequence[Topic],
    replicas: Mapping[str, int],
) -> list[TopicProblem]:
    """How the configuration of these topics, which exist, differs from what they need;
    ``replicas`` of each, by its name on the broker.

    What a broker does not tell is not held against it: the embedded one names only what it was
    told itself."""
    wanted = {settings.topic(t.name): topic_config(t, settings.max_record_bytes) for t in topics}
    problems: list[TopicProblem] = []
    async for name, found in _described(admin, wanted):
        if found is None:
            found_out = "has a configuration that this user may not read"
            remedy = "grant DescribeConfigs, as `safepassage doctor --acls` prints it, or look as "
            problems.append(TopicProblem(name, found_out, f"{remedy}one who may", "warning"))
            continue
        problems += _differences(settings, name, wanted[name], found, replicas[name])
    return problems


async def told_retention(admin: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, int | None]:
    """``retention.ms`` of each topic, negative for ever; None where the broker does not tell."""
    return {
        name: None if found is None else _number(found.get("retention.ms"))
        async for name, found in _described(admin, names)
    }


async def _described(
    admin: AIOKafkaAdminClient, names: Iterable[str]
) -> AsyncIterator[tuple[str, dict[str, str | None] | None]]:
    """Each topic's configuration; None where this user may not read it."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    for response in await admin.describe_configs(resources):
        for code, _, _, name, entries in (resource[:5] for resource in response.resources):
            error = for_code(code)
            if code and error is not TopicAuthorizationFailedError:
                raise KafkaError(f"the broker does not describe topic {name}: {error.__name__}")
            yield name, None if code else {entry[0]: entry[1] for entry in entries}


def _differences(
    settings: Settings,
    name: str,
    wanted: Mapping[str, str],
    found: Mapping[str, str | None],
    replicas: int,
) -> Iterator[TopicProblem]:
    def differs(
        key: str, has: object, needs: str, severity: Severity = "failed", why: str = ""
    ) -> TopicProblem:
        return TopicProblem(
            name,
            f"has {key}={has} instead of {needs}{why}",
            f"kafka-configs.sh --bootstrap-server {shlex.quote(settings.kafka_bootstrap_servers)} "
            "--command-config ADMIN.properties --alter --entity-type topics "
            f"--entity-name {shlex.quote(name)} --add-config {key}={needs}",
            severity,
            (key, needs) if key in SAFE_TO_SET else None,
        )

    numbers = {key: number for key in found if (number := _number(found[key])) is not None}
    policy = found.get("cleanup.policy")
    # "compact,delete" is not "compact": it deletes the last record of a key as well.
    if policy is not None and policy != wanted["cleanup.policy"]:
        yield differs("cleanup.policy", policy, wanted["cleanup.policy"])
    needed = int(wanted["max.message.bytes"])
    if (limit := numbers.get("max.message.bytes", needed)) < needed:
        yield differs("max.message.bytes", limit, wanted["max.message.bytes"])
    if (in_sync := numbers.get(IN_SYNC, 0)) > replicas:
        why = f": it has only {replicas} replicas, so no record is taken"
        yield differs(IN_SYNC, in_sync, str(replicas), why=why)
    if wanted["cleanup.policy"] == "compact":
        # What was replaced or erased is to be gone in time.
        most = int(wanted["max.compaction.lag.ms"])
        for key, needs in (("max.compaction.lag.ms", str(most)), ("min.compaction.lag.ms", "0")):
            if (lag := numbers.get(key, 0)) > most:
                yield differs(key, lag, needs, "warning")
        return
    needed = int(wanted["retention.ms"])
    # What is kept for ever is needed for ever; elsewhere a shorter time may be chosen knowingly.
    severity: Severity = "failed" if needed == FOR_EVER else "warning"
    # Negative ones keep records for ever.
    if (kept := numbers.get("retention.ms", FOR_EVER)) >= 0 and (needed < 0 or needed > kept):
        yield differs("retention.ms", kept, wanted["retention.ms"], severity)
    if (size := numbers.get("retention.bytes", FOR_EVER)) != FOR_EVER:
        yield differs("retention.bytes", size, str(FOR_EVER), severity)


def _number(value: str | None) -> int | None:
    return None if value is None or not value.removeprefix("-").isdigit() else int(value)


API_KEY = 44
SET = 0
_TEXT = String("utf-8")


# aiokafka 0.14 knows only AlterConfigs, which sets what it does not name back to the default. This
# is IncrementalAlterConfigs (KIP-339, Kafka 2.3), version 0.
class _Answer(Response):  # type: ignore[misc]
    API_KEY = API_KEY
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "resources",
            Array(
                ("error_code", Int16),
                ("error_message", _TEXT),
                ("resource_type", Int8),
                ("resource_name", _TEXT),
            ),
        ),
    )


class _Alteration(RequestStruct):  # type: ignore[misc]
    API_KEY = API_KEY
    API_VERSION = 0
    RESPONSE_TYPE = _Answer
    SCHEMA = Schema(
        (
            "resources",
            Array(
                ("resource_type", Int8),
                ("resource_name", _TEXT),
                ("configs", Array(("name", _TEXT), ("operation", Int8), ("value", _TEXT))),
            ),
        ),
        ("validate_only", Boolean),
    )


class _AlterationRequest(Request[_Alteration]):  # type: ignore[misc]
    API_KEY = API_KEY

    def __init__(self, changes: Mapping[str, Mapping[str, str]]) -> None:
        self._resources = [
            (ConfigResourceType.TOPIC, name, [(key, SET, value) for key, value in wanted.items()])
            for name, wanted in changes.items()
        ]

    def build(self, request_struct_class: type[_Alteration]) -> _Alteration:
        return request_struct_class(self._resources, False)


async def alter_topics(
    admin: AIOKafkaAdminClient, changes: Mapping[str, Mapping[str, str]]
) -> None:
    """Give each topic, by its name on the broker, these settings, and leave its others."""
    answer = await admin._send_request(_AlterationRequest(changes))
    for code, message, _, name in answer.resources:
        if code:
            why = message or for_code(code).__name__
            raise KafkaError(f"the broker refuses to alter topic {name}: {why}")
