"""A document that changes, through the command line and a worker of every role, which starts anew
between two versions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from safepassage.schemas import Document, Extraction
from safepassage.streams import worker
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.settings import Settings
from tests.faults.scorer import CueScorer, ScorerPlan
from tests.recorded_llm.server import create_app
from tests.recorded_llm.serving import serve
from tests.stack import environment

from .test_role import DEPOSIT, FIRST, NOTICE, RENT

SENTENCES = {"950": RENT, "2850": DEPOSIT, "90": NOTICE}
EXTRACTIONS = [
    Extraction(id=value, doc_id="lease", entity_type="Fee", value=value, context=sentence)
    for value, sentence in SENTENCES.items()
]


@asynccontextmanager
async def working(settings: Settings, monkeypatch) -> AsyncIterator[None]:
    stop = asyncio.Event()
    monkeypatch.setattr(worker, "stop_event", lambda *_: stop)
    monkeypatch.setattr(
        "safepassage.scoring_worker.load_scorer", lambda *_, **__: CueScorer(ScorerPlan())
    )
    task = asyncio.create_task(
        worker._run(["extract", "align", "score", "report", "realign"], settings)
    )
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait((task,), timeout=60)
    task.result()


async def command(settings: Settings, *arguments: str) -> str:
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "safepassage", *arguments],
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


async def test_new_versions_are_judged_without_an_llm(kafka: Settings, tmp_path: Path, monkeypatch):
    async def submit(text: str, *options: str) -> str:
        path = tmp_path / "documents.jsonl"
        path.write_text(json.dumps({"id": "lease", "text": text}) + "\n", "utf-8")
        return await command(kafka, "submit", str(path), "--wait", *options)

    second = f"A preface. {FIRST}".replace(DEPOSIT, "No deposit is due.")
    # It knows the first text alone: a question about another one would fail.
    app = create_app([Document(id="lease", text=FIRST)], EXTRACTIONS)
    async with serve(app) as url:
        settings = kafka.model_copy(update={"openai_base_url": url, "entity_types": ("Fee",)})
        await create_topics(settings)
        async with working(settings, monkeypatch):
            assert "3 accepted" in await submit(FIRST)
            told = await submit(second, "--realign")
        for said in ("1 documents aligned again", "2 moved", "1 withdrawn", "2 accepted"):
            assert said in told, told
        async with working(settings, monkeypatch):
            told = await submit(FIRST, "--realign")
            for said in ("1 upheld", "2 moved", "3 accepted"):
                assert said in told, told
            nothing = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-m", "safepassage", "submit", "x", "--responses", "--realign"],
                capture_output=True,
                check=False,
            )
            assert nothing.returncode == 2
    lines = [json.loads(line) for line in (await command(kafka, "realignments")).splitlines()]
    by_version: dict[int, dict[str, str]] = {}
    for line in lines:
        offset = line["document"]["coordinates"]["offset"]
        by_version.setdefault(offset, {})[line["value"]] = line["outcome"]
    assert list(by_version.values()) == [
        {"950": "moved", "2850": "withdrawn", "90": "moved"},
        {"950": "moved", "2850": "upheld", "90": "moved"},
    ]
