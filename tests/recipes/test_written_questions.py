"""What the written rows teach, on two documents of a few words."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from recipes import written_questions
from recipes.written_questions import ROUNDS, written_corpus, written_pairs
from safepassage.scoring_worker.training.reading.questions import ReadingQuestion

TEXT = "Lease\nOld rent: 900. New rent from May: 950."
ROWS = [
    {"entity_type": "New rent", "value": "950", "label": 1, "kind": "plain"},
    {"entity_type": "Old rent", "value": "950", "label": 0, "kind": "other_field"},
]


@pytest.fixture
def data(tmp_path, monkeypatch):
    def lines(name, rows):
        path = tmp_path / "written" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))

    rows = [row | {"context": "New rent from May: 950."} for row in ROWS]
    splits = {"taught": ("train", "en"), "kept": ("dev", "en"), "foreign": ("train", "de")}
    lines("documents.jsonl.gz", [{"id": name, "text": TEXT} for name in splits])
    lines(
        "about.jsonl.gz",
        [{"doc_id": n, "split": split, "language": own} for n, (split, own) in splits.items()],
    )
    lines(
        "extractions.jsonl.gz",
        [r | {"id": f"{n}{at}", "doc_id": n} for n in splits for at, r in enumerate(rows)],
    )
    folder = tmp_path / "own"
    folder.mkdir()
    own = {"id": "own", "language": "en", "text": TEXT, "rows": rows}
    (folder / "own.jsonl").write_text(json.dumps(own) + "\n")
    monkeypatch.setattr(written_questions, "OWN", folder)
    monkeypatch.setattr(
        written_questions, "role_pairs", lambda *_: [("A paid B.", [("B paid.", 0)])]
    )
    return tmp_path


KNOWN = [ReadingQuestion("old", ("known",))]


def test_rows_that_teach_are_english_and_not_kept(data):
    assert {pair.group for pair in written_pairs(data)} == {"taught", "own"}


def test_one_value_is_right_under_one_field_and_wrong_under_another(data):
    questions = written_corpus(data, KNOWN).questions
    of = {q.asked[0]: q for q in questions if q.passage.endswith("950.") and q.supported is None}
    (place,) = of["New rent"].answers
    assert of["New rent"].passage[slice(*place)] == "950"
    assert of["Old rent"].wrong == (place,)
    assert not of["Old rent"].answers


def test_roles_and_known_questions_are_asked_too(data):
    questions = written_corpus(data, KNOWN).questions
    asked = Counter(q.asked[0] for q in questions if q.supported is None)
    assert asked["New rent"] == ROUNDS
    assert {"B paid.", "known"} <= {q.asked[0] for q in questions}
    assert questions == written_corpus(data, KNOWN).questions
