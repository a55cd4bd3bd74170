"""Drafts of written cases: read, checked, and committed as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recipes.written_cases import DraftError, faults, main, read_drafts

DATA = Path(__file__).parents[2] / "recipes/data"
TEXT = "\n".join(f"Line {at}: the mill of Orrin sold {at} sacks to Vey." for at in range(20))
PAIRS = [
    row
    for at in range(8)
    for row in (
        f"Sacks in line {at} ‖ {at} sacks ‖ Orrin sold {at} sacks ‖ 1 ‖ plain",
        f"Bought by Orrin, line {at} ‖ {at} sacks ‖ Orrin sold {at} sacks ‖ 0 ‖ swapped_roles",
    )
]


def draft(tmp_path, rows, text=TEXT):
    path = tmp_path / "mill.txt"
    lines = ["# domain: mills", "=== mill-01 ‖ ledger ‖ en", text, "--- rows", *rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_good_draft_becomes_json_lines(tmp_path, capsys):
    assert main([str(draft(tmp_path, PAIRS)), "--out", str(tmp_path / "out")]) == 0
    (line,) = (tmp_path / "out/mill.jsonl").read_text("utf-8").splitlines()
    made = json.loads(line)
    assert made["domain"] == "mills"
    assert made["rows"][0] == {
        "entity_type": "Sacks in line 0",
        "value": "0 sacks",
        "context": "Orrin sold 0 sacks",
        "label": 1,
        "kind": "plain",
    }
    assert "16 rows, 0 faults" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("Seller ‖ Vey ‖ Vey sold ‖ 0 ‖ swapped_roles", "not in the document"),
        ("Seller ‖ Orrin ‖ Orrin sold 3 sacks ‖ 1 ‖ swapped_roles", "does not go with the label"),
        (PAIRS[0], "the same row twice"),
        ("Sacks in line 0 ‖ 0 ‖ sold 0 sacks ‖ 1 ‖ plain ‖ a number", "another description"),
    ],
)
def test_a_faulty_row_is_named(tmp_path, row, said):
    (own,) = read_drafts(draft(tmp_path, [*PAIRS, row]))
    assert [said in fault for fault in faults(own)] == [True]


def test_a_draft_without_contrasts_is_refused(tmp_path):
    (own,) = read_drafts(draft(tmp_path, PAIRS[::2]))
    told = "\n".join(faults(own))
    for part in ("8 rows", "8 of 8 rows are right", "0 wrong rows", "0 values and quotes"):
        assert part in told


def test_a_row_of_too_few_parts_is_an_error(tmp_path):
    with pytest.raises(DraftError, match=r"mill.txt:24: a row is"):
        read_drafts(draft(tmp_path, ["Seller ‖ Orrin"]))


def test_the_committed_cases_are_sound():
    files = sorted(DATA.rglob("written/*.jsonl"))
    assert files
    ids = set()
    for path in files:
        for line in path.read_text("utf-8").splitlines():
            made = json.loads(line)
            assert made["id"] not in ids
            ids.add(made["id"])
            assert all(row["context"] in made["text"] for row in made["rows"])


def test_the_committed_role_pairs_have_both_labels():
    files = sorted(DATA.rglob("roles/*.jsonl"))
    assert files
    for path in files:
        labels: dict[str, set[int]] = {}
        for line in path.read_text("utf-8").splitlines():
            made = json.loads(line)
            labels.setdefault(made["pair"], set()).add(made["label"])
        assert {frozenset(own) for own in labels.values()} == {frozenset({0, 1})}, path.name


def test_the_committed_answers_have_sentences_of_both_labels():
    files = sorted(DATA.rglob("answers/*.jsonl"))
    made = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    assert len({one["id"] for one in made}) == len(made) > 0
    labels = [said["label"] for one in made for said in one["sentences"]]
    assert 0.4 < sum(labels) / len(labels) < 0.6
