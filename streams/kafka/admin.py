"""Creating and checking topics."""

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import stamina
from aiokafka import OffsetAndMetadata, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    NoError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    for_code,
)
from aiokafka.protocol.metadata import MetadataRequest

from ..runtime.errors import OperatorError
from ..settings import Settings
from ..topics import ALL_TOPICS, READ_BY, RoleName, Topic, topic_config
from .clients import open_admin
from .configuration import (
    IN_SYNC,
    TopicProblem,
    alter_topics,
    configuration_problems,
    told_retention,
)

METADATA_PATIENCE_SECONDS = 15.0
REPLICAS = 3  # With two of them in sync, one broker may be away and nothing waits or is lost

# What a broker answers to who may not create topics: of the topic, or of the cluster.
RIGHTS_MISSING = (TopicAuthorizationFailedError, ClusterAuthorizationFailedError)


class TopicsRefused(OperatorError):
    """Topics that a role needs are not there for its user, who may not create them either."""

    def __init__(self, names: Sequence[str], error: str) -> None:
        super().__init__(
            f"{', '.join(names)}: missing, or not to be described by this user, who may not create "
            f"topics either ({error}); run `safepassage doctor --create-topics` as one who may, "
            "or grant what `safepassage doctor --acls` prints"
        )


async def create_topics(
    settings: Settings,
    topics: Sequence[Topic] = ALL_TOPICS,
    *,
    needed: Collection[Topic] | None = None,
) -> list[str]:
    """Create what is missing and wait until the cluster knows it; returns the names created.

    Every topic exists before a worker starts: a worker that subscribes to a missing one gets no
    partition of it and says nothing. Only ``needed`` ones (all, by default) have to exist; where
    they do, nothing is asked but what there is, so that Describe is right enough."""
    wanted = topics if needed is None else needed
    async with open_admin(settings) as admin:
        known = set(await admin.list_topics())
        if all(settings.topic(topic.name) in known for topic in wanted):
            return []
        missing = [topic for topic in topics if settings.topic(topic.name) not in known]
        replicas = settings.replication_factor or _replicas(await admin.describe_cluster())
        response = await admin.create_topics([_new_topic(settings, t, replicas) for t in missing])
        created: list[str] = []
        refused: dict[str, type[Exception]] = {}
        for name, code, *_ in response.topic_errors:
            error = for_code(code)
            if error is NoError:
                created.append(name)
            elif error in RIGHTS_MISSING:
                refused[name] = error
            elif error is not TopicAlreadyExistsError:
                raise KafkaError(f"the broker refused to create topic {name}: {error.__name__}")
        names = {settings.topic(topic.name) for topic in wanted}
        if lacking := sorted(names & refused.keys()):
            raise TopicsRefused(lacking, refused[lacking[0]].__name__)
        await _until_known(admin, names)
        return created


async def topic_problems(
    settings: Settings, topics: Sequence[Topic] = ALL_TOPICS
) -> list[TopicProblem]:
    """What is wrong with the topics as they are: missing, not to be seen by this user, with other
    partition counts, or configured so that they lose or refuse what the promises need."""
    async with open_admin(settings) as admin:
        described = await _described(admin, [settings.topic(t.name) for t in topics])
        there = [t for t in topics if isinstance(described[settings.topic(t.name)], _Described)]
        wanted = settings.replication_factor or _replicas(await admin.describe_cluster())
        problems = list(_of_partitions(settings, topics, described, wanted))
        replicas = {
            name: found.replicas
            for name, found in described.items()
            if isinstance(found, _Described)
        }
        return problems + await configuration_problems(admin, settings, there, replicas)


async def alter_settings(settings: Settings, problems: Sequence[TopicProblem]) -> None:
    """Give topics the settings that mend them, and wait until the brokers tell them so."""
    changes: dict[str, dict[str, str]] = {}
    for problem in problems:
        if problem.setting:
            key, value = problem.setting
            changes.setdefault(problem.topic, {})[key] = value
    async with open_admin(settings) as admin:
        await alter_topics(admin, changes)
    mended = {problem for problem in problems if problem.setting}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(METADATA_PATIENCE_SECONDS):
            while not mended.isdisjoint(await topic_problems(settings)):  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def topic_retention(settings: Settings, topics: Sequence[Topic]) -> dict[str, int | None]:
    """For how many milliseconds the broker keeps the records of each topic, by its name there;
    negative is for ever, None what the broker does not tell this user."""
    async with open_admin(settings) as admin:
        return await told_retention(admin, [settings.topic(topic.name) for topic in topics])


Committed = dict[TopicPartition, OffsetAndMetadata]


async def committed_offsets(
    settings: Settings, partitions: Mapping[str, Sequence[TopicPartition]]
) -> dict[str, Committed]:
    """What each role's group committed of its ``partitions``, with the metadata that it gave; those
    of which it committed nothing are left out. The embedded broker forgets the metadata."""
    async with open_admin(settings) as admin:
        found = {}
        for role, wanted in partitions.items():
            group = settings.group(role)
            told = await _told_offsets(admin, group, list(wanted))
            found[role] = {tp: committed for tp, committed in told.items() if committed.offset >= 0}
        return found


