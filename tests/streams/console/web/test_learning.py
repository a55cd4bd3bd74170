"""What the page says of a candidate: its figures, and what its replay says of the risk."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from safepassage.schemas import LearningEvent
from safepassage.scoring_worker.risk.accepted import AcceptedRisk
from safepassage.streams.console.web.learning import learning_page
from safepassage.streams.learning.events import Runs, following
from safepassage.streams.replay.report_schema import Rate
from tests.streams.learning.test_learner import PASSED


def runs(replayed: dict[str, Any] | None) -> Runs:
    now = datetime.now(UTC)
    counts = {"reviews": 100, "supported": 60, "unsupported": 40}
    started = LearningEvent(id="s", run="r", step="started", at=now, by="learn", **counts)
    again = following(started, "replayed", figures=replayed)
    asked = following(started, "asked", figures=PASSED.model_dump(mode="json"), revision="new-1")
    return Runs([started, again, asked])


def side(share: int, **more: object) -> dict[str, Any]:
    risk = AcceptedRisk(confidence=0.95, asked=0.05, **more)  # type: ignore[arg-type]
    return {"passed": Rate.of(share, 100).model_dump(), "risk": risk.model_dump()}


def test_what_passes_and_its_risk_stand_beside_the_other_figures():
    wanted = side(60, labels=40, wrong=1, high=0.11, wanted=39)
    certified = side(80, labels=90, high=0.03, certified=True, wanted=0)
    shown = learning_page(runs({"before": wanted, "after": certified}))["compared"]
    rows = {row.name: (row.live, row.candidate) for row in shown}  # type: ignore[attr-defined]
    assert {"recall", "macro f1"} < rows.keys()
    assert rows["passes without a person"][1].startswith("0.800 [")
    live, candidate = rows["wrong of what passes"]
    assert "39 more spot checks are wanted" in live
    assert candidate.endswith("certified: at most 5.0%")


def test_a_replay_that_does_not_say_leaves_the_rows_out():
    for figures in (None, {"compared": 3, "flips": []}, {"before": {}, "after": {"passed": 3}}):
        names = {row.name for row in learning_page(runs(figures))["compared"]}  # type: ignore[attr-defined]
        assert "wrong of what passes" not in names
        assert "recall" in names
