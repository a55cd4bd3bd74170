"""RefChecker's labelled triples as answers that any detector judges."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from research.cli import app
from research.groundedness.sampling import read_answers
from research.groundedness.triples import labelled_triples
from safepassage.scoring_worker.evaluation.sources import DatasetError


def row(model: str, response: str, *triples: tuple[str, str], question: str = "7") -> dict:
    return {
        "id": f"refchecker-zero-{model}-{question}",
        "setting": "zero",
        "model": model,
        "response": response,
        "triples": [{"triplet": said.split("|"), "label": label} for said, label in triples],
    }


ROWS = [
    row("a", "Bonn lies on the Rhine.", ("Bonn|lies on|the Rhine", "Entailment")),
    row(
        "b", "Bonn lies on the Elbe, in Germany.",
        ("Bonn|lies on|the Elbe", "Contradiction"), ("Bonn|in|Germany", "Entailment"),
    ),
    row("c", "Oslo lies on the Elbe.", ("Oslo|lies on|the Elbe", "Neutral"), question="8"),
    row("d", "", ("Oslo|lies on|a fjord", "Entailment"), question="8"),
]  # fmt: skip


def test_the_context_is_what_others_said_and_people_found_true():
    made = list(labelled_triples(ROWS))
    assert [(one["response"], one["label"]) for one in made] == [
        ("Bonn lies on the Elbe.", 0),
        ("Bonn in Germany.", 1),
    ]
    assert all(one["context"] == ["Bonn lies on the Rhine."] for one in made)
    assert len({one["id"] for one in made}) == 2


def test_a_reference_judges_no_triple_of_its_own_and_a_question_without_one_is_left_out():
    assert list(labelled_triples(ROWS[:1])) == []
    assert list(labelled_triples(ROWS[2:])) == []  # the only true answer is empty


@pytest.mark.parametrize(
    "wrong", [{}, {"id": "a", "setting": "s", "response": "r", "triples": [{"triplet": ["a"]}]}]
)
def test_a_row_of_another_kind_is_refused(wrong):
    with pytest.raises(DatasetError, match="row 1"):
        list(labelled_triples([wrong]))


def test_the_command_writes_what_the_benchmark_reads(tmp_path):
    path, out = tmp_path / "refchecker.jsonl", tmp_path / "triples.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    result = CliRunner().invoke(app, ["groundedness", "triples", str(path), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "2 triples, 1 of them entailed" in result.output
    read = read_answers(out)
    assert [case.grounded for case in read.cases] == [False, True]
    assert len({case.query_group for case in read.cases}) == 1
