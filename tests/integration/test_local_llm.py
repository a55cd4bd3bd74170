"""A small LLM on this machine: from `submit` to verdicts.

    python benchmarks/llama_server.py model.gguf --threads 1
    LOCAL_LLM=http://127.0.0.1:8099/v1 python -m pytest -m long tests/integration/test_local_llm.py

What it finds is its own affair; that each finding ends in one verdict is what is tested.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from safepassage.schemas import Document
from safepassage.streams.demo.stack import Processes
from tests.integration.test_flow import ROLES, command, safepassage, verdicts_of

__all__ = ["command"]  # a fixture

SERVER = os.environ.get("LOCAL_LLM")
PATIENCE_SECONDS = 3_600
LEASE = (
    "The tenant is Mara Voss. She pays the landlord, Brixham Estates Ltd, a rent of 1,200 euros."
)


@pytest.mark.long
@pytest.mark.timeout(2 * PATIENCE_SECONDS)
@pytest.mark.skipif(not SERVER, reason="LOCAL_LLM names no server: see benchmarks/llama_server.py")
def test_a_document_goes_through_a_local_llm_to_verdicts(command: dict[str, str], tmp_path: Path):
    command |= {
        "OPENAI_BASE_URL": SERVER or "",
        "SAFEPASSAGE_ENTITY_TYPES": "Tenant,Rent",
        "SAFEPASSAGE_LLM_MAX_TOKENS": "300",
        "SAFEPASSAGE_LLM_TIMEOUT_SECONDS": "600",
    }
    given = tmp_path / "lease.jsonl"
    given.write_bytes(Document(id="lease", text=LEASE).to_json())
    wait = ["submit", "--wait", "--timeout", str(PATIENCE_SECONDS), str(given)]
    with Processes(command, tmp_path) as processes:
        processes.start("worker", "worker", *ROLES)
        ended = subprocess.run(
            [sys.executable, "-m", "safepassage", *wait],
            env=command,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS + 60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[-2_000:]
        safepassage(command, "verdicts", "--out", tmp_path / "stream.jsonl")
        processes.check()
    assert "1 submitted, 0 refused" in ended.stdout
    verdicts = verdicts_of(tmp_path / "stream.jsonl")
    assert verdicts, (tmp_path / "worker.log").read_text()[-2_000:]
    assert {verdict.doc_id for verdict in verdicts} == {"lease"}
    assert len({verdict.extraction_id for verdict in verdicts}) == len(verdicts)
    for verdict in verdicts:
        assert verdict.score is not None or verdict.reasons
        assert verdict.extractor is not None
        assert verdict.extractor.usage is not None
