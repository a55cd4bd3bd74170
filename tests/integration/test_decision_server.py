"""The scorer `decisions` on a real local decision server: from `submit` to verdicts.

`sparrow-decider` (Apache-2.0, of the extra "bench") serves ``POST /v1/systemone`` with numpy and
weights of 2 MB. It judges badly; that it is asked and answers is what is tested.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from safepassage.streams.demo.embedded import LOOPBACK, free_port
from tests.integration.test_flow import (
    Corpus,
    _finding,
    _running,
    command,
    safepassage,
    small,
    verdicts_of,
)

__all__ = ["command", "small"]  # fixtures

OPTIONS = {"says_this", "says_another_value", "says_nothing_of_it"}


@pytest.fixture
def server():
    pytest.importorskip("sparrow_decider", reason="pip install 'safepassage[bench]'")
    port = free_port()
    arguments = [sys.executable, "-c", "from sparrow_decider.cli import main; main()"]
    serving = subprocess.Popen(
        [*arguments, "serve", "--host", LOOPBACK, "--port", str(port)], stderr=subprocess.PIPE
    )
    assert serving.stderr is not None
    assert b"/v1/systemone" in serving.stderr.readline()
    yield f"http://{LOOPBACK}:{port}/v1"
    serving.terminate()
    serving.communicate(timeout=10)


@pytest.mark.long
def test_documents_go_through_a_decision_server_to_verdicts(
    command: dict[str, str], small: Corpus, server: str, tmp_path: Path
):
    """Each extraction has one verdict. Each that was scored says which of the three options it is,
    and what the question took."""
    command |= {
        "SAFEPASSAGE_SCORER": "decisions",
        "SAFEPASSAGE_DECISION_BASE_URL": server,
        "SAFEPASSAGE_DECISION_API": "systemone",
        "SAFEPASSAGE_DECISION_MODEL": "sparrow-nano-general-v1.1",
    }
    with _running(command, small, tmp_path) as processes:
        safepassage(command, "submit", "--wait", "--timeout", "800", small.documents)
        safepassage(command, "verdicts", "--out", tmp_path / "stream.jsonl")
        processes.check()
    verdicts = verdicts_of(tmp_path / "stream.jsonl")
    assert {_finding(verdict) for verdict in verdicts} == small.findings
    scored = [one for one in verdicts if one.score is not None]
    assert len(scored) > len(verdicts) / 2
    for verdict in scored:
        assert len(OPTIONS & {finding.code for finding in verdict.findings}) == 1
        assert verdict.scorer == "decisions"
        assert verdict.scorers[0].usage is not None
