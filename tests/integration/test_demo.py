"""``safepassage demo`` as a newcomer runs it: every server and every role, one command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from safepassage.schemas import Contract
from safepassage.streams.demo import corpus

SECONDS = 280
PRINTED = Path(__file__).parents[2] / "docs" / "measured" / "demo.txt"
A_FEW = {
    "mpt-2024-00963",
    "lease-2021-warehouse-7",
    "inv-kessel-2025-0731",
    "discharge-2025-05-bellweather",
    "statement-2025-03-harrow",
}
DEMO_OF = """
import sys
from pathlib import Path
from safepassage.streams.demo import corpus
corpus.DOCUMENTS, corpus.EXTRACTIONS = map(Path, sys.argv[1:])
sys.argv[1:] = ["demo"]
from safepassage.__main__ import main
main()
"""


def demo(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *(command or ("-m", "safepassage", "demo"))],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def _written(path: Path, rows: Collection[Contract]) -> Path:
    path.write_bytes(b"".join(row.to_json() + b"\n" for row in rows))
    return path


def test_the_demo_judges_every_document(tmp_path: Path):
    documents = [row for row in corpus.documents() if row.id in A_FEW]
    extractions = [row for row in corpus.extractions() if row.doc_id in A_FEW]
    files = (
        _written(tmp_path / "documents.jsonl", documents),
        _written(tmp_path / "extractions.jsonl", extractions),
    )
    assert_judged(demo("-c", DEMO_OF, *files), len(documents))


@pytest.mark.long
def test_the_demo_judges_every_bundled_document():
    ended = demo()
    assert_judged(ended, len(corpus.documents()))
    assert _counts(ended.stdout) == _counts(PRINTED.read_text("utf-8")), (
        "the README shows other counts: safepassage demo > docs/measured/demo.txt, "
        "then python -m tools.reference"
    )


def _counts(printed: str) -> list[str]:
    """The two lines of the summary, without the time that it took."""
    lines = printed.splitlines()
    at = next(at for at, line in enumerate(lines) if " verdicts: " in line)
    return [lines[at].rpartition(" in ")[0], lines[at + 1]]


def assert_judged(ended: subprocess.CompletedProcess[str], documents: int) -> None:
    assert ended.returncode == 0, ended.stderr
    assert f"{documents + len(corpus.responses())} documents, " in ended.stdout
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
