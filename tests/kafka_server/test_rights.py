"""The rights that `doctor --acls` prints suffice for each role, under Kafka's own authorizer, over
TLS and with every login that is offered."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Iterable

import pytest
from aiokafka.protocol.admin import CreateAclsRequest_v1
from aiokafka.protocol.api import Request
from pydantic import SecretStr

from safepassage.streams.doctor.acls import acl_commands
from safepassage.streams.doctor.examination import check_broker
from safepassage.streams.kafka.admin import TopicsRefused, create_topics
from safepassage.streams.kafka.clients import open_admin
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.refusals import RIGHTS_ERRORS, refusal
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED
from safepassage.streams.wiring import ROLE_NAMES
from tests.streams.broker import batch_source, faust_source
from tests.streams.test_rights import QUIET_SECONDS, working
from tests.streams.test_security import delivered

from .cluster import ADMIN, MECHANISMS, PASSWORD, Cluster
from .conftest import settings_for

PATIENCE_SECONDS = 30.0
KINDS = {"topic": 2, "group": 3}
PATTERNS = {"literal": 3, "prefixed": 4}
OPERATIONS = {
    name: number
    for number, name in enumerate(
        ("Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction"), start=3
    )
} | {"DescribeConfigs": 10, "AlterConfigs": 11}
ALLOW = 3


def logged_in(cluster: Cluster, settings: Settings, user: str, mechanism: str) -> Settings:
    return settings.model_copy(
        update={
            "kafka_bootstrap_servers": cluster.listener("SECURE"),
            "kafka_security_protocol": "SASL_SSL",
            "kafka_ca_file": str(cluster.certificates.authority),
            "kafka_sasl_mechanism": mechanism,
            "kafka_username": user,
            "kafka_password": SecretStr(PASSWORD),
        }
    )


async def grant(settings: Settings, lines: Iterable[str]) -> None:
    """Do what ``kafka-acls.sh`` does with these lines: it would take a Java process for each."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    for option in ("--bootstrap-server", "--command-config", "--allow-principal"):
        parser.add_argument(option)
    parser.add_argument("--add", action="store_true", required=True)
    parser.add_argument("--resource-pattern-type", choices=PATTERNS, default="literal")
    for option in ("--operation", "--topic", "--group"):
        parser.add_argument(option, action="append", default=[])
    creations = []
    for line in "\n".join(lines).splitlines():
        if line and not line.startswith("#"):
            given = parser.parse_args(shlex.split(line)[1:])
            pattern, user = PATTERNS[given.resource_pattern_type], given.allow_principal
            creations += [
                (KINDS[kind], name, pattern, user, "*", OPERATIONS[operation], ALLOW)
                for kind in KINDS
                for name in getattr(given, kind)
                for operation in given.operation
            ]
    async with open_admin(settings) as admin:
        answer = await admin._send_request(Grants(creations))
        assert {code for code, _ in answer.creation_responses} == {0}


class Grants(Request[CreateAclsRequest_v1]):
    """aiokafka's own request makes one grant at a time."""

    API_KEY = 30

    def __init__(self, creations: list[tuple]) -> None:
        self._creations = creations

    def build(self, request_struct_class: type[CreateAclsRequest_v1]) -> CreateAclsRequest_v1:
        return request_struct_class(self._creations)


@pytest.mark.parametrize("new_source", [batch_source, faust_source])
@pytest.mark.parametrize("mechanism", [*MECHANISMS, "PLAIN"])
async def test_records_flow_over_tls_with_every_login(
    one_broker: Cluster, mechanism: str, new_source
):
    settings = logged_in(one_broker, settings_for(one_broker), ADMIN, mechanism)
    assert await delivered(settings, new_source) == {b"a", b"b", b"c"}


async def test_records_flow_over_mutual_tls(one_broker: Cluster):
    made = one_broker.certificates
    settings = settings_for(one_broker).model_copy(
        update={
            "kafka_bootstrap_servers": one_broker.listener("MUTUAL"),
            "kafka_security_protocol": "SSL",
            "kafka_ca_file": str(made.authority),
            "kafka_certificate_file": str(made.certificate),
            "kafka_key_file": str(made.key),
        }
    )
    assert await delivered(settings, batch_source) == {b"a", b"b", b"c"}


@pytest.mark.parametrize("role", ROLE_NAMES)
async def test_role_works_with_the_rights_that_the_doctor_prints(
    one_broker: Cluster, role: str, monkeypatch, tmp_path
):
    settings = settings_for(one_broker).model_copy(
        update={"console_port": 0, "entity_types": ("Date",), "learn_folder": tmp_path}
    )
    await grant(settings, acl_commands(settings))
    setup = logged_in(one_broker, settings, "safepassage-setup", "SCRAM-SHA-512")
    async with asyncio.timeout(PATIENCE_SECONDS):
        # A broker says that rights are granted before it goes by them.
        while not await created(setup):
            continue
    mine = logged_in(one_broker, settings, f"safepassage-{role}", "SCRAM-SHA-512")
    async with working([role], mine, monkeypatch) as task:
        await asyncio.wait((task,), timeout=QUIET_SECONDS)
        assert not task.done(), task.exception()
    task.result()


async def created(settings: Settings) -> bool:
    try:
        await create_topics(settings)
    except TopicsRefused:
        return False
    return True


async def test_user_without_rights_is_told_which(one_broker: Cluster, monkeypatch):
    settings = settings_for(one_broker)
    await create_topics(settings)
    stranger = logged_in(one_broker, settings, "safepassage-align", "SCRAM-SHA-256")
    assert (await check_broker(stranger)).state == "ok"
    with pytest.raises(RIGHTS_ERRORS) as refused:
        [record async for record in read_topics(stranger, [ACCEPTED])]
    assert settings.topic("erasures") in refusal(refused.value)
    with pytest.raises(OperatorError, match=r"may not|missing, or not to be described"):
        async with working(["align"], stranger, monkeypatch) as task:
            await asyncio.wait_for(task, 60)
