"""A process with a name of its own joins its groups as a static member."""

from __future__ import annotations

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from pydantic import ValidationError

from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.settings import Settings
from tests.streams.broker import batch_source, faust_source, running, send_documents, until
from tests.streams.doubles import document_role


@pytest.mark.parametrize("source", [batch_source, faust_source])
@pytest.mark.parametrize("instance", [None, "score-0"])
async def test_a_member_has_the_name_of_its_process_and_role(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch, source, instance: str | None
):
    """aiokafka sends it when it joins, and sends no LeaveGroup for a member that has one."""
    joined: list[str | None] = []
    begin = GroupCoordinator.__init__

    def noted(self, *arguments, **options):
        joined.append(options["group_instance_id"])
        begin(self, *arguments, **options)

    monkeypatch.setattr(GroupCoordinator, "__init__", noted)
    settings = kafka.model_copy(update={"kafka_instance": instance})
    await create_topics(settings)
    await send_documents(settings, ["one", "two"])
    handled: list[str] = []

    async def step(batch):
        handled.extend(entry.event.id for entry in batch)
        return [[] for _ in batch]

    async with running(source, document_role(step), settings) as member:
        await until(lambda: len(handled) == 2, "the documents", member.task)
    assert set(joined) == {f"{instance}-extract" if instance else None}


@pytest.mark.parametrize("name", ["", "a b", "x" * 201])
def test_a_name_that_brokers_refuse_is_refused_at_once(name: str):
    with pytest.raises(ValidationError, match="kafka_instance"):
        Settings(kafka_instance=name)
