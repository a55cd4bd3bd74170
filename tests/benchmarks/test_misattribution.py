"""The benchmark of values said of something else: its data, its figures, what a command gets."""

from __future__ import annotations

import io
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import misattribution as runner
from benchmarks import misattribution_peers as peers
from recipes.row_figures import RowScores, caught_at
from safepassage.schemas import Assessment
from safepassage.scoring_worker.training.corpora import read_rows

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "benchmarks" / "misattribution_peers.py"


@pytest.fixture(scope="module")
def every() -> list[runner.Case]:
    return runner.cases()


def told(scores: RowScores) -> tuple[float | None, float | None, float | None]:
    return scores.auroc(), scores.caught(), scores.pairs()


def of(labels, scores, same=None, groups=None) -> RowScores:
    count = len(labels)
    return RowScores(
        labels, scores, groups or ["d"] * count, same or [None] * count, ["kind"] * count
    )


def test_every_quote_is_in_its_document_and_half_of_the_rows_are_right():
    texts = {row["id"]: row["text"] for row in read_rows(runner.FOLDER / "documents.jsonl.gz")}
    rows = list(read_rows(runner.FOLDER / "rows.jsonl.gz"))
    assert [row["id"] for row in rows if row["context"] not in texts[row["doc_id"]]] == []
    assert {row["doc_id"] for row in rows} == set(texts)
    assert len({row["id"] for row in rows}) == len(rows) == 1119
    assert 0.45 < np.mean([row["label"] for row in rows]) < 0.55


def test_every_document_has_a_value_and_quote_with_both_labels(every: list[runner.Case]):
    labels: dict[str, dict[object, set[int]]] = {}
    for case in every:
        if case.part == "rows":
            labels.setdefault(case.group, {}).setdefault(case.same, set()).add(case.label)
    with_both = [name for name, own in labels.items() if {0, 1} in own.values()]
    assert len(with_both) == len(labels) == 47


def test_sentences_come_in_pairs_of_one_right_and_one_wrong(every: list[runner.Case]):
    roles: dict[object, list[int]] = {}
    for case in every:
        if case.part == "roles":
            roles.setdefault(case.same, []).append(case.label)
    assert {tuple(sorted(own)) for own in roles.values()} == {(0, 1)}
    assert {case.label for case in every if case.part == "answers"} == {0, 1}


def test_no_document_of_the_benchmark_is_among_those_that_may_teach():
    texts = {row["text"] for row in read_rows(runner.FOLDER / "documents.jsonl.gz")}
    for path in (ROOT / "recipes/data").rglob("written/*.jsonl"):
        assert not texts & {row["text"] for row in read_rows(path)}


def test_a_judge_sees_neither_label_nor_kind_nor_a_name_that_tells_them(every: list[runner.Case]):
    value = {"document", "quote", "field", "description", "value", "claim", "language"}
    sentence = {"passages", "claim", "language"}
    assert {frozenset(case.asked) for case in every} == {frozenset(value), frozenset(sentence)}


def test_the_figures_of_four_rows_are_those_made_by_hand():
    """Three of four pairs of a right and a wrong row are ranked right; of the two with the same
    words one is a tie."""
    scores = of([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1], same=["a", "b", "b", "a"])
    assert told(scores) == (3.5 / 4, 0.5, 0.75)
    assert told(of([1, 1], [0.2, 0.3])) == (None, None, None)


def test_a_weight_of_two_is_a_row_that_is_there_twice():
    once = of([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1], same=["a", "b", "b", "a"])
    twice = of([1, 1, 0, 0, 0], [0.9, 0.3, 0.4, 0.1, 0.1], same=["a", "b", "b", "a", "a"])
    weights = np.array([1.0, 1.0, 1.0, 2.0])
    assert (once.auroc(weights), once.caught(weights)) == (twice.auroc(), twice.caught())
    assert once.pairs(np.array([2.0, 1.0, 1.0, 2.0])) == pytest.approx(2 / 3)


def test_wrong_rows_are_caught_below_a_threshold_that_stops_few_right_ones():
    right = np.array([True] * 10 + [False] * 2)
    scores = np.array([*np.linspace(0.1, 1, 10), 0.15, 0.25])
    assert caught_at(scores, right, 0.1) == 0.5
    assert caught_at(scores, right, 0.2) == 1.0
    assert caught_at(np.zeros(12), right, 0.12) == 0.0


