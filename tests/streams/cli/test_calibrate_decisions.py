"""`calibrate` of a decision model behind an endpoint, and of the cascade that asks it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from safepassage.schemas import Assessment
from safepassage.scoring_worker import load_scorer
from safepassage.scoring_worker.evaluation import model_calibration
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest
from safepassage.scoring_worker.scorers import by_name
from safepassage.streams.cli import app
from tests.scoring_worker.scorers.test_decisions import decided
from tests.scoring_worker.scorers.test_llm import Endpoint


class Half:
    """In place of `default`: half of all it lets pass is wrong, by a score that knows nothing."""

    name, revision = "default", "half"

    def assess(self, pairs):
        own = {"scorer": self.name, "revision": self.revision, "threshold": 0.5}
        return [Assessment(**own, score=(at % 97) / 97) for at, _ in enumerate(pairs)]

    def close(self):
        pass


@pytest.fixture
def endpoint(monkeypatch):
    started = Endpoint()
    started.answer = decided
    monkeypatch.setenv(
        "SAFEPASSAGE_DECISION_BASE_URL", f"http://127.0.0.1:{started.server.server_port}/v1"
    )
    monkeypatch.setenv("SAFEPASSAGE_DECISION_INPUT_USD_PER_MILLION", "0.1")
    monkeypatch.setenv("SAFEPASSAGE_DECISION_OUTPUT_USD_PER_MILLION", "0")
    monkeypatch.setattr(model_calibration, "load_scorer", Half)
    monkeypatch.setattr(by_name._Models, "default", lambda _: Half())
    yield started
    started.close()


@pytest.fixture
def labels(tmp_path):
    """Documents of one pair each, every other one wrong."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        {
            "premise": f"in case {at} the rent is {at}",
            "hypothesis": f"Rent: {at + at % 2 * 1000}",
            "label": 1 - at % 2,
        }
        for at in range(100)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def calibrated(labels, out, *arguments):
    asked = ["calibrate", str(labels), "-s", "cascade-decisions", "-o", str(out), *arguments]
    return CliRunner().invoke(app, asked, catch_exceptions=False)


def test_the_band_is_fitted_to_a_cost_and_kept_in_the_folder(endpoint, labels, tmp_path):
    """300 input tokens a question at 0.1 USD a million tokens: 30 USD a million questions."""
    out = tmp_path / "mine"
    found = calibrated(labels, out, "--cost", "12", "--name", "mine", "--json", tmp_path / "j.json")
    assert found.exit_code == 0
    band = json.loads((tmp_path / "j.json").read_text())["band"]
    assert band["asked"] <= 0.4
    assert band["usd_per_million"] == pytest.approx(30 * band["asked"], rel=0.01)
    manifest = ScorerManifest.load(out)
    assert (manifest.kind, manifest.band) == ("cascade", (band["low"], band["high"]))
    scorer = load_scorer(out)
    assert (scorer.name, scorer._band) == ("mine", manifest.band)
    assert "asked from" in found.output


def test_only_a_cascade_has_a_band_and_nothing_is_promised_of_it(endpoint, labels, tmp_path):
    with pytest.raises(ModelError, match="nothing can be promised"):
        calibrated(labels, tmp_path / "a", "--risk", "0.1")
    asked = ["calibrate", str(labels), "-s", "decisions", "-o", str(tmp_path / "b"), "--ask", "0.1"]
    with pytest.raises(ModelError, match="cascade-decisions"):
        CliRunner().invoke(app, asked, catch_exceptions=False)


def test_a_decision_model_is_calibrated_as_any_scorer_is(endpoint, labels, tmp_path):
    out = tmp_path / "decisions"
    asked = ["calibrate", str(labels), "-s", "decisions", "-o", str(out)]
    assert CliRunner().invoke(app, asked, catch_exceptions=False).exit_code == 0
    manifest = ScorerManifest.load(out)
    assert (manifest.kind, manifest.base) == ("decisions", "gpt-6-luna")
    assert manifest.calibration is not None
    assert 0.15 < manifest.thresholds.default <= 1
    assert "Calibrated" in (out / "MODEL_CARD.md").read_text()
