"""HalluGraph's AUC by length and by richness in entities."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from research.cli import app
from research.experiments.operating_regime import operating_regime
from safepassage.scoring_worker.detectors.hallugraph.entailment import Entailment, Support
from safepassage.scoring_worker.detectors.hallugraph.local_graphs import LocalExtractor
from safepassage.scoring_worker.evaluation.sources import DatasetError

CONTEXT = "The Acme Corporation sued John Smith on 1 May 2019 for 900 euros."
RIGHT = "Acme Corporation sued John Smith."
WRONG = "Acme Corporation sued Peter Brown for 700 euros."


@pytest.fixture
def answers(tmp_path):
    rows = [(RIGHT, 1), (f"{RIGHT} It was on 1 May 2019.", 1), (WRONG, 0), ("It was so.", 0)]
    rows += [(f"{WRONG} {'word ' * 60}", 0), (f"{RIGHT} {'word ' * 60}", 1)]
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": str(n), "context": CONTEXT, "response": text, "label": label}) + "\n"
            for n, (text, label) in enumerate(rows)
        )
        + "no row\n"
    )
    return path


def test_auc_is_of_what_has_a_score_and_the_rest_is_counted(answers):
    told = []
    regime = operating_regime(
        answers, LocalExtractor(), on_progress=lambda _name, done, of: told.append((done, of))
    )
    assert (regime.dataset, regime.refused) == ("answers", 1)
    assert (regime.whole.answers, regime.whole.judged, regime.whole.unsupported) == (6, 5, 3)
    assert regime.whole.auc == regime.eg.auc == 1.0
    assert told[-1] == (6, 6)


def test_every_answer_is_in_one_band_of_length_and_in_one_of_richness(answers):
    regime = operating_regime(answers, LocalExtractor())
    assert [band.answers for band in regime.by_words] == [4, 2, 0, 0, 0]
    assert sum(band.answers for band in regime.by_entities) == 6
    assert regime.by_words[1].auc == 1.0
    assert regime.by_words[2].auc is None  # nobody is there


def test_a_file_without_labelled_answers_is_refused(tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text("{}\n")
    with pytest.raises(DatasetError):
        operating_regime(path, LocalExtractor())


class _Misled(Entailment):
    """Supports every sentence that speaks of suing, and no other."""

    def __init__(self) -> None:
        """Without a scorer."""

    def supports(self, answers):
        return [(Support(0, len(own.response), float("sued" in own.response)),) for own in answers]


def test_a_weight_and_a_threshold_are_fitted_beside_the_plain_mean(tmp_path):
    """Entities tell right from wrong here and relations mislead: EG gets the weight."""
    rows = []
    for at in range(20):
        context = f"{CONTEXT} It was file {at}."
        rows.append((context, "John Smith employed Acme Corporation.", 1))
        rows.append((context, "Peter Brown. Ann Roe. Acme Corporation sued John Smith.", 0))
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": str(n), "context": context, "response": text, "label": label}) + "\n"
            for n, (context, text, label) in enumerate(rows)
        )
    )
    regime = operating_regime(path, LocalExtractor(), entailment=_Misled())
    assert regime.fitted is not None
    assert regime.fitted.weight > 0.5
    assert regime.fitted.held_out.auc == 1.0
    assert regime.plain.auc is not None
    assert regime.plain.auc < 1.0
    assert 0.0 < regime.fitted.threshold <= 1.0


def test_the_regime_stands_beside_the_papers_figures(tmp_path):
    rows = tmp_path / "rows.jsonl"
    context = "The Acme Corporation sued John Smith."
    lines = [("Acme Corporation sued John Smith.", 1), ("Acme Corporation sued Jane Roe.", 0)]
    rows.write_text(
        "".join(
            json.dumps({"id": str(n), "context": context, "response": text, "label": label}) + "\n"
            for n, (text, label) in enumerate(lines)
        )
    )
    ended = CliRunner().invoke(app, ["regime", str(rows), "--json", str(tmp_path / "figures.json")])
    assert ended.exit_code == 0, ended.output
    told = ended.output
    assert "Legal Contract QA" in told
    assert "0.94" in told
    [figures] = json.loads((tmp_path / "figures.json").read_text())
    assert figures["whole"]["auc"] == 1.0
