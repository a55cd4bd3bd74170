"""Topics that lose or refuse what the promises need: the doctor fails, workers warn."""

from __future__ import annotations

import pytest
import structlog
from aiokafka.admin import NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAuthorizationFailedError

from safepassage.streams import worker
from safepassage.streams.doctor import examination as doctor
from safepassage.streams.kafka.admin import (
    _Described,
    _new_topic,
    _of_partitions,
    _replicas,
    create_topics,
)
from safepassage.streams.kafka.clients import new_admin
from safepassage.streams.kafka.reading import ends
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ALL_TOPICS,
    DEAD_LETTERS,
    DOCUMENTS,
    REVIEWS,
    SCORERS,
    Topic,
    topic_config,
)
from tests.streams.rights import Rights, rights_of

WEEK = str(7 * 24 * 3600 * 1000)
WRONG = [
    (SCORERS, {"cleanup.policy": "delete"}, "cleanup.policy=delete instead of compact"),
    (SCORERS, {"cleanup.policy": "compact,delete"}, "compact,delete instead of compact"),
    (DOCUMENTS, {"cleanup.policy": "compact"}, "cleanup.policy=compact instead of delete"),
    (REVIEWS, {"retention.ms": WEEK}, f"retention.ms={WEEK} instead of -1"),
    (REVIEWS, {"retention.ms": "-1", "retention.bytes": "1000"}, "retention.bytes=1000"),
    (DOCUMENTS, {"min.insync.replicas": "2"}, "min.insync.replicas=2 instead of 1: it has only 1"),
    (DEAD_LETTERS, {"max.message.bytes": "1048588"}, "max.message.bytes=1048588 instead of"),
]


async def create(settings: Settings, topic: Topic, config: dict[str, str]) -> None:
    """The topic as another tool would make it: right but for ``config``. What is left out a real
    broker fills in with defaults of its own, which differ from what the promises need too."""
    admin = new_admin(settings)
    try:
        await admin.start()
        partitions = 1 if topic.single else settings.partitions
        name = settings.topic(topic.name)
        whole = topic_config(topic, settings.max_record_bytes) | config
        await admin.create_topics([NewTopic(name, partitions, 1, topic_configs=whole)])
    finally:
        await admin.close()
    await create_topics(settings)


@pytest.mark.parametrize(("topic", "config", "words"), WRONG, ids=lambda value: str(value)[:40])
async def test_doctor_fails_on_it_and_says_how_to_mend_it(
    kafka: Settings, topic: Topic, config: dict[str, str], words: str
):
    await create(kafka, topic, config)
    (diagnosis,) = await doctor.check_topics(kafka)
    assert diagnosis.state == "failed"
    assert diagnosis.found.startswith(kafka.topic(topic.name))
    assert words in diagnosis.found
    server = f"kafka-configs.sh --bootstrap-server {kafka.kafka_bootstrap_servers} "
    assert diagnosis.remedy.startswith(server)
    assert " --alter " in diagnosis.remedy


LAGS = {"max.compaction.lag.ms": WEEK, "min.compaction.lag.ms": WEEK}


async def test_doctor_warns_of_erased_records_that_stay(kafka: Settings):
    await create(kafka, SCORERS, LAGS)
    told = await doctor.check_topics(kafka)
    assert {diagnosis.state for diagnosis in told} == {"warning"}
    found = sorted(diagnosis.found.partition(" has ")[2] for diagnosis in told)
    day = 24 * 3600 * 1000
    assert found == [
        f"max.compaction.lag.ms={WEEK} instead of {day}",
        f"min.compaction.lag.ms={WEEK} instead of 0",
    ]


@pytest.mark.parametrize(
    ("brokers", "replicas", "agreeing"), [(1, 1, None), (2, 2, None), (3, 3, "2"), (9, 3, "2")]
)
def test_topics_get_as_many_replicas_as_the_brokers_can_hold(
    brokers: int, replicas: int, agreeing: str | None
):
    found = _replicas({"brokers": [{}] * brokers})
    made = _new_topic(Settings(), DOCUMENTS, found)
    assert made.replication_factor == found == replicas
    assert made.topic_configs.get("min.insync.replicas") == agreeing