def test_the_interval_is_over_documents_and_always_the_same():
    rng = np.random.default_rng(1)
    labels = [1, 0] * 30
    scores = of(
        labels,
        [label + noise for label, noise in zip(labels, rng.normal(size=60), strict=True)],
        groups=[str(at // 6) for at in range(60)],
    )
    low, high = scores.interval(scores.auroc)
    assert low < scores.auroc() < high
    assert scores.interval(scores.auroc) == (low, high)
    alone = replace(scores, groups=["d"] * 60)
    assert alone.interval(alone.auroc) == (scores.auroc(), scores.auroc())


def test_a_kind_is_judged_beside_all_rows_with_the_other_label():
    scores = RowScores(
        [1, 0, 0], [0.5, 0.6, 0.1], "dde", [None] * 3, ["plain", "denied", "planned"]
    )
    assert scores.of_kind("denied").scores == [0.5, 0.6]
    assert scores.of_kind("plain").scores == [0.5, 0.6, 0.1]


def test_a_row_without_a_score_counts_as_stopped(every: list[runner.Case]):
    rows = [case for case in every if case.part == "rows"]
    knowing = [1.0 if case.label else None for case in rows]
    ((_, _, figures), *_) = runner.parts(rows, knowing)
    assert told(figures) == (1.0, 1.0, 1.0)


def test_a_judge_of_values_alone_has_no_line_of_sentences(every: list[runner.Case]):
    scores = [0.5 if case.part == "rows" else None for case in every]
    headings = [heading for heading, *_ in runner.parts(every, scores)]
    assert "wrong: denied" in headings
    assert not [heading for heading in headings if heading.startswith("sentences")]


@pytest.mark.parametrize(
    ("printed", "told"),
    [("", "0 lines for 2 rows"), ("0.5\nnan\n", "line 2"), ("0.5\nyes\n", "line 2")],
)
def test_a_command_that_keeps_not_to_the_protocol_is_an_error(every, printed: str, told: str):
    command = shlex.join([sys.executable, "-c", f"print({printed!r}, end='')"])
    with pytest.raises(runner.ScoresError, match=told):
        runner.by_command(command, every[:2])


def test_a_command_that_fails_is_an_error(every: list[runner.Case]):
    with pytest.raises(runner.ScoresError, match="exit status 3"):
        runner.by_command(f"{sys.executable} -c 'raise SystemExit(3)'", every[:2])


def test_the_adapters_answer_line_for_line():
    asked = {"quote": "The rent is EUR 900.", "field": "Deposit", "value": "EUR 900"}
    lines = [
        json.dumps(asked | {"claim": "Deposit: EUR 900"}),
        json.dumps({"passages": ["It rained."], "claim": "It snowed."}),
    ]
    for name, expected in {"substring": [1.0, 0.0], "words": [2 / 3, 0.5]}.items():
        out = io.StringIO()
        peers.answer(peers.PEERS[name](), lines, out)
        assert [json.loads(line) for line in out.getvalue().splitlines()] == expected


def test_every_peer_has_a_pinned_requirement_of_its_own():
    files = {path.stem: path.read_text() for path in (runner.FOLDER / "peers").glob("*.txt")}
    assert set(files) == set(peers.PEERS) - {"substring", "words"}
    assert all(text.startswith(f"{name}==") for name, text in files.items())


class LengthScorer:
    """Scores a pair by the length of its passage."""

    name, revision = "length", "1"

    def assess(self, pairs):
        return [
            Assessment(scorer="length", revision="1", score=1 / len(pair.premise), threshold=0.5)
            for pair in pairs
        ]


def test_a_scorer_is_asked_about_every_case_as_the_pipeline_asks(every: list[runner.Case]):
    roles = [case for case in every if case.part == "roles"]
    chosen = [*every[:12], *roles[:6]]
    asked = runner.pairs_of(chosen)
    for case, (pair, *_) in zip(chosen, asked, strict=True):
        assert pair.value == case.asked.get("value", case.asked["claim"])
    expected = [min(1 / len(pair.premise) for pair in pairs) for pairs in asked]
    assert runner.by_scorer(LengthScorer(), chosen) == expected


def test_a_command_is_judged_and_its_scores_make_the_same_table(tmp_path: Path, capsys):
    command = f"{sys.executable} {ADAPTERS} substring"
    runner.main(["--command", f"in the quote={command}", "--scores", str(tmp_path)])
    first = capsys.readouterr().out
    kept = tmp_path / "in-the-quote.scores"
    runner.main(["--command", f"in the quote=cat {kept}", "--out", str(tmp_path)])
    assert capsys.readouterr().out == first
    assert (tmp_path / "misattribution.txt").read_text() == first
    line = next(line for line in first.splitlines() if line.startswith("all rows"))
    assert line.split()[2:5] == ["1119", "47", ".531"]
    assert ".500" in line
