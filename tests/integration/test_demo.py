"""``safepassage demo`` as a newcomer runs it: every server and every role, one command."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from safepassage.streams.demo import corpus

SECONDS = 280


def demo(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "safepassage", "demo"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_the_demo_judges_every_bundled_document():
    ended = demo()
    assert ended.returncode == 0, ended.stderr
    documents = len(corpus.documents()) + len(corpus.responses())
    assert f"{documents} documents, " in ended.stdout
    assert " 0 undetermined" in ended.stdout
    assert re.search(r"rag-boiler .*\(EG 0\.\d\d, RP 0\.\d\d\)", ended.stdout)
    assert "the passage gives '5 mg'" in ended.stdout
    stopped, wrong, accepted, right = map(
        int,
        re.search(
            r"(\d+) of (\d+) wrong extractions stopped, (\d+) of (\d+) right", ended.stdout
        ).groups(),
    )
    # Far from what chance would stop; how good the judge is stands in benchmarks/general.py.
    assert stopped / wrong > 0.65
    assert accepted / right > 0.8


def test_a_role_that_ends_ends_the_demo_with_its_reason():
    ended = demo(SAFEPASSAGE_SCORER="/nowhere")
    assert ended.returncode == 1
    assert "the score process ended with code 1" in ended.stderr
    assert "no scorer '/nowhere'" in ended.stderr
