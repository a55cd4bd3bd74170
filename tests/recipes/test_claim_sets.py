"""Judged claims and answers: which words of a wrong one are marked as unsupported."""

from __future__ import annotations

import gzip
import json

import pytest

from recipes import claim_sets
from recipes.claim_sets import judged_claims
from safepassage.scoring_worker.training.corpora import CorpusError


def write(folder, name, *rows):
    folder.mkdir(parents=True, exist_ok=True)
    common = {"source": name, "group": "g", "lang": "en", "premise": "The sea is calm."}
    lines = "".join(json.dumps({**common, **row}) + "\n" for row in rows)
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(claim_sets, "CLAIM_SETS", {"edits": 9})
    monkeypatch.setattr(claim_sets, "ANSWER_SETS", {"answers": 9})
    write(
        tmp_path / "claims",
        "edits",
        {"hypothesis": "The sea is calm.", "label": "entailment"},
        {"hypothesis": "The sea is rough.", "label": "contradiction", "spans": [[11, 16]]},
        {"hypothesis": "The sea is cold.", "label": "neutral"},
        {"hypothesis": "Das Meer ist ruhig.", "label": "entailment", "lang": "de"},
    )
    write(
        tmp_path / "claims",
        "answers",
        {"type": "Is the sea calm?", "value": "Yes", "label": 1},
        {"type": "State of the sea", "value": "rough", "label": 0},
    )
    return tmp_path


def test_rows_become_claims_with_their_marked_words(data):
    made = {q.asked[0]: q for q in judged_claims(data, 1.0, 0)}
    assert made["The sea is calm."].supported == 1
    assert made["The sea is calm."].unfounded == ()
    assert made["The sea is rough."].unfounded == ((11, 16),)
    assert made["The sea is cold."].unfounded is None, "nobody marked its words"
    assert made["Is the sea calm? Yes"].supported == 1
    wrong = made["State of the sea: rough"]
    assert wrong.asked[0][slice(*wrong.unfounded[0])] == "rough"
    assert len(made) == 5, "other languages are another reader's"


def test_a_share_takes_fewer(data):
    assert len(list(judged_claims(data, 0.2, 0))) == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"fm2\.jsonl\.gz"):
        list(judged_claims(tmp_path, 1.0, 0))
