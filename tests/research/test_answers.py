"""Detectors on labelled answers: sets, kept judgements, figures, one table."""

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from research.answers.figures import figures, span_f1
from research.answers.judgement import digest_of, judge_set
from research.answers.report import AnswersReport, chosen
from research.answers.sets import (
    AnswersOfSource,
    LabelledAnswer,
    read_sets,
)
from research.answers.tables import PUBLISHED, table
from research.detectors.scorer_detector import ScorerDetector
from safepassage.schemas import Usage
from safepassage.scoring_worker.detectors.contract import Answer, Grounding
from safepassage.scoring_worker.evaluation.sources import DatasetError
from tests.scoring_worker.detectors.doubles import WordScorer

RENT = "The rent was 900 euros."


def _silent(*_):
    pass


class Counting(ScorerDetector):
    """Counts the answers that it judges."""

    def __init__(self) -> None:
        super().__init__("words", WordScorer())
        self.judged: list[Answer] = []

    def ground(self, answers) -> list[Grounding]:
        self.judged += answers
        return super().ground(answers)


def _set(count: int = 60, name: str = "made") -> AnswersOfSource:
    """Every second answer is grounded; the others end in a sentence that is not."""
    cases = []
    for n in range(count):
        context = f"Dog {n} barks. The rent of house {n} was {n} euros."
        wrong = n % 2 == 1
        response = f"Dog {n} barks. {'Cats sing opera.' if wrong else f'The rent was {n} euros.'}"
        start = response.index("Cats") if wrong else 0
        spans = ((start, len(response)),) if wrong else ()
        answer = Answer((context,), response)
        cases.append(LabelledAnswer(str(n), answer, not wrong, f"doc-{n}", spans))
    return AnswersOfSource(name, tuple(cases))


def _write(path: Path, rows) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def test_what_was_judged_is_kept_and_a_stopped_run_goes_on(tmp_path):
    first = Counting()
    judge_set(AnswersOfSource("made", _set().cases[:20]), first, tmp_path, _silent)
    [kept] = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-30])  # killed in the middle of a line
    second = Counting()
    judged = judge_set(_set(), second, tmp_path, _silent)
    assert len(second.judged) == 41
    assert RENT[:8] not in kept.read_text()
    assert judged.judgements == judge_set(_set(), Counting(), tmp_path, _silent).judgements
    fresh = judge_set(_set(), Counting(), None, _silent)
    assert [j.score for j in fresh.judgements] == [j.score for j in judged.judgements]


class OfAnLLM:
    """Fails where ``down``; ``asked`` are the blocks that it was given."""

    def __init__(self, *, revision: str = "1", down: bool = False) -> None:
        self.name, self.revision, self.down = "an llm", revision, down
        self.asked: list[int] = []

    def ground(self, answers: Sequence[Answer]) -> list[Grounding]:
        self.asked.append(len(answers))
        usage = Usage(milliseconds=1500, cost_usd=0.25)
        if self.down:
            return [Grounding.undetermined("llm_unavailable") for _ in answers]
        return [Grounding(score=0.5, usage=usage) for _ in answers]

    def close(self) -> None: ...


def test_what_an_llm_failed_to_judge_is_asked_again_and_then_kept(tmp_path):
    few = AnswersOfSource("made", _set().cases[:3])
    down, up, again = OfAnLLM(down=True), OfAnLLM(), OfAnLLM()
    failed = judge_set(few, down, tmp_path, _silent, calls_llm=True)
    assert {one.failure for one in failed.judgements} == {"llm_unavailable"}
    found = judge_set(few, up, tmp_path, _silent, calls_llm=True, block=2)
    judge_set(few, again, tmp_path, _silent, calls_llm=True)
    assert (down.asked, up.asked, again.asked) == ([3], [2, 1], [])
    one = found.judgements[0]
    assert (one.score, one.cost_usd, one.calls_llm) == (0.5, 0.25, True)
    assert one.latency == one.cpu_seconds + 1.5
    assert one.seconds > 0


def test_a_failure_of_a_detector_that_asks_no_llm_stands(tmp_path):
    few = AnswersOfSource("made", _set().cases[:3])
    judge_set(few, OfAnLLM(down=True), tmp_path, _silent)
    again = OfAnLLM()
    found = judge_set(few, again, tmp_path, _silent)
    assert again.asked == []
    assert {one.score for one in found.judgements} == {None}


@pytest.mark.parametrize("end", ["b", "/../c", " \x00", "b" * 900])
def test_every_revision_has_a_file_of_its_own_inside_the_folder(tmp_path, end):
    few = AnswersOfSource("made", _set().cases[:3])
    first, second = OfAnLLM(revision="x" * 16 + "a"), OfAnLLM(revision="x" * 16 + end)
    for detector in (first, second):
        judge_set(few, detector, tmp_path, _silent)
        assert detector.asked == [3]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "other",
    [
        Answer(("a", "b"), "c", "q"),
        Answer(("a",), "b", "q", ("c",)),
        Answer(("a",), "bc", "q"),
        Answer(("a", "shown"), "bc", "q"),
        Answer((), "a", "bc", ("q",)),
    ],
)
def test_two_answers_that_differ_have_two_digests(other):
    assert digest_of(other) != digest_of(Answer(("a",), "bc", "", ("q",)))


