"""docs/how-to/own-extractor.md as it stands, before workers that judge what it writes."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest

from safepassage.schemas import Verdict
from safepassage.streams.demo.stack import Processes
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.records import Received
from safepassage.streams.settings import Settings
from safepassage.streams.verdicts.deduplication import read_verdicts
from tests.stack import Stack, environment

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-extractor.md"
SECONDS = 120


async def verdicts(settings: Settings) -> dict[str, Verdict]:
    found = [one.event async for one in read_verdicts(settings) if isinstance(one, Received)]
    return {verdict.entity_type: verdict for verdict in found}


def test_what_an_extractor_of_ones_own_writes_is_judged(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = stack.settings(partitions=2)
    asyncio.run(create_topics(settings))
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    names: dict[str, Any] = {"asyncio": asyncio}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    with Processes({**environment(settings), "SAFEPASSAGE_SCORER": "words"}, tmp_path) as running:
        running.start("worker", "worker", "align", "score")
        until = time.monotonic() + SECONDS
        while len(found := asyncio.run(verdicts(settings))) < 2 and time.monotonic() < until:
            running.check()
            time.sleep(0.5)
    assert {name: verdict.decision for name, verdict in found.items()} == {
        "Monthly Rent": "accepted",
        "Deposit": "quarantined",
    }
    assert found["Deposit"].document.id == "lease-7"
