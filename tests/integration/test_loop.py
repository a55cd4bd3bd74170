"""Round the whole loop, as its users go: command line, browser, command line.

A harbour brings a schema that no scorer knows. The small reader stops many right values of its
berthing notes and accepts wrong ones. Somebody decides a hundred cases on the console: what was
stopped, and spot checks of what was accepted. The role `learn` makes a candidate of these, which
asks on the console to be promoted; one click does it. The same documents, and ones that nobody
reviewed, get better verdicts, and spot checks of these certify a risk.

`tools/story.py` goes the same way and keeps the pictures and figures of
`docs/concepts/review-loop.md`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from safepassage.schemas import Verdict
from safepassage.schemas.reviews_that_count import case_id
from safepassage.streams.demo.embedded import free_port
from safepassage.streams.demo.stack import RunningStack, running_stack
from tests.integration import harbour
from tests.stack import environment as environment_of
from tests.stack import running_stack as servers
from tests.streams.console.chromium import Hands, chromium
from tests.streams.console.running import TOKEN

FIRST, NEW, PROBES = range(24), range(24, 40), range(40, 60)
"""The notes that come first; those that nobody reviews before the promotion; and single ones."""
DECISIONS = 100
FROM_QUEUE = 60
RISK = 0.1
COMMAND_SECONDS = 600
LEARNING_SECONDS = 3600
REVIEWER = "Mara Quist"


@dataclass(frozen=True)
class Loop:
    """A running stack, the shell of its user, and the files on the user's disk."""

    stack: RunningStack
    folder: Path
    console: str

    def run(self, *arguments: str) -> str:
        """Run ``safepassage`` with ``arguments``; what it printed, after checking that it went
        well."""
        ended = subprocess.run(
            [sys.executable, "-m", "safepassage", *arguments],
            env={**os.environ, **self.stack.environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert ended.returncode == 0, f"{arguments}: {ended.returncode}\n{ended.stderr}"
        return ended.stdout + ended.stderr

    def submit(self, numbers: range) -> list[Verdict]:
        """Send these notes and wait for their reports; the verdict that counts for each of their
        extractions."""
        harbour.write_notes(numbers, self.folder / "notes.jsonl", self.folder / "rows.jsonl")
        self.run("submit", "notes.jsonl", "--wait")
        self.run("verdicts", "--latest", "--out", "verdicts.jsonl")
        lines = (self.folder / "verdicts.jsonl").read_bytes().splitlines()
        names = {harbour.note(number)[0].id for number in numbers}
        every = [Verdict.model_validate_json(line) for line in lines]
        return [verdict for verdict in every if verdict.doc_id in names]

    def promise(self) -> None:
        """Start the console again, with a risk that it is to promise."""
        self.stack.processes.stop("review")
        self.stack.processes.start("review", "worker", "review", SAFEPASSAGE_RISK=str(RISK))
        deadline = time.monotonic() + COMMAND_SECONDS
        while time.monotonic() < deadline:
            self.stack.processes.check()
            with suppress(httpx2.TransportError):
                httpx2.get(f"{self.console}/health")
                return
            time.sleep(0.2)
        raise AssertionError("the console did not start again")


@contextmanager
def named_broker() -> Iterator[dict[str, str]]:
    """The variables of the broker that the environment names, if it does, with topics of this run
    alone."""
    if "KAFKA_BOOTSTRAP_SERVERS" not in os.environ:
        yield {}
        return
    with servers() as found:
        yield environment_of(found.settings())


@contextmanager
def harbour_loop(folder: Path) -> Iterator[Loop]:
    """The stack with a recorded LLM for the harbour's notes, and the role that learns."""
    recording = (folder / "all.jsonl", folder / "all-extractions.jsonl")
    harbour.write_notes(range(PROBES.stop), *recording)
    port = free_port()
    environment = {
        "SAFEPASSAGE_SCORER": "small",
        "SAFEPASSAGE_ENTITY_TYPES": "Vessel Master,Harbour Pilot,Berthing Date,Cargo",
        "SAFEPASSAGE_CONSOLE_PORT": str(port),
        "SAFEPASSAGE_CONSOLE_TOKEN": TOKEN,
        "SAFEPASSAGE_CONSOLE_GRACE_SECONDS": "0",
        "SAFEPASSAGE_LEAKAGE_SAMPLE": "1",
        "SAFEPASSAGE_LEARN_FOLDER": str(folder / "learnt"),
        "SAFEPASSAGE_LEARN_EVERY": str(DECISIONS),
        "SAFEPASSAGE_LEARN_HELD": "0.5",
        "SAFEPASSAGE_LEARN_MIN_LABELS": "5",  # chance decides which documents judge
        "SAFEPASSAGE_LEARN_POLL_SECONDS": "2",
    }
    roles = ("extract", "align", "score", "report", "review", "learn")
    with (
        named_broker() as broker,
        running_stack(roles, broker | environment, recording) as stack,
    ):
        yield Loop(stack, folder, f"http://127.0.0.1:{port}")


def right(verdicts: list[Verdict], only: Callable[[Verdict], bool] = lambda _: True) -> int:
    """How many of the verdicts agree with the gold labels."""
    gold = harbour.gold(range(PROBES.stop))
    return sum(
        (v.decision == "accepted") == gold[v.doc_id, v.entity_type, str(v.value)]
        for v in verdicts
        if only(v)
    )


Camera = Callable[[Chrome, str], None]
"""Takes a picture of what a browser shows, under a name (see `tools/story.py`)."""


@dataclass(frozen=True)
class Round:
    """What going round the loop once came to: the verdicts on the first notes before and after,
    on new ones, the cases that were decided before the promotion, the cases that a verdict leaned
    on, the steps of learning, the report of the replay, and what *Measures* says of all."""

    before: list[Verdict]
    after: list[Verdict]
    new: list[Verdict]
    decided: set[str]
    alike: str
    steps: list[str]
    report: dict[str, Any]
    promised: str


def go_round(loop: Loop, profile: Path, camera: Camera = lambda _browser, _name: None) -> Round:
    """Documents, reviews, a candidate, its replay, its promotion, and documents again."""
    before = loop.submit(FIRST)
    with chromium(profile) as browser:
        hands = Hands(browser, loop.console)
        hands.login(REVIEWER)
        camera(browser, "review")
        decided = decide(hands, before, FROM_QUEUE)
        alike, between = remembered(loop, hands, camera)
        hands.open("/review?pool=checks")
        decided |= decide(hands, [*before, *between], DECISIONS - FROM_QUEUE)

        report = promote(loop, hands, camera)
        revision = in_force(loop)
        new = loop.submit(NEW)
        assert {v.scorer_revision for v in new if v.score is not None} == {revision}
        loop.promise()
        while not hands.case():  # until the console has read its topics again
            hands.open("/review?pool=checks")
            time.sleep(1)
        decide(hands, [*before, *between, *new], len(new))
        promised = what_is_promised(hands)
        camera(browser, "promise")
        hands.open("/learning")
        steps = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "tbody th")]
    return Round(before, loop.submit(FIRST), new, decided, alike, steps, report, promised)


