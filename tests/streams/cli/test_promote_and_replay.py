"""Replay, shadow, promote and rollback as an operator types them."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

from safepassage import scoring_worker
from safepassage.schemas import ScorerRelease
from safepassage.streams.cli import app, promote, replay
from safepassage.streams.release.releases import releases_in_force
from safepassage.streams.runtime.errors import OperatorError
from safepassage.streams.settings import Settings
from safepassage.streams.topics import ALIGNMENTS, SHADOW
from safepassage.streams.topology import route
from safepassage.streams.verdicts.deduplication import VERDICT_TOPICS
from tests.streams.judged import aligned, publish, verdict
from tests.streams.release.test_live_scorer import shelf
from tests.streams.release.test_promotion import NEW, NUMBERS, OLD, reviewed


@pytest.fixture
def operator(kafka: Settings, monkeypatch) -> Settings:
    """Live verdicts of "old" with reviews of them, and commands that see these servers."""
    settings = asyncio.run(reviewed(kafka))
    asyncio.run(judged_live(settings))
    monkeypatch.setattr(scoring_worker, "load_scorer", shelf(OLD, NEW))
    monkeypatch.setattr(replay.os, "nice", lambda _: 0)
    for module in (promote, replay):
        monkeypatch.setattr(module, "settings", lambda: settings)
    return settings


async def judged_live(settings: Settings) -> None:
    live = [verdict(n, OLD) for n in NUMBERS]
    await publish(settings, ALIGNMENTS, [aligned(n) for n in NUMBERS])
    for topic in VERDICT_TOPICS:
        await publish(settings, topic, [v for v in live if route(v).topic is topic])


def run(*words: str) -> tuple[int, str]:
    """Exit code and output. An error that `main` would print is raised."""
    result = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def live(settings: Settings) -> ScorerRelease | None:
    return asyncio.run(releases_in_force(settings)).releases.get("live")


def test_replay_reports_what_would_change(operator: Settings, tmp_path):
    folder = tmp_path / "report"
    code, output = run("replay", "--scorer", "new", "--id", "try", "--report", str(folder))
    assert code == 0, output
    assert f"{len(NUMBERS)} extractions compared, {len(NUMBERS) // 2} decisions changed" in output
    report = json.loads((folder / "report.json").read_text())
    assert report["agreement_after"]["agreeing"]["share"] == 1.0
    assert report["agreement_before"]["agreeing"]["share"] == 0.5
    page = (folder / "report.html").read_text("utf-8")
    assert f"{len(NUMBERS) // 2}" in page
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "--id", "Not An Id"],
        ["replay", "--tau", "0.5"],
        ["shadow"],
        ["shadow", "new", "--off"],
    ],
)
def test_options_that_contradict_are_refused(operator: Settings, words: list[str]):
    code, output = run(*words)
    assert code == 2
    assert "Invalid value" in output


def test_promotion_refusal_and_rollback(operator: Settings):
    code, output = run("promote", "new", "--min-labels", "3", "--dry-run")
    assert (code, live(operator)) == (0, None), output
    assert "would be promoted" in output
    with pytest.raises(OperatorError, match="at least 500 of each are needed, so 49"):
        run("promote", "new", "--min-labels", "500")
    assert live(operator) is None
    code, output = run("promote", "new", "--min-labels", "3", "--by", "Ada", "--reason", "better")
    assert code == 0, output
    assert "live: new, revision new-1, by Ada" in run("scorers")[1]
    assert live(operator).reason == "better"
    assert run("rollback", "--by", "Ada")[0] == 0
    assert "live: old, revision old-1" in run("scorers")[1]


def test_shadow_is_set_compared_and_ended(operator: Settings, tmp_path):
    assert "shadow: new, revision new-1" in run("shadow", "new", "--by", "Ada")[1]
    asyncio.run(publish(operator, SHADOW, [verdict(n, NEW) for n in NUMBERS]))
    code, output = run("shadow", "--report", str(tmp_path))
    assert code == 0, output
    assert f"{len(NUMBERS) // 2} decisions changed" in output
    assert "shadow: none" in run("shadow", "--off")[1]
