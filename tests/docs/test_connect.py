"""The blocks of docs/how-to/connect.md run as they stand."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import asyncpg
import pytest

from safepassage.schemas import Document, LabelledExtraction, Verdict
from safepassage.schemas.report import DocumentReport
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE, REPORTS
from tests.streams.judged import FakeScorer, publish, verdict

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "connect.md"
SECRET = b"a secret of the tests"


@pytest.fixture
def names() -> dict[str, Any]:
    """Everything that the page defines."""
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(compile(block, str(PAGE), "exec", dont_inherit=True), found)  # noqa: S102 - our own page
    return found


def report(name: str, stopped: int) -> DocumentReport:
    ref = Document(id=name, text="t").ref()
    return DocumentReport(
        document=ref, extractions=2, accepted=2 - stopped, quarantined=stopped, undetermined=0
    )


async def test_a_webhook_is_signed_and_told_of_documents_with_stopped_values_alone(
    kafka: Settings, names: dict[str, Any]
):
    await create_topics(kafka)
    await publish(kafka, REPORTS, [report("good", 0), report("bad", 1)], key="d")
    got: list[tuple[dict[str, str], bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            # Refused once: the consumer ends, and the next one is told again.
            self.send_response(503 if len(got) == 1 else 204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    url = f"http://127.0.0.1:{server.server_port}/"
    asked = (kafka.kafka_bootstrap_servers, kafka.topic("reports"), url, SECRET)
    try:
        with pytest.raises(HTTPError, match="503") as refused:
            await asyncio.wait_for(names["forward"](*asked), 60)
        refused.value.close()
        again = asyncio.create_task(names["forward"](*asked))
        async with asyncio.timeout(60):
            while len(got) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    (first, body), (second, same) = got
    assert DocumentReport.model_validate_json(body).document.id == "bad"
    assert (body, first["webhook-id"]) == (same, second["webhook-id"])
    said = f"{second['webhook-id']}.{second['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(SECRET, said, hashlib.sha256).digest()).decode()
    assert second["webhook-signature"] == f"v1,{wanted}"


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[str]:
    """A server of its own; skips the test where none is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    # Its programs refuse to run as root, and a socket's path is short.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, str(found[-1] / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run("initdb", "-A", "trust", "-U", "tests")
    run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-h '' -k {folder}", "start")
    yield f"postgresql://tests@/postgres?host={folder}"
    run("pg_ctl", "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)


async def test_postgresql_keeps_the_latest_verdict_of_each_extraction(
    kafka: Settings, names: dict[str, Any], postgresql: str
):
    await create_topics(kafka)
    first, other = verdict(1), verdict(2)
    retracted = verdict(1, FakeScorer(stop=frozenset({"May 1"}), revision="later"))
    await publish(kafka, ACCEPTED, [first, other], key="d")
    topics = [kafka.topic(topic.name) for topic in (ACCEPTED, QUARANTINE)]
    keeping = asyncio.create_task(names["keep"](kafka.kafka_bootstrap_servers, topics, postgresql))
    database = await asyncpg.connect(postgresql)
    wanted = [("May 1", "accepted"), ("May 2", "accepted")]
    try:
        await kept(database, wanted)
        await publish(kafka, QUARANTINE, [retracted], key="d")
        await publish(kafka, ACCEPTED, [other], key="d")  # delivered again
        await kept(database, [("May 1", "quarantined"), wanted[1]])
        (whole,) = await database.fetch("SELECT verdict FROM verdicts WHERE decision <> 'accepted'")
        assert Verdict.model_validate_json(whole[0]) == retracted
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await database.close()


async def kept(database: asyncpg.Connection, wanted: list[tuple[str, str]]) -> None:
    """Wait until these values and decisions are in the table, and no others."""
    asked = "SELECT value #>> '{}', decision FROM verdicts ORDER BY 1"
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(asyncpg.UndefinedTableError):
                if [tuple(row) for row in await database.fetch(asked)] == wanted:
                    return
            await asyncio.sleep(0.1)


def stopped(*numbers: int) -> list[dict[str, Any]]:
    scorer = FakeScorer(stop=frozenset(f"May {n}" for n in numbers))
    return [verdict(n, scorer).model_dump(mode="json") for n in (1, 2, 3, 4)]


def test_label_studio_gets_what_was_stopped_and_gives_labels(names: dict[str, Any]):
    made = names["tasks"](stopped(1, 2, 3))
    assert [task["data"]["row"]["value"] for task in made] == ["May 1", "May 2", "May 3"]

    def annotated(task: dict[str, Any], *choices: str) -> dict[str, Any]:
        results = [{"from_name": "decision", "value": {"choices": [one]}} for one in choices]
        return task | {"annotations": [{"result": [one]} for one in results]}

    exported = [
        annotated(made[0], "supports", "supports"),
        annotated(made[1], "insufficient"),
        annotated(made[2], "supports", "insufficient"),
    ]
    rows = names["labels"](exported)
    read = [LabelledExtraction.model_validate(row) for row in rows]
    assert [(row.value, row.label) for row in read] == [("May 1", 1), ("May 2", 0)]


def test_argilla_gets_the_same_and_gives_labels(names: dict[str, Any]):
    verdicts = stopped(1, 2, 3, 4)
    given = (
        (["insufficient", "supports"], ["discarded", "submitted"]),
        (["insufficient"], ["submitted"]),
        (["supports"], ["draft"]),
        (None, None),
    )
    annotated = [
        record | {"decision.responses": said, "decision.responses.status": status}
        for record, (said, status) in zip(names["records"](verdicts), given, strict=True)
    ]
    rows = names["labels_of"](annotated, verdicts)
    read = [LabelledExtraction.model_validate(row) for row in rows]
    assert [(row.value, row.label) for row in read] == [("May 1", 1), ("May 2", 0)]


def test_msk_s_signer_is_asked_as_its_page_says(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    provider = SimpleNamespace(generate_auth_token=lambda region: (f"token of {region}", 1))
    signer = SimpleNamespace(MSKAuthTokenProvider=provider)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", signer)
    assert names["msk"]() == ("token of eu-central-1", 1)
