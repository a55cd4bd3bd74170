"""The whole flow through the command line: real processes, a broker, a Redis, a recorded LLM."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from safepassage.schemas import Document, LabelledExtraction, Verdict, canonical_json, read_jsonl
from safepassage.streams.demo import corpus
from safepassage.streams.demo.embedded import LOOPBACK, free_port
from safepassage.streams.demo.stack import Processes
from tests.stack import Stack, environment

TRIBUNAL = Path(__file__).parents[3] / "shared" / "data" / "tribunal"
ROLES = ("extract", "align", "score", "report")
DEFAULT_MODEL = Path(__file__).parents[2] / "scoring_worker" / "models" / "default"

Finding = tuple[str, str, str, str]
"""Document id, entity type, value as canonical JSON and context."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files that the commands get, and their rows."""

    documents: Path
    extractions: Path
    doc_ids: frozenset[str]
    findings: frozenset[Finding]


@pytest.fixture
def small(tmp_path: Path) -> Corpus:
    """Two documents of the demo."""
    return _corpus(corpus.DOCUMENTS, corpus.EXTRACTIONS, tmp_path, last=2)


@pytest.fixture
def whole(tmp_path: Path) -> Corpus:
    """All labelled decisions of the tribunal."""
    if not TRIBUNAL.exists():
        pytest.skip("../shared/data/tribunal is absent")
    sources = TRIBUNAL / "documents.jsonl.gz", TRIBUNAL / "extractions.jsonl.gz"
    return _corpus(*sources, tmp_path)


def _corpus(documents: Path, extractions: Path, folder: Path, last: int = 0) -> Corpus:
    rows = [row for row in read_jsonl(extractions, LabelledExtraction) if hasattr(row, "doc_id")]
    chosen = list(dict.fromkeys(row.doc_id for row in rows))[-last:]
    texts = [
        row
        for row in read_jsonl(documents, Document)
        if isinstance(row, Document) and row.id in chosen
    ]
    # The worker has no schema, so it says nothing of a field; nor may the rows that `check` reads.
    kept = [row.model_copy(update={"field": None}) for row in rows if row.doc_id in chosen]
    made = Corpus(
        folder / "documents.jsonl",
        folder / "extractions.jsonl",
        frozenset(document.id for document in texts),
        frozenset(_finding(row) for row in kept),
    )
    made.documents.write_bytes(b"".join(document.to_json() + b"\n" for document in texts))
    made.extractions.write_bytes(b"".join(row.to_json() + b"\n" for row in kept))
    return made


def _finding(row: LabelledExtraction | Verdict) -> Finding:
    return row.doc_id, row.entity_type, canonical_json(row.value), row.context


@pytest.fixture
def command(stack: Stack) -> dict[str, str]:
    """The environment of every command: this test's topics, a port for the LLM, one thread. The
    small reader loads in a third of the time."""
    llm = f"http://{LOOPBACK}:{free_port()}/v1"
    chosen = {
        "OPENAI_BASE_URL": llm,
        "SAFEPASSAGE_MODEL": "recorded",
        "SAFEPASSAGE_SCORER": "small",
    }
    return {**environment(stack.settings(partitions=2)), **chosen}


@pytest.fixture
def workers(command: dict[str, str], small: Corpus, tmp_path: Path) -> Iterator[Processes]:
    with _running(command, small, tmp_path) as processes:
        yield processes


def _running(command: dict[str, str], given: Corpus, folder: Path) -> Processes:
    processes = Processes(command, folder)
    port = command["OPENAI_BASE_URL"].rsplit(":", 1)[1].removesuffix("/v1")
    files = ("-d", str(given.documents), "-e", str(given.extractions))
    processes.start("recorded-llm", "recorded-llm", *files, "-p", port)
    processes.start("worker", "worker", *ROLES)
    return processes


def safepassage(command: Mapping[str, str], *arguments: str | Path) -> str:
    """Run a command to its end; its stdout."""
    ended = subprocess.run(
        [sys.executable, "-m", "safepassage", *map(str, arguments)],
        env=dict(command),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2_000:]
    return ended.stdout


def verdicts_of(path: Path) -> list[Verdict]:
    return [row for row in read_jsonl(path, Verdict) if isinstance(row, Verdict)]


def flow(command: Mapping[str, str], given: Corpus, folder: Path) -> None:
    """Submit, wait, read the verdicts back, and compare with `check` on the same files."""
    told = safepassage(command, "submit", "--wait", "--timeout", "800", given.documents)
    assert f"{len(given.doc_ids)} submitted, 0 refused" in told
    safepassage(command, "verdicts", "--out", folder / "stream.jsonl")
    streamed = verdicts_of(folder / "stream.jsonl")
    assert_each_once(streamed, given)
    files = ("-d", given.documents, "-e", given.extractions)
    safepassage(command, "check", *files, "-o", folder / "check.jsonl")
    checked = {_finding(v): v for v in verdicts_of(folder / "check.jsonl")}
    for verdict in streamed:
        alone = checked[_finding(verdict)]
        assert (verdict.decision, verdict.reasons) == (alone.decision, alone.reasons)
        assert (verdict.score, verdict.alignment) == (alone.score, alone.alignment)


def assert_each_once(streamed: Sequence[Verdict], given: Corpus) -> None:
    found = [_finding(verdict) for verdict in streamed]
    assert len(found) == len(set(found))
    assert set(found) == given.findings
    assert {verdict.decision for verdict in streamed} >= {"accepted", "quarantined"}


@pytest.mark.skipif(not DEFAULT_MODEL.exists(), reason="the default scorer is not in this checkout")
def test_every_extraction_ends_in_one_verdict_and_check_says_the_same(
    command: dict[str, str], small: Corpus, workers: Processes, tmp_path: Path
):
    flow(command, small, tmp_path)
    workers.check()


@pytest.mark.long
def test_all_labelled_decisions_of_the_tribunal(
    command: dict[str, str], whole: Corpus, tmp_path: Path
):
    command["SAFEPASSAGE_SCORER"] = "default"
    with _running(command, whole, tmp_path) as processes:
        flow(command, whole, tmp_path)
        processes.check()


def test_a_worker_without_a_broker_says_so_in_one_line(command: dict[str, str]):
    nowhere = {**command, "KAFKA_BOOTSTRAP_SERVERS": f"{LOOPBACK}:{free_port()}"}
    ended = subprocess.run(
        [sys.executable, "-m", "safepassage", "worker", "report"],
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1
    assert "safepassage doctor" in ended.stderr.splitlines()[-1]