@stamina.retry(on=GroupCoordinatorNotAvailableError, timeout=METADATA_PATIENCE_SECONDS)
async def _told_offsets(
    admin: AIOKafkaAdminClient, group: str, partitions: list[TopicPartition]
) -> Committed:
    """A cluster makes the topic of its offsets when first asked for a group, and answers later."""
    told: Committed = await admin.list_consumer_group_offsets(group, partitions=partitions)
    return told


async def lags(
    settings: Settings, reach: Mapping[TopicPartition, int], roles: Iterable[RoleName]
) -> dict[str, tuple[int, bool]]:
    """How many records before ``reach`` each role has not committed, and whether it ever did."""
    wanted: dict[str, list[TopicPartition]] = {}
    for role in roles:
        names = {settings.topic(topic.name) for topic in READ_BY[role]}
        wanted[role] = [tp for tp in reach if tp.topic in names]
    found: dict[str, tuple[int, bool]] = {}
    for name, done in (await committed_offsets(settings, wanted)).items():
        behind = (reach[tp] - (done[tp].offset if tp in done else 0) for tp in wanted[name])
        found[name] = sum(max(0, records) for records in behind), bool(done)
    return found


@dataclass(frozen=True, slots=True)
class _Described:
    """How many partitions a topic has, and how many replicas the least of them."""

    partitions: int
    replicas: int


def _of_partitions(
    settings: Settings,
    topics: Sequence[Topic],
    described: Mapping[str, _Described | type[Exception]],
    replicas: int,
) -> Iterator[TopicProblem]:
    for topic in topics:
        name, wanted = settings.topic(topic.name), _partitions(settings, topic)
        match described[name]:
            case _Described(partitions=partitions) as found:
                if found.replicas < replicas:
                    yield TopicProblem(
                        name,
                        f"has {found.replicas} replicas instead of {replicas}: its records are "
                        "lost with a broker",
                        "give it more with kafka-reassign-partitions.sh, or set "
                        "SAFEPASSAGE_REPLICATION_FACTOR if it is meant so",
                        "warning",
                    )
                if partitions != wanted:
                    yield TopicProblem(
                        name,
                        f"has {partitions} partitions instead of {wanted}",
                        "set SAFEPASSAGE_PARTITIONS to what all topics have, or recreate the topic",
                    )
            case error if error is TopicAuthorizationFailedError:
                yield TopicProblem(
                    name,
                    "cannot be seen by this user",
                    "grant Describe, as `safepassage doctor --acls` prints it, or look as one who "
                    "may",
                )
            case _:
                yield TopicProblem(name, "is missing", "run `safepassage doctor --create-topics`")


async def _described(
    admin: AIOKafkaAdminClient, names: Collection[str], node: int | None = None
) -> dict[str, _Described | type[Exception]]:
    """Each topic of ``names``, or the error that the broker ``node`` (or any) gives for it. None is
    created by it, as a broker does by default for a topic that somebody asks after."""
    answer = await admin._send_request(MetadataRequest(list(names), False), node)
    found: dict[str, _Described | type[Exception]] = {}
    for topic in answer.to_object()["topics"]:
        replicas = [len(partition["replicas"]) for partition in topic["partitions"]]
        described = _Described(len(replicas), min(replicas, default=0))
        found[topic["topic"]] = for_code(topic["error_code"]) if topic["error_code"] else described
    return found


def _replicas(cluster: Mapping[str, Any]) -> int:
    """How many replicas a topic should have of the brokers that there are."""
    return min(REPLICAS, len(cluster["brokers"]))


def _new_topic(settings: Settings, topic: Topic, replicas: int) -> NewTopic:
    # What one broker alone has acknowledged is lost with it.
    agreeing = {IN_SYNC: str(replicas - 1)} if replicas >= REPLICAS else {}
    return NewTopic(
        name=settings.topic(topic.name),
        num_partitions=_partitions(settings, topic),
        replication_factor=replicas,
        topic_configs=topic_config(topic, settings.max_record_bytes) | agreeing,
    )


def _partitions(settings: Settings, topic: Topic) -> int:
    return 1 if topic.single else settings.partitions


async def _until_known(admin: AIOKafkaAdminClient, names: Collection[str]) -> None:
    """Every broker learns of a topic by itself, and any may be asked next."""
    nodes = [broker.nodeId for broker in admin._client.cluster.brokers()]
    async with asyncio.timeout(METADATA_PATIENCE_SECONDS):
        for node in nodes:
            with contextlib.suppress(KafkaConnectionError, NodeNotReadyError):
                while True:
                    described = await _described(admin, names, node)
                    if all(isinstance(found, _Described) for found in described.values()):
                        break
                    await asyncio.sleep(0.1)
