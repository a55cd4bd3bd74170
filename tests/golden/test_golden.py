"""Answers move only with a new version of the rules."""

from __future__ import annotations

import json

import pytest

from safepassage.scoring_worker.comparison import rules_version

from . import __main__ as command
from . import record
from .answers import MARGIN
from .record import COMMAND, HERE, SETS, Case, Versions, answered, cases, changed, read, same

CASE = Case("date/en/1", {"type": "Date", "quote": "4 May 2011", "value": "2011-05-04"}, {})


@pytest.mark.parametrize("name", SETS)
def test_answers_are_those_of_the_recorded_version(name):
    before = read(name)
    moved = changed(before, answered(name, before))
    if moved:
        pytest.fail(advice(moved), pytrace=False)


def advice(moved):
    """What a developer is told whose change moves answers."""
    others = Versions.current().changes_since(Versions.recorded())
    since = f"versions since they were recorded: {', '.join(others)}" if others else (
        "rules, model and libraries have the recorded versions"
    )  # fmt: skip
    return "\n".join(
        [
            f"{len(moved)} golden answers changed; {since}.",
            "If your change means to move answers, raise RULES_VERSION in "
            f"scoring_worker/comparison/rules_version.py and run `{COMMAND}`. If only a library "
            f"or the model changed, `{COMMAND}` is enough. Read the diff of tests/golden/*.jsonl.",
            *moved[:20],
        ]
    )


def test_the_files_are_of_this_version_of_the_rules():
    recorded = Versions.recorded().rules
    assert recorded == rules_version.RULES_VERSION, f"the rules have a new version: run `{COMMAND}`"


@pytest.mark.parametrize("name", SETS)
def test_a_case_is_a_line_in_order_with_an_answer(name):
    known = read(name)
    assert [case.id for case in known] == sorted({case.id for case in known})
    assert all(case.said for case in known)


def test_no_score_lies_so_near_its_threshold_that_a_machine_could_turn_it():
    assert not [case.id for case in read("pairs") if "borderline" in case.said]
    assert MARGIN > 2 * record.TOLERANCE


def test_answers_are_compared_with_a_tolerance_for_scores_alone():
    said = {"decision": "supported", "score": 0.971, "findings": ["a"]}
    assert same(said, {**said, "score": 0.973})
    assert not same(said, {**said, "score": 0.974})
    assert not same(said, {**said, "findings": []})
    assert not same(said, {"decision": "supported", "findings": ["a"]})


def test_an_id_comes_from_the_question_alone():
    [first], [second] = (cases([("g", {"value": value})]) for value in (1, 2))
    assert first.id.startswith("g/")
    assert first.id != second.id
    assert cases([("g", {"value": 1}), ("g", {"value": 1})]) == [first]


@pytest.fixture
def golden(tmp_path, monkeypatch):
    """The command over one case in an empty folder, with an answer that the test can change."""
    said = {"answer": "same"}
    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(command, "SETS", {"comparisons": None})
    monkeypatch.setattr(command, "read", lambda name: read(name, tmp_path))
    monkeypatch.setattr(command.Versions, "recorded", lambda: recorded(tmp_path))
    monkeypatch.setattr("sys.argv", ["golden"])
    monkeypatch.setitem(SETS, "comparisons", lambda asked: [dict(said) for _ in asked])
    record.write(tmp_path, Versions.current(), {"comparisons": [Case(CASE.id, CASE.asks, said)]})
    return tmp_path, said


def recorded(folder):
    return Versions(**json.loads((folder / "versions.json").read_text()))


def test_the_command_refuses_other_answers_under_the_same_version(golden):
    folder, said = golden
    before = (folder / "comparisons.jsonl").read_bytes()
    said["answer"] = "different"
    with pytest.raises(SystemExit, match="raise RULES_VERSION"):
        command.main()
    assert (folder / "comparisons.jsonl").read_bytes() == before


def test_the_command_writes_them_under_a_new_version(golden, monkeypatch):
    folder, said = golden
    said["answer"] = "different"
    monkeypatch.setattr(rules_version, "RULES_VERSION", "1000")
    assert command.main() == 0
    assert recorded(folder).rules == "1000"
    assert read("comparisons", folder)[0].said == {"answer": "different"}


def test_the_command_changes_nothing_where_nothing_changed(tmp_path):
    record.write(tmp_path, Versions.recorded(), {name: read(name) for name in SETS})
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (HERE / path.name).read_bytes()


def test_what_moved_is_told_with_the_versions_that_differ(monkeypatch):
    before = Versions.recorded()
    libraries = {**before.libraries, "babel": "0.1"}
    monkeypatch.setattr(
        Versions, "recorded", lambda: Versions(before.rules, before.model, libraries)
    )
    said = advice(["date/en/1: a -> b"])
    assert "babel 0.1 ->" in said
    assert COMMAND in said
    assert "date/en/1: a -> b" in said
