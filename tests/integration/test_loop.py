"""Round the whole loop, as its users go: command line, browser, command line.

A harbour starts cautiously, with a scorer so strict that nothing passes. Reviewers work through
the quarantine in the console; their labels refit the scorer; it proves itself on the old topics
and is promoted; the same documents, and ones that nobody reviewed, now get better verdicts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from schemas import Verdict
from scoring_worker.loading import DEFAULT_MODEL
from scoring_worker.manifest import ScorerManifest, Thresholds
from streams.demo.stack import running_stack
from streams.embedded import free_port
from streams.standing import case_id
from tests.integration import harbour
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import TOKEN

REVIEWED = range(14)
HELD_OUT = range(14, 20)
COMMAND_SECONDS = 240


@dataclass(frozen=True)
class Loop:
    """A running stack, the shell of its user, and the files on the user's disk."""

    environment: dict[str, str]
    folder: Path
    console: str

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run ``safepassage`` with ``arguments``; its stdout, after checking the exit code."""
        ended = subprocess.run(
            [sys.executable, "-m", "streams.cli", *arguments],
            env={**os.environ, **self.environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert ended.returncode == code, f"{arguments}: {ended.returncode}\n{ended.stderr}"
        return ended.stdout + ended.stderr

    def verdicts(self) -> list[Verdict]:
        """The verdict that counts for each extraction, as `safepassage verdicts` gives it."""
        self.run("verdicts", "--latest", "--out", "verdicts.jsonl")
        lines = (self.folder / "verdicts.jsonl").read_bytes().splitlines()
        return [Verdict.model_validate_json(line) for line in lines]


@contextmanager
def harbour_loop(folder: Path) -> Iterator[Loop]:
    """The stack with a recorded LLM for the harbour's notes and a scorer that passes nothing."""
    harbour.write_notes(range(20), folder / "all.jsonl", folder / "all-extractions.jsonl")
    harbour.write_notes(REVIEWED, folder / "old.jsonl", folder / "old-extractions.jsonl")
    harbour.write_notes(HELD_OUT, folder / "new.jsonl", folder / "new-extractions.jsonl")
    port = free_port()
    environment = {
        "SAFEPASSAGE_SCORER": str(default_with_threshold(folder / "strict", 1.0)),
        "SAFEPASSAGE_CONSOLE_PORT": str(port),
        "SAFEPASSAGE_CONSOLE_TOKEN": TOKEN,
        "SAFEPASSAGE_LEAKAGE_SAMPLE": "0",
        "SAFEPASSAGE_CONSOLE_GRACE_SECONDS": "0",
    }
    roles = ("extract", "align", "score", "report", "review")
    recording = (folder / "all.jsonl", folder / "all-extractions.jsonl")
    with running_stack(roles, environment, recording) as stack:
        yield Loop(stack.environment, folder, f"http://127.0.0.1:{port}")


def default_with_threshold(folder: Path, threshold: float) -> Path:
    """The default scorer, named after ``folder``, with one threshold for every type."""
    shutil.copytree(DEFAULT_MODEL, folder)
    thresholds = Thresholds(default=threshold, by_type={})
    changes = {"name": folder.name, "thresholds": thresholds}
    ScorerManifest.load(folder).model_copy(update=changes).save(folder)
    return folder


def right(verdicts: list[Verdict], numbers: range) -> int:
    """How many verdicts agree with the gold labels of these notes."""
    gold = harbour.gold(numbers)
    found = {(v.doc_id, v.entity_type, str(v.value)): v.decision == "accepted" for v in verdicts}
    assert found.keys() >= gold.keys(), "an extraction has no verdict"
    return sum(found[key] == supported for key, supported in gold.items())


def review_everything(loop: Loop, profile: Path, verdicts: list[Verdict]) -> int:
    """Decide every case of the queue by keyboard, as the gold labels say; returns how many."""
    gold = harbour.gold(REVIEWED)
    labels = {case_id(v): gold[v.doc_id, v.entity_type, str(v.value)] for v in verdicts}
    decided = 0
    with chromium(profile) as browser:
        hands = Hands(browser, loop.console)
        hands.login("Mara Quist")
        while case := hands.case():
            hands.press_and_go("s" if labels[case] else "i")
            decided += 1
    return decided


@pytest.mark.long  # some minutes: `make test-long`
def test_round_the_loop(tmp_path: Path) -> None:
    if not shutil.which("chromedriver"):
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    with harbour_loop(tmp_path) as loop:
        loop.run("submit", "old.jsonl", "--wait")
        before = loop.verdicts()
        assert {verdict.decision for verdict in before} == {"quarantined"}

        assert review_everything(loop, tmp_path / "profile", before) == len(before)

        exported = ("labels", "export", "--out", "labels.jsonl", "--documents-out", "docs.jsonl")
        loop.run(*exported)
        labels = (tmp_path / "labels.jsonl").read_text().splitlines()
        assert len(labels) == len(harbour.gold(REVIEWED))

        gold = ("--gold", "labels.jsonl", "--documents", "docs.jsonl")
        loop.run("train", "candidate", "--base", "strict", "--head-only", *gold)

        loop.run("replay", "--scorer", "candidate", "--report", "report")
        report = json.loads((tmp_path / "report" / "report.json").read_text())
        assert report["flips"]
        assert (tmp_path / "report" / "report.html").stat().st_size > 0

        default_with_threshold(tmp_path / "lax", 0.0)
        refusal = loop.run("promote", "lax", code=1)
        assert "recall" in refusal

        loop.run("promote", "candidate", "--max-recall-loss", "0.15", "--reason", "learnt the port")
        loop.run("submit", "new.jsonl", "--wait")
        loop.run("submit", "old.jsonl", "--wait")
        after = loop.verdicts()
        strict_right = sum(not supported for supported in harbour.gold(HELD_OUT).values())
        assert right(after, HELD_OUT) > strict_right
        assert right(after, REVIEWED) > right(before, REVIEWED)
