"""What the brokers were told to do with each topic, against what the promises need of it."""

import shlex
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError, for_code

from safepassage.streams.settings import Settings
from safepassage.streams.topics import Topic, topic_config

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
            problems.append(_untold(name))
            continue
        differences = _differences(wanted[name], found, replicas[name])
        problems += [_problem(settings, name, difference) for difference in differences]
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


@dataclass(frozen=True, slots=True)
class _Difference:
    key: str
    found: str
    wanted: str
    severity: Severity = "failed"


def _differences(
    wanted: Mapping[str, str], found: Mapping[str, str | None], replicas: int
) -> Iterator[_Difference]:
    policy = found.get("cleanup.policy")
    # "compact,delete" is not "compact": it deletes the last record of a key as well.
    if policy is not None and policy != wanted["cleanup.policy"]:
        yield _Difference("cleanup.policy", policy, wanted["cleanup.policy"])
    limit = _number(found.get("max.message.bytes"))
    if limit is not None and limit < int(wanted["max.message.bytes"]):
        yield _Difference("max.message.bytes", str(limit), wanted["max.message.bytes"])
    in_sync = _number(found.get(IN_SYNC))
    if in_sync is not None and in_sync > replicas:
        yield _Difference(IN_SYNC, str(in_sync), str(replicas))
    if wanted["cleanup.policy"] == "compact":
        yield from _compaction_lags(wanted, found)
        return
    needed = _number(wanted.get("retention.ms"))
    kept = _number(found.get("retention.ms"))
    # What is kept for ever is needed for ever; elsewhere a shorter time may be chosen knowingly.
    severity: Severity = "failed" if needed == FOR_EVER else "warning"
    if needed is not None and kept is not None and _longer(needed, kept):
        yield _Difference("retention.ms", str(kept), wanted["retention.ms"], severity)
    size = _number(found.get("retention.bytes"))
    if needed is not None and size is not None and size != FOR_EVER:
        yield _Difference("retention.bytes", str(size), str(FOR_EVER), severity)


def _compaction_lags(
    wanted: Mapping[str, str], found: Mapping[str, str | None]
) -> Iterator[_Difference]:
    """What was replaced or erased is to be gone in time."""
    most = int(wanted["max.compaction.lag.ms"])
    longest = _number(found.get("max.compaction.lag.ms"))
    if longest is not None and longest > most:
        yield _Difference("max.compaction.lag.ms", str(longest), str(most), "warning")
    least = _number(found.get("min.compaction.lag.ms"))
    if least is not None and least > most:
        yield _Difference("min.compaction.lag.ms", str(least), "0", "warning")


def _problem(settings: Settings, name: str, difference: _Difference) -> TopicProblem:
    key, wanted = difference.key, difference.wanted
    problem = f"has {key}={difference.found} instead of {wanted}"
    if key == IN_SYNC:
        problem += f": it has only {wanted} replicas, so no record is taken"
    return TopicProblem(
        name,
        problem,
        f"kafka-configs.sh --bootstrap-server {shlex.quote(settings.kafka_bootstrap_servers)} "
        "--command-config ADMIN.properties --alter --entity-type topics "
        f"--entity-name {shlex.quote(name)} --add-config {key}={wanted}",
        difference.severity,
        (key, wanted) if key in SAFE_TO_SET else None,
    )


def _untold(name: str) -> TopicProblem:
    return TopicProblem(
        name,
        "has a configuration that this user may not read",
        "grant DescribeConfigs, as `safepassage doctor --acls` prints it, or look as one who may",
        severity="warning",
    )


def _number(value: str | None) -> int | None:
    return None if value is None or not value.removeprefix("-").isdigit() else int(value)


def _longer(one: int, other: int) -> bool:
    """Whether ``one`` keeps records longer than ``other``; negative ones keep them for ever."""
    return other >= 0 and (one < 0 or one > other)