def test_doctor_warns_of_topics_that_are_lost_with_a_broker():
    described = {"documents": _Described(8, 1)}
    (found,) = _of_partitions(Settings(), [DOCUMENTS], described, 3)
    assert found.severity == "warning"
    assert "has 1 replicas instead of 3" in found.problem


async def test_doctor_sets_what_loses_nothing_and_leaves_all_else(kafka: Settings):
    own = {"segment.bytes": "1048576"}
    await create(kafka, REVIEWS, {"retention.ms": WEEK, "retention.bytes": "1000"} | own)
    told = [diagnosis.found for diagnosis in await doctor.alter(kafka, apply=False)]
    name = kafka.topic(REVIEWS.name)
    assert [found.partition(" (")[0] for found in told] == [
        f"{name} would get retention.ms=-1",
        f"{name} would get retention.bytes=-1",
    ]
    assert len(await doctor.check_topics(kafka)) == 2  # nothing was done
    await doctor.alter(kafka, apply=True)
    assert [d.state for d in await doctor.check_topics(kafka)] == ["ok"]
    assert (await settings_of(kafka, name)).items() >= own.items()


async def test_another_policy_is_left_to_a_person(kafka: Settings):
    await create(kafka, SCORERS, {"cleanup.policy": "delete"})
    assert await doctor.alter(kafka, apply=True) == []
    (diagnosis,) = await doctor.check_topics(kafka)
    assert "cleanup.policy=compact" in diagnosis.remedy


async def settings_of(settings: Settings, name: str) -> dict[str, str]:
    admin = new_admin(settings)
    try:
        await admin.start()
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        (response,) = await admin.describe_configs([resource])
        return {entry[0]: entry[1] for entry in response.resources[0][4]}
    finally:
        await admin.close()


async def test_worker_warns_of_it_and_starts(kafka: Settings):
    await create(kafka, DEAD_LETTERS, {"max.message.bytes": "1048588"})
    with structlog.testing.capture_logs() as lines:
        await worker.prepare_topics(kafka, ["align"])
    (warning,) = [line for line in lines if line["event"] == "topic_problem"]
    assert warning["log_level"] == "warning"
    assert "max.message.bytes" in warning["problem"]


async def test_topics_as_they_are_created_are_well(kafka: Settings):
    await create_topics(kafka)
    assert [d.state for d in await doctor.check_topics(kafka)] == ["ok"]


async def test_topic_that_may_not_be_described_is_not_said_to_be_missing(
    kafka: Settings, monkeypatch
):
    await create_topics(kafka)
    everything = frozenset(kafka.topic(topic.name) for topic in ALL_TOPICS)
    hidden = kafka.topic(REVIEWS.name)
    Rights(describe=everything - {hidden}).install(monkeypatch)
    (diagnosis,) = await doctor.check_topics(kafka)
    assert diagnosis.found == f"{hidden} cannot be seen by this user"
    assert "grant Describe" in diagnosis.remedy
    with pytest.raises(TopicAuthorizationFailedError, match=hidden):
        await ends(kafka, [REVIEWS])


async def test_configuration_that_may_not_be_read_is_no_failure(kafka: Settings, monkeypatch):
    await create_topics(kafka)
    rights = rights_of("score", kafka)
    rights.describe = frozenset(kafka.topic(topic.name) for topic in ALL_TOPICS)
    rights.configurations = False
    rights.install(monkeypatch)
    assert {d.state for d in await doctor.check_topics(kafka)} == {"warning"}
    with structlog.testing.capture_logs() as lines:
        await worker.prepare_topics(kafka, ["score"])
    assert {line["log_level"] for line in lines if line["event"] == "topic_problem"} == {"info"}