def decide(hands: Hands, verdicts: list[Verdict], most: int) -> set[str]:
    """Decide up to ``most`` cases by keyboard, as the gold labels say; returns which."""
    gold = harbour.gold(range(PROBES.stop))
    labels = {case_id(v): gold[v.doc_id, v.entity_type, str(v.value)] for v in verdicts}
    decided: set[str] = set()
    while len(decided) < most and (case := hands.case()):
        hands.press_and_go("s" if labels.get(case) else "i" if case in labels else "n")
        decided.add(case)
    return decided


def remembered(loop: Loop, hands: Hands, camera: Camera) -> tuple[str, list[Verdict]]:
    """What a case of a new note says of the decisions that its verdict leaned on, and the verdicts
    of such notes."""
    leaned: list[Verdict] = []
    every: list[Verdict] = []
    for number in PROBES:
        verdicts = loop.submit(range(number, number + 1))
        every += verdicts
        if leaned := [v for v in verdicts if v.memory and v.memory.cases]:
            break
    assert leaned, "no verdict leaned on what was decided"
    hands.open(f"/cases/{case_id(leaned[0])}")
    camera(hands.browser, "memory")
    alike = hands.text("alike")
    return alike, every


def promote(loop: Loop, hands: Hands, camera: Camera) -> dict[str, Any]:
    """Wait for the candidate to ask, look at its replay, and promote it by a click."""
    deadline = time.monotonic() + LEARNING_SECONDS
    while time.monotonic() < deadline:
        loop.stack.processes.check()
        hands.open("/learning")
        if hands.has("candidate-heading"):
            break
        assert "Ended" not in hands.text("main"), hands.text("main")
        hands.browser.get("about:blank")  # a page that is shown takes what the training needs
        time.sleep(10)
    camera(hands.browser, "asks")
    (written,) = (loop.folder / "learnt").glob("*/replay/report.json")
    hands.browser.get(written.with_name("report.html").as_uri())
    camera(hands.browser, "report")
    hands.open("/learning")
    hands.browser.find_element(By.CSS_SELECTOR, "button[value=promote]").click()
    hands.until(lambda: "Decides from now on" in hands.text("main"))
    report: dict[str, Any] = json.loads(written.read_bytes())
    return report


def in_force(loop: Loop) -> str:
    """The candidate's revision, once the worker of `score` judges by it."""
    before = None
    for number in reversed(PROBES):
        found = {v.scorer_revision for v in loop.submit(range(number, number + 1))}
        revision = next(iter(found - {None}))
        before = before or revision
        scorers = loop.run("scorers")
        if str(revision) in scorers:
            return str(revision)
    raise AssertionError(f"no worker took the candidate over: {before}, {scorers}")


def what_is_promised(hands: Hands) -> str:
    """The first row of what *Measures* promises: all types together."""
    hands.open("/measures")
    region = hands.browser.find_element(By.CSS_SELECTOR, "[aria-label='What is promised']")
    return " ".join(region.find_element(By.CSS_SELECTOR, "tr.total").text.split())


@pytest.mark.long  # ten minutes and more: `make test-long`
@pytest.mark.timeout(2 * LEARNING_SECONDS)
def test_round_the_loop(tmp_path: Path) -> None:
    if not shutil.which("chromedriver"):
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
    with harbour_loop(tmp_path) as loop:
        went = go_round(loop, tmp_path / "profile")
    labels = harbour.gold(FIRST)
    assert len(went.before) == len(went.after) == len(labels)
    assert len(went.decided) == DECISIONS
    assert f"by {REVIEWER}" in went.alike
    assert "Decides from now on" in went.steps
    assert "Judged old records again" in went.steps
    assert went.report["flips"]
    # As well without those that somebody decided: a decision stands whatever scores.
    unseen = [v for v in went.before if case_id(v) not in went.decided]
    names = {v.extraction_id for v in unseen}
    better = right(went.after, lambda v: v.extraction_id in names)
    assert better > right(unseen)
    assert right(went.after) > right(went.before)
    assert right(went.new) >= 0.95 * len(went.new)
    assert "certified" in went.promised
