"""The way through the stream: ``submit FOLDER --wait`` onto an embedded broker with its workers.

The recorded LLM knows a document by its text, and that is known once the folder is on its topic:
so the LLM and the workers start while ``submit`` waits for the verdicts. Nothing is read twice,
and boxes are looked up, as the console does it, in the documents that were read back.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from safepassage.schemas import Document, Verdict, read_jsonl
from safepassage.streams.demo.embedded import LOOPBACK, EmbeddedStack, embedded_stack, free_port
from safepassage.streams.demo.stack import Processes
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.reading import read_topics
from safepassage.streams.kafka.records import decode
from safepassage.streams.offline.evidence_boxes import boxes_line
from safepassage.streams.settings import Settings
from safepassage.streams.topics import DOCUMENTS

_ROLES = ("extract", "align", "score", "report")
_PATIENCE_SECONDS = 1_800


def submit(folder: Path, letters: Path, extractions: Path) -> str:
    """Submit ``letters`` and wait; verdicts and boxes of the evidence go into ``folder``.

    Returns what ``submit`` said on standard output.
    """
    with embedded_stack() as servers:
        settings = _settings(servers)
        asyncio.run(create_topics(settings))
        port = free_port()
        llm = {"OPENAI_BASE_URL": f"http://{LOOPBACK}:{port}/v1", "SAFEPASSAGE_MODEL": "recorded"}
        variables = {**os.environ, **servers.environment(), **llm, "PYTHONUNBUFFERED": "1"}
        with Processes(variables, folder) as workers, _submitting(letters, variables) as submitting:
            assert submitting.stdout is not None
            said = submitting.stdout.readline()  # comes once all of the folder is on the topic
            documents = asyncio.run(_documents(settings))
            rows = folder / "documents.jsonl"
            rows.write_bytes(b"".join(document.to_json() + b"\n" for document in documents))
            files = ("-d", str(rows), "-e", str(extractions))
            workers.start("recorded-llm", "recorded-llm", *files, "-p", str(port))
            workers.start("worker", "worker", *_ROLES)
            _wait(submitting, workers)
            said += submitting.stdout.read()
        _write_verdicts(folder, variables, documents)
    return said


def _settings(servers: EmbeddedStack) -> Settings:
    return Settings(
        kafka_bootstrap_servers=servers.bootstrap_servers,
        redis_url=servers.redis_url,  # made a secret by pydantic
        kafka_idempotence=False,
        partitions=4,
        kafka_session_timeout_seconds=6,
    )


def _submitting(letters: Path, variables: dict[str, str]) -> subprocess.Popen[str]:
    patience = ("--timeout", str(_PATIENCE_SECONDS))
    command = (sys.executable, "-m", "safepassage", "submit", str(letters), "--wait", *patience)
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)


def _wait(submitting: subprocess.Popen[str], workers: Processes) -> None:
    """Until the command ended, and ended well.

    Raises:
        ChildFailed: a worker ended before.
    """
    try:
        while submitting.poll() is None:
            workers.check()
            time.sleep(1)
    finally:
        submitting.kill()
    if submitting.returncode:
        raise subprocess.CalledProcessError(submitting.returncode, submitting.args)


async def _documents(settings: Settings) -> list[Document]:
    return [decode(record, Document).event async for record in read_topics(settings, [DOCUMENTS])]


def _write_verdicts(folder: Path, variables: dict[str, str], documents: list[Document]) -> None:
    verdicts = folder / "verdicts.jsonl"
    command = [sys.executable, "-m", "safepassage", "verdicts", "--out", str(verdicts)]
    subprocess.run(command, env=variables, check=True)
    by_id = {document.id: document for document in documents}
    found = [row for row in read_jsonl(verdicts, Verdict) if isinstance(row, Verdict)]
    lines = filter(None, (boxes_line(verdict, by_id[verdict.doc_id]) for verdict in found))
    (folder / "boxes.jsonl").write_text("".join(f"{line.model_dump_json()}\n" for line in lines))
