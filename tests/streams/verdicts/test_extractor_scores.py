"""The SafePassage score of extractors."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from safepassage.schemas.verdict_after_review import next_verdict
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ACCEPTED, QUARANTINE
from safepassage.streams.verdicts.extractor_scores import ExtractorTally, compare_extractors, scores
from tests.stack import environment
from tests.streams.console.cases import review, verdict
from tests.streams.judged import publish


def test_the_score_is_the_share_accepted_and_the_undetermined_count_against_it() -> None:
    tally = ExtractorTally()
    for number, score in enumerate([0.9, 0.8, 0.1, None]):
        tally.add(verdict(number, score=score, model="m"), number)
    (row,) = scores(tally.counts())
    assert (row.accepted, row.quarantined, row.undetermined) == (2, 1, 1)
    assert row.score.share == 0.5
    assert row.score.interval == pytest.approx((0.150, 0.850), abs=1e-3)
    assert row.name == "m · prompt-o"


def test_models_are_told_apart_and_the_best_comes_first() -> None:
    tally = ExtractorTally()
    for number in range(6):
        model = ("worse", "better")[number % 2]
        tally.add(verdict(number, score=0.9 if number != 2 else 0.1, model=model), number)
    assert [row.model for row in scores(tally.counts())] == ["better", "worse"]


def test_an_extraction_counts_once_with_its_latest_verdict_in_whatever_order() -> None:
    judged = [(verdict(1, score=0.1), 10), (verdict(1, score=0.9, revision="scorer-2"), 20)]
    for order in itertools.permutations(judged * 2):
        tally = ExtractorTally()
        for one, at in order:
            tally.add(one, at)
        (row,) = scores(tally.counts())
        assert (row.accepted, row.quarantined) == (1, 0)


def test_what_people_decided_says_nothing_about_the_extractor() -> None:
    made = review(verdict(1))
    confirmed = next_verdict(verdict(1), made, made, None)
    assert confirmed is not None
    tally = ExtractorTally()
    tally.add(confirmed, 30)
    assert scores(tally.counts()) == []


async def test_live_verdicts_are_compared_from_a_time_on(kafka: Settings) -> None:
    await publish(kafka, ACCEPTED, [verdict(n, score=0.9, model="m") for n in range(3)])
    await publish(kafka, QUARANTINE, [verdict(n, score=0.1, model="m") for n in range(3, 5)])
    (row,) = await compare_extractors(kafka)
    assert (row.accepted, row.quarantined) == (3, 2)
    assert await compare_extractors(kafka, datetime.now(UTC) + timedelta(days=1)) == []


async def test_the_command_prints_the_table_and_writes_json(
    kafka: Settings, tmp_path: Path
) -> None:
    await publish(kafka, ACCEPTED, [verdict(n, score=0.9, model="m") for n in range(3)])
    await publish(kafka, QUARANTINE, [verdict(9, score=0.1, model="[bold]hostile")])
    table = tmp_path / "table.json"
    command = [sys.executable, "-m", "safepassage", "compare"]
    done = await asyncio.to_thread(
        subprocess.run,
        [*command, "--json", str(table)],
        env=environment(kafka) | {"COLUMNS": "140"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[bold]hostile" in done.stdout
    rows = json.loads(table.read_bytes())
    assert [(row["model"], row["n"], row["score"]) for row in rows] == [
        ("m", 3, 1.0),
        ("[bold]hostile", 1, 0.0),
    ]
    assert all(0 <= low <= high <= 1 for low, high in (row["score_interval"] for row in rows))
