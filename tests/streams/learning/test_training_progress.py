"""How far a training is: its file, the console's page, `watch`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from safepassage.schemas import LearningEvent
from safepassage.streams.cli.verdicts import _learning
from safepassage.streams.console.web.learning import learning_page
from safepassage.streams.console.web.templating import render as render_page
from safepassage.streams.kafka.admin import create_topics
from safepassage.streams.kafka.publisher import open_publisher
from safepassage.streams.learning.events import (
    FILE,
    ProgressFile,
    TrainingProgress,
    read_progress,
    read_runs,
    say,
)
from safepassage.streams.settings import Settings
from safepassage.streams.verdicts.live_view import Stream, render
from tests.streams.verdicts.test_live_view import QUIET, shown

COUNTS = {"reviews": 100, "supported": 60, "unsupported": 40}
FRAME = {"reviewer": "Ada", "csrf": "", "decides": True, "leads": True, "alert": "", "wanted": []}


def test_what_an_earlier_process_read_is_not_taken_for_speed(tmp_path: Path):
    seconds = 0.0
    told = ProgressFile(tmp_path, lambda: seconds)
    told("reading labels", 50, 100)
    assert read_progress(tmp_path) == TrainingProgress(stage="reading labels", done=50, total=100)
    seconds = 60.0
    told("reading labels", 60, 100)
    known = read_progress(tmp_path)
    assert known is not None
    assert known.minutes_left == 4.0
    assert str(known) == "reading labels: 60%, about 4 minutes left"
    seconds = 61.0
    told("reading labels", 61, 100)
    assert read_progress(tmp_path) == known, "a step a second is not written"
    told("reading labels", 100, 100)
    assert str(read_progress(tmp_path)).startswith("reading labels: 100%")
    told.remove()
    assert read_progress(tmp_path) is None


def test_a_damaged_file_is_no_progress(tmp_path: Path):
    (tmp_path / FILE).write_text('{"stage": "reading", "done": 1, "total": 0}')
    assert read_progress(tmp_path) is None


async def test_page_and_watch_show_the_run_that_learns(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    settings = kafka.model_copy(update={"learn_folder": tmp_path})
    await create_topics(settings)
    now = datetime.now(UTC)
    started = LearningEvent(id="s", run="r", step="started", at=now, by="learn", **COUNTS)
    async with open_publisher(settings) as publisher:
        await say(publisher, settings, started)
    (tmp_path / "r").mkdir()
    assert (await read_runs(settings)).progress is None
    ProgressFile(tmp_path / "r")("reading labels", 30, 120)
    runs = await read_runs(settings)
    page = render_page("learning.html", FRAME | learning_page(runs)).body.decode()
    assert '<progress id="progress" max="120" value="30"' in page
    assert "reading labels: 25%" in page
    assert 'http-equiv="refresh"' in page
    monkeypatch.setattr("safepassage.streams.cli.verdicts.settings", lambda: settings)
    assert "learning · reading labels: 25%" in shown(render(Stream(), QUIET, await _learning()))
