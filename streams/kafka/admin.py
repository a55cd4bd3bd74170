"""Creating and checking topics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from streams.settings import Settings
from streams.topics import ALL_TOPICS, Topic, topic_config

from .clients import new_admin

METADATA_PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class TopicProblem:
    """Something about a topic that would lose or reorder events."""

    topic: str
    problem: str
    remedy: str


async def create_topics(settings: Settings, topics: Sequence[Topic] = ALL_TOPICS) -> list[str]:
    """Create what is missing and wait until the cluster knows it; returns the names created.

    Every topic exists before a worker starts: a worker that subscribes to a missing one gets no
    partition of it and says nothing.

    Raises:
        aiokafka.errors.KafkaError: the broker refused, for another reason than that it exists.
    """
    admin = new_admin(settings)
    await admin.start()
    try:
        response = await admin.create_topics([_new_topic(settings, topic) for topic in topics])
        created = [name for name, code, *_ in response.topic_errors if _was_created(name, code)]
        await _until_known(admin, [settings.topic(topic.name) for topic in topics])
        return created
    finally:
        await admin.close()


async def topic_problems(
    settings: Settings, topics: Sequence[Topic] = ALL_TOPICS
) -> list[TopicProblem]:
    """What is wrong with the topics as they are: missing, or with other partition counts."""
    partitions = await partition_counts(settings, [settings.topic(t.name) for t in topics])
    problems = []
    for topic in topics:
        name, wanted = settings.topic(topic.name), _partitions(settings, topic)
        if name not in partitions:
            problems.append(
                TopicProblem(name, "is missing", "run `safepassage doctor --create-topics`")
            )
        elif partitions[name] != wanted:
            problems.append(
                TopicProblem(
                    name,
                    f"has {partitions[name]} partitions instead of {wanted}",
                    "set SAFEPASSAGE_PARTITIONS to what all topics have, or recreate the topic",
                )
            )
    return problems


async def partition_counts(settings: Settings, names: Sequence[str]) -> dict[str, int]:
    """Partitions of each topic of ``names`` that exists."""
    admin = new_admin(settings)
    await admin.start()
    try:
        known = set(await admin.list_topics())
        described = await admin.describe_topics([name for name in names if name in known])
        return {topic["topic"]: len(topic["partitions"]) for topic in described}
    finally:
        await admin.close()


def _new_topic(settings: Settings, topic: Topic) -> NewTopic:
    return NewTopic(
        name=settings.topic(topic.name),
        num_partitions=_partitions(settings, topic),
        replication_factor=settings.replication_factor,
        topic_configs=topic_config(topic, settings.max_record_bytes),
    )


def _partitions(settings: Settings, topic: Topic) -> int:
    return 1 if topic.single else settings.partitions


def _was_created(name: str, code: int) -> bool:
    error = for_code(code)
    if error is TopicAlreadyExistsError:
        return False
    if code:
        raise KafkaError(f"the broker refused to create topic {name}: {error.__name__}")
    return True


async def _until_known(admin: AIOKafkaAdminClient, names: Sequence[str]) -> None:
    async with asyncio.timeout(METADATA_PATIENCE_SECONDS):
        while not set(names) <= set(await admin.list_topics()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
