"""``serve``: a process that answers, and ends when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.scoring_worker import tiny

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "the token of the tests"
ASKED = {
    "text": "Rent: 900 a month",
    "extractions": [{"type": "Rent", "value": "900", "quote": "Rent: 900"}],
}


@contextmanager
def served(scorer: Path, **changes: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the line that it says when it can be reached, or at its end."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SAFEPASSAGE_SERVE_PORT": "0",
        "SAFEPASSAGE_SCORER": str(scorer),
        **changes,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "safepassage", "serve"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        yield process, process.stderr.readline()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_it_answers_whoever_knows_the_token_and_ends_in_peace(tmp_path: Path):
    with served(tiny.bert(tmp_path), SAFEPASSAGE_SERVE_TOKEN=TOKEN) as (process, line):
        address = line.split()[1]
        assert address.startswith("http://127.0.0.1:"), line
        refused = httpx2.post(f"{address}/v1/verify", json=ASKED)
        known = {"authorization": f"Bearer {TOKEN}"}
        answer = httpx2.post(f"{address}/v1/verify", json=ASKED, headers=known, timeout=60)
        assert (refused.status_code, answer.status_code) == (401, 200)
        assert len(answer.json()["verdicts"]) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert "900" not in process.stderr.read()


@pytest.mark.parametrize("token", [None, "short"])
def test_it_does_not_start_where_anybody_could_ask(tmp_path: Path, token: str | None):
    """Before the scorer is looked for: the folder is empty."""
    environment = {"SAFEPASSAGE_SERVE_HOST": "0.0.0.0"}  # noqa: S104 - nothing is bound
    environment |= {"SAFEPASSAGE_SERVE_TOKEN": token} if token else {}
    with served(tmp_path, **environment) as (process, line):
        assert "SAFEPASSAGE_SERVE_TOKEN" in line
        assert process.wait(60) == 1


def test_a_port_that_is_taken_is_told_before_the_scorer_is_looked_for(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with served(tmp_path, SAFEPASSAGE_SERVE_PORT=port) as (process, line):
            assert f"cannot listen on 127.0.0.1:{port}" in line
            assert "SAFEPASSAGE_SERVE_PORT" in line
            assert process.wait(60) == 1
