"""A server at home, one slot of three tokens a second: it loses nothing, and people see why they
wait."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from safepassage.schemas import Document
from safepassage.streams import wiring
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.clients import new_producer
from safepassage.streams.kafka.publisher import KafkaPublisher
from safepassage.streams.settings import Settings
from tests.recorded_llm.serving import serve
from tests.safepassage.llm_calls.slow_server import SlowServer
from tests.stack import environment
from tests.streams.broker import Running

COUNT = 6
TIMEOUT_SECONDS = 1.0


async def test_a_slow_llm_with_the_defaults_loses_no_document_and_submit_says_why_it_waits(
    kafka: Settings, tmp_path: Path
):
    # Two seconds an answer, twice what a call without a token may take: with whole calls under
    # the limit, and 32 at once, none would ever end.
    server = SlowServer('{ "entities" : [ ] }', slots=1, tokens_per_second=3)
    rows = [Document(id=f"lease-{n}", text=f"Rent: {n} a month.").to_json() for n in range(COUNT)]
    (tmp_path / "leases.jsonl").write_bytes(b"\n".join(rows))
    async with serve(server.app()) as url, AsyncExitStack() as opened:
        settings = kafka.model_copy(
            update={
                "openai_base_url": url,
                "entity_types": ("Rent",),
                "llm_timeout_seconds": TIMEOUT_SECONDS,
            }
        )
        await create_topics(settings)
        members = []
        for role in ("extract", "report"):
            publisher = KafkaPublisher(new_producer(settings), settings)
            await publisher.start()
            source = await wiring.source(role, publisher, settings, opened)
            members.append(Running(source, publisher))
        command = [sys.executable, "-m", "safepassage", "submit", "leases.jsonl", "--wait"]
        submitted = partial(subprocess.run, command, env=environment(settings), cwd=tmp_path)
        try:
            ended = await asyncio.to_thread(
                submitted, capture_output=True, text=True, timeout=300, check=False
            )
        finally:
            for member in members:
                await member.stop()
    assert ended.returncode == 0, ended.stderr
    assert f"{COUNT} documents, {COUNT} documents without a finding" in ended.stdout
    assert server.finished == COUNT
    assert "LLM: no token in 1 s; asked again in its turn" in ended.stderr
    assert not re.search(r"dead|Rent", ended.stderr)
