"""Documents through the whole flow in real processes, and one of them erased: with and without
keys."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path

import pytest

from safepassage.schemas import Document, LabelledExtraction, Verdict, read_jsonl
from safepassage.streams.demo import corpus
from safepassage.streams.demo.embedded import LOOPBACK, free_port
from safepassage.streams.demo.stack import Processes
from tests.stack import Stack, environment
from tests.streams.privacy.deployment import places_with

from .test_flow import DEFAULT_MODEL, ROLES, safepassage

pytestmark = pytest.mark.skipif(
    not DEFAULT_MODEL.exists(), reason="the default scorer is not in this checkout"
)
# Of what the flow writes by itself: without keys it stays there until its retention is over.
WITH_TEXT = {"documents", "extractions", "alignments", "accepted", "quarantine"}


def _two_documents(folder: Path) -> tuple[Path, Path, Document, set[str]]:
    """Files of two documents and their extractions; the one to erase, and words of it that stand
    in no other: its values."""
    rows = [r for r in read_jsonl(corpus.EXTRACTIONS, LabelledExtraction) if hasattr(r, "doc_id")]
    chosen = list(dict.fromkeys(row.doc_id for row in rows))[:2]
    texts = [d for d in read_jsonl(corpus.DOCUMENTS, Document) if isinstance(d, Document)]
    first, other = ({d.id: d for d in texts}[name] for name in chosen)
    kept = [row for row in rows if row.doc_id in chosen]
    documents, extractions = folder / "documents.jsonl", folder / "extractions.jsonl"
    documents.write_bytes(b"".join(d.to_json() + b"\n" for d in (first, other)))
    extractions.write_bytes(b"".join(row.to_json() + b"\n" for row in kept))
    own = [row.context for row in kept if row.doc_id == first.id]
    needles = {c[:40] for c in own if c[:40] in first.text and c[:40] not in other.text}
    return documents, extractions, first, {n for n in needles if n.isascii() and '"' not in n}


@pytest.mark.long
@pytest.mark.parametrize("keys", [True, False], ids=["sealed", "plain"])
def test_erased_document_is_gone_from_a_running_deployment(
    stack: Stack, tmp_path: Path, keys: bool
) -> None:
    documents, extractions, gone, needles = _two_documents(tmp_path)
    assert needles
    port = free_port()
    learn = tmp_path / "learnt"
    settings = stack.settings(partitions=2, learn_folder=learn)
    command = {
        **environment(settings),
        "OPENAI_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
        "SAFEPASSAGE_MODEL": "recorded",
        "SAFEPASSAGE_LEARN_FOLDER": str(learn),
    }
    if keys:
        path = tmp_path / "keys"
        path.write_bytes(base64.b64encode(os.urandom(32)) + b"\n")
        path.chmod(0o600)
        command["SAFEPASSAGE_KEYS_FILE"] = str(path)
        safepassage(command, "keys", "create")
    files = ("-d", str(documents), "-e", str(extractions))

    def places() -> set[str]:
        return {p for needle in needles for p in asyncio.run(places_with(settings, needle))}

    def verdicts() -> set[str]:
        safepassage(command, "verdicts", "--out", tmp_path / "verdicts.jsonl")
        rows = read_jsonl(tmp_path / "verdicts.jsonl", Verdict)
        return {row.doc_id for row in rows if isinstance(row, Verdict)}

    with Processes(command, tmp_path) as processes:
        processes.start("recorded-llm", "recorded-llm", *files, "-p", str(port))
        processes.start("worker", "worker", *ROLES)
        told = safepassage(command, "submit", "--wait", "--timeout", "300", documents)
        assert "2 submitted, 0 refused" in told
        assert gone.id in verdicts()
        before = places()
        assert before & WITH_TEXT == (set() if keys else before - {"redis"})
        assert "redis" in before
        told = safepassage(command, "erase", gone.id, "--reason", "asked for it")
        assert ("unreadable" in told) == keys
        assert places() == (set() if keys else before - {"redis"})
        assert len(verdicts()) == 1
        processes.check()
    with Processes(command, tmp_path) as processes:
        processes.start("recorded-llm", "recorded-llm", *files, "-p", str(port))
        processes.start("worker-again", "worker", *ROLES)
        rest = tmp_path / "rest.jsonl"
        rest.write_bytes(documents.read_bytes().splitlines(keepends=True)[1])
        safepassage(command, "submit", "--wait", "--timeout", "300", rest)
        told = safepassage(command, "replay", "--scorer", "default", "--report", tmp_path / "r")
        assert gone.id not in told
        assert " 0 findings" in safepassage(command, "audit", "verify")
        processes.check()
    assert places() == (set() if keys else before - {"redis"})