def test_a_detector_that_separates_has_full_figures_and_spans():
    judged = judge_set(_set(), Counting(), None, _silent)
    found = figures([judged], "made")
    assert (found.n, found.out_of_context, found.undetermined) == (60, 30, 0)
    assert found.auroc == found.auprc == found.f1 == 1.0
    assert found.span_f1 == pytest.approx(1.0)
    assert found.sentences_per_second


def test_what_has_no_score_ranks_as_the_most_doubtful_and_counts_as_flagged():
    cases = list(_set().cases)
    broken = Answer(("This is broken.",), RENT)
    cases[0] = LabelledAnswer("0", broken, True, "doc-0", ())
    found = figures([judge_set(AnswersOfSource("m", tuple(cases)), Counting(), None, _silent)], "m")
    assert found.undetermined == 1
    assert found.auroc < 1.0


def test_spans_that_nobody_marked_have_no_figure():
    cases = tuple(LabelledAnswer(c.id, c.answer, c.grounded, c.group) for c in _set().cases)
    judged = judge_set(AnswersOfSource("made", cases), Counting(), None, _silent)
    assert span_f1([judged]) is None


def test_sets_of_a_folder_are_read_by_what_their_fields_tell(tmp_path):
    words = " ".join(f"word{n}" for n in range(60))
    _write(tmp_path / "a_answers.jsonl.gz", [
        {"id": "1", "context": RENT, "response": RENT, "label": 1, "extra": {"spans": []}},
        {"id": "2", "context": [RENT, "b"], "claim": "x", "label": 0, "extra": {"spans": []}},
        {"id": "3", "context": RENT, "response": RENT, "label": None},
        {"id": "4", "context": RENT, "response": RENT, "label": 1, "extra": {"spans": None}},
    ])  # fmt: skip
    _write(tmp_path / "b_pubmedqa.jsonl.gz", [
        {"id": str(n), "context": f"{words} {n}.", "conclusion": f"In short it says word{n} again."}
        for n in range(4)
    ])  # fmt: skip
    _write(tmp_path / "c_mrpc.jsonl.gz", [
        {"s1": f"{words} {n}.", "s2": f"It says that word{n} stands there.", "label": str(n % 2),
         "split": "test" if n < 6 else "train"}
        for n in range(9)
    ])  # fmt: skip
    answers, summaries, pairs = read_sets([tmp_path])
    assert [(s.name, s.built) for s in (answers, summaries, pairs)] == [
        ("a_answers", False), ("b_pubmedqa", True), ("c_mrpc", True),
    ]  # fmt: skip
    assert [case.spans for case in answers.cases] == [(), None, None]
    assert answers.cases[1].answer.context == (RENT, "b")
    assert sum(case.grounded for case in summaries.cases) == 4
    assert len(pairs.cases) == 6
    assert [len(s.cases) for s in read_sets([tmp_path], limit=2)] == [2, 2, 2]


def test_what_is_no_answer_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="in this folder"):
        read_sets([tmp_path])
    path = _write(tmp_path / "e.jsonl.gz", [{"id": "1", "text": "a", "entities": []}])
    with pytest.raises(DatasetError, match="detectors judge answers"):
        read_sets([path])


def test_all_are_those_that_need_nothing_and_the_others_say_what():
    names, left_out = chosen(["all", "ragulator-encoder=folder"])
    assert {"default", "ragulator", "token_precision"} <= set(names)
    assert names[-1] == "ragulator-encoder=folder"
    assert "needs llm" in left_out["direct_prompt"]
    assert "ragulator-encoder" not in left_out
    assert chosen(["a", "a"]) == (["a"], {})


def test_the_table_has_our_figures_and_the_papers_beside_them():
    judged = [judge_set(_set(name=name), Counting(), None, _silent) for name in ("mrpc", "other")]
    results = tuple(figures([one], one.cases.name) for one in judged)
    shown = io.StringIO()
    Console(file=shown, width=200).print(table(AnswersReport(results=results, left_out={})))
    text = shown.getvalue()
    assert "paper: RAGulator-deberta-v3-large" in text
    assert text.count("words") == 2
    assert text.count("paper:") == len(PUBLISHED)
    assert "93.7" in text


def test_the_answers_of_a_folder_are_judged(tmp_path):
    from research.cli import app

    rows = [
        {"id": c.id, "context": c.answer.context[0], "response": c.answer.response,
         "label": int(c.grounded), "extra": {"spans": [{"start": a, "end": b} for a, b in c.spans]}}
        for c in _set(20).cases
    ]  # fmt: skip
    data = tmp_path / "data"
    data.mkdir()
    _write(data / "made.jsonl.gz", rows)
    figures_file = tmp_path / "figures.json"
    words = [
        "answers",
        str(data),
        "--detector",
        "token_precision",
        "--detector",
        "ragulator-encoder",
    ]
    result = CliRunner().invoke(
        app, [*words, "--json", str(figures_file), "--keep", str(tmp_path / "kept")]
    )
    assert result.exit_code == 0, result.output
    assert "left out: ragulator-encoder" in result.output
    report = json.loads(figures_file.read_text())
    [found] = report["results"]
    assert found["detector"] == "token_precision"
    assert found["auroc"] == 1.0
