"""The legal groundedness benchmark: figures, folds, what is kept, and the command."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from typer.testing import CliRunner

from research.answers.judgement import (
    JudgedSet,
    KeptJudgement,
)
from research.answers.sets import AnswersOfSource
from research.cli import app
from research.detectors.llm.settings import MethodSettings
from research.groundedness.benchmark import (
    needing_nothing,
    run_benchmark,
)
from research.groundedness.figures import (
    decided,
    figures,
    fitted,
    macro,
)
from research.groundedness.sampling import (
    drawn,
    read_answers,
)
from research.groundedness.tables import plot, tables
from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.evaluation.sources import DatasetError
from safepassage.scoring_worker.manifest import ModelError
from tests.research.recorded import ROWS, recorded_llm

LLM_METHODS = ["direct_prompt", "lynx_prompt", "refchecker", "claims_verified"]

scores_ = st.integers(0, 100).map(lambda percent: percent / 100)
cases = st.lists(st.tuples(st.booleans(), scores_), min_size=2, max_size=25)


def _quiet(_stage: str, _done: int, _total: int) -> None:
    pass


@given(cases)
def test_macro_figures_are_scikit_learns(found):
    truth = np.array([label for label, _ in found])
    said = np.array([score >= 0.5 for _, score in found])
    ours = macro(truth, said, np.ones(len(truth)))
    theirs = precision_recall_fscore_support(
        truth, said, labels=[False, True], average="macro", zero_division=0.0
    )
    assert ours[:3] == pytest.approx(theirs[:3])
    assert ours[3] == pytest.approx(accuracy_score(truth, said))


@given(cases)
def test_no_other_threshold_is_better_than_the_fitted_one(found):
    truth = np.array([label for label, _ in found])
    scores = np.array([score for _, score in found])
    every = np.ones(len(truth))
    best = macro(truth, scores >= fitted(scores, truth), every)[2]
    for threshold in (0.01, 0.25, 0.5, 0.75, 0.99):
        assert macro(truth, scores >= threshold, every)[2] <= best + 1e-9


@given(cases, st.data())
def test_an_answer_does_not_help_to_fit_its_own_threshold(found, data):
    """Turning a query's labels around changes the decisions of others only."""
    truth = np.array([label for label, _ in found])
    scores = np.array([score for _, score in found])
    groups = [str(at // 2) for at in range(len(found))]
    if len(set(groups)) < 2:
        return
    turned = data.draw(st.sampled_from(sorted(set(groups))))
    mine = np.array([group == turned for group in groups])
    said, _ = decided(scores, truth, groups)
    after, _ = decided(scores, truth ^ mine, groups)
    assert (said[mine] == after[mine]).all()


def _answers(path=ROWS) -> AnswersOfSource:
    return read_answers(path)


def test_what_could_not_be_judged_is_never_grounded():
    failed = [
        KeptJudgement(digest=str(at), score=None, failure="x", seconds=0, cpu_seconds=0)
        for at in range(4)
    ]
    judged = JudgedSet(_answers(), "d", tuple(failed))
    found = figures(judged, detector="d", revision="1", rests_on="a model")
    assert (found.undetermined, found.accuracy, found.f1) == (4, 0.5, pytest.approx(1 / 3))
    assert found.by_error_type == {"factual_inaccuracy": (1, 0), "misattribution": (1, 0)}


def test_whole_queries_are_drawn_the_same_each_time():
    cases = _answers().cases
    once, again = (drawn(cases, 1, seed=4) for _ in range(2))
    assert once == again
    assert len(once) == 2
    assert len({case.query_group for case in once}) == 1
    every = {case.query_group for case in cases}
    assert {case.query_group for case in drawn(cases, 3, seed=4)} == every
    few = read_answers(ROWS, limit=1, seed=4)
    assert (few.cases, few.left_out) == (tuple(once), 2)


def test_bad_lines_are_refused_one_by_one_and_nothing_of_them_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"id": "right", "context": "C", "response": "R", "label": 1, "error_type": None},
        {"id": "no label", "context": "C", "response": "R", "label": None},
        {"id": "no text", "context": "secret", "label": 1},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_answers(path)
    assert [case.id for case in found.cases] == ["right"]
    assert ["a.jsonl:2" in found.refused[0], "a.jsonl:3" in found.refused[1]] == [True, True]
    assert "neither a claim nor a response" in found.refused[1]
    assert "secret" not in str(found.refused)


def test_a_file_without_answers_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "x"}\n')
    with pytest.raises(DatasetError, match="no labelled answer"):
        read_answers(path)


def test_methods_that_ask_an_llm_run_on_the_recorded_one_and_repeat_without_it(tmp_path):
    sets = [_answers()]
    with recorded_llm() as url:
        asked = MethodSettings(
            openai_base_url=url, model="recorded", llm_answers=tmp_path / "llm.jsonl",
            llm_input_usd_per_million=1.0, llm_output_usd_per_million=4.0,
        )  # fmt: skip
        first = run_benchmark(
            sets, LLM_METHODS, tmp_path / "one", _quiet, settings=DetectorSettings(llm=asked)
        )
    gone = asked.model_copy(update={"openai_base_url": "http://127.0.0.1:9/v1"})
    again = run_benchmark(
        sets, LLM_METHODS, tmp_path / "two", _quiet, settings=DetectorSettings(llm=gone)
    )
    for one, other in zip(first.results, again.results, strict=True):
        measured = {"latency_seconds", "latency_p95_seconds"}
        assert one.model_dump(exclude=measured) == other.model_dump(exclude=measured)
        assert one.cost_usd > 0
        assert one.rests_on == "a recording"
        assert one.latency_seconds > 0
    assert len(list((tmp_path / "one" / "judged").iterdir())) == len(LLM_METHODS)
    assert {one.detector: one.f1 for one in first.results}["direct_prompt"] == 1.0
    plot(tmp_path / "plot.png", first)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    [_, missed] = tables(first)
    assert "by error type" in str(missed.title)
    assert [column.header for column in missed.columns][1:] == [
        "factual inaccuracy", "misattribution",
    ]  # fmt: skip


def test_only_what_nobody_asked_for_is_left_out(tmp_path):
    found = run_benchmark([_answers()], ["quip", "gc"], tmp_path, _quiet, asked_for=False)
    assert [one.detector for one in found.results] == ["quip"]
    assert "groundedness train" in found.left_out["gc"]
    with pytest.raises(ModelError):
        run_benchmark([_answers()], ["gc"], tmp_path, _quiet)
    assert {"quip", "cos_sim", "default"} <= set(needing_nothing())


def test_the_command_prints_the_table_and_writes_figures_and_plot(tmp_path):
    arguments = [
        "groundedness", "benchmark", str(ROWS), "--detector", "quip",
        "--cache", str(tmp_path / "cache"), "--report", str(tmp_path / "out"),
        "--json", str(tmp_path / "out.json"),
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "quip" in result.stdout
    assert result.stderr.count("quip on rows: 4 of 4") == 1
    assert "4 of 4 answers, 2 grounded" in (tmp_path / "out.txt").read_text()
    [made] = json.loads((tmp_path / "out.json").read_text())["results"]
    assert made["n"] == 4
    assert len(made["f1_ci"]) == 2
    assert (tmp_path / "out.png").exists()
