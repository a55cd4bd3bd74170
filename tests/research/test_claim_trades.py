"""What a threshold of claims stops, on sentences that people marked."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from research.answers.judgement import (
    JudgedSet,
    KeptClaim,
    KeptJudgement,
)
from research.answers.sets import (
    AnswersOfSource,
    LabelledAnswer,
)
from research.cli import app
from research.groundedness.claims import claim_trades
from safepassage.scoring_worker.detectors.contract import Answer
from safepassage.scoring_worker.evaluation.sources import DatasetError


def judged(rows: list[tuple[float | None, bool]]) -> JudgedSet:
    """One sentence an answer, each to a query of its own; ten characters, marked or not."""
    cases = [
        LabelledAnswer(
            str(at), Answer(("c",), "0123456789", f"query {at}"), not marked, str(at),
            spans=((3, 5),) if marked else (),
        )
        for at, (_, marked) in enumerate(rows)
    ]  # fmt: skip
    said = [
        KeptJudgement(
            digest=str(at), score=score, failure=None if score is not None else "no_entities",
            claims=(KeptClaim(start=0, end=10, score=score),), seconds=0.1, cpu_seconds=0.1,
        )
        for at, (score, _) in enumerate(rows)
    ]  # fmt: skip
    return JudgedSet(AnswersOfSource("made", tuple(cases)), "hallugraph", tuple(said))


def test_shares_are_of_marked_sentences_and_of_the_others():
    rows = [(0.6, True), (0.92, True), (0.92, False), (1.0, False), (None, False), (0.2, True)]
    found = claim_trades(judged(rows * 4))
    trades = {one.threshold: one for one in found.trades if not one.fitted}
    assert (found.sentences, found.marked, found.unjudged) == (24, 12, 4)
    assert trades[0.9].marked_stopped == pytest.approx(2 / 3)
    assert trades[0.9].others_stopped == pytest.approx(1 / 3)  # the one without a score
    assert trades[0.95].marked_stopped == 1.0
    assert trades[0.95].others_stopped == pytest.approx(2 / 3)
    low, high = trades[0.9].marked_ci
    assert low <= 2 / 3 <= high


def test_a_threshold_is_fitted_on_half_of_the_queries_and_measured_on_the_others():
    rows = [(0.3, True), (0.9, False)] * 20
    [fitted] = [one for one in claim_trades(judged(rows)).trades if one.fitted]
    assert 0.3 < fitted.threshold < 0.9
    assert (fitted.marked_stopped, fitted.others_stopped) == (1.0, 0.0)


def test_a_set_that_nobody_marked_is_refused():
    with pytest.raises(DatasetError, match="marked"):
        claim_trades(judged([(0.3, False)] * 4))


def test_the_command_shows_the_trade_and_writes_it(tmp_path):
    context = "Acme Corporation sued John Smith on 1 May 2019."
    rows = []
    for at in range(12):
        wrong = at % 2
        said = "Peter Brown" if wrong else "John Smith"
        response = f"Acme Corporation sued {said}."
        spans = [{"start": 22, "end": 22 + len(said)}] if wrong else []
        rows.append(
            {"id": str(at), "query": f"q{at}", "context": context, "response": response,
             "label": 1 - wrong, "extra": {"spans": spans}}
        )  # fmt: skip
    path, out = tmp_path / "answers.jsonl", tmp_path / "trades.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ["groundedness", "claim-threshold", str(path), "--cache", str(tmp_path / "cache")]
    result = CliRunner().invoke(app, [*told, "--json", str(out)])
    assert result.exit_code == 0, result.output
    [written] = json.loads(out.read_text())
    assert (written["sentences"], written["marked"]) == (12, 6)
    at_95 = next(one for one in written["trades"] if one["threshold"] == 0.95)
    assert (at_95["marked_stopped"], at_95["others_stopped"]) == (1.0, 0.0)
