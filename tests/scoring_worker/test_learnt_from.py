"""A scorer's folder tells which documents no test of it may use."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from safepassage.scoring_worker import learnt_from
from safepassage.scoring_worker.learnt_from import LearntFrom, more_learnt, said_by
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.scorers.folders import DEFAULT_MODEL

MANIFEST = ScorerManifest(name="s", kind="reader", labels=0, max_length=64)


def test_a_document_is_known_by_its_id_its_versions_and_its_passages():
    learnt = more_learnt(LearntFrom(), [("doc-1@0123456789ab", "A passage."), ("doc-2", "")])
    assert learnt.knows("doc-1@0123456789ab")
    assert learnt.knows("doc-1")
    assert learnt.knows("doc-2@ffffffffffff")
    assert learnt.knows("renamed", ["A passage."])
    assert not learnt.knows("doc-3", ["Another."])
    assert not learnt.knows("", [""])


def test_what_is_too_much_to_list_is_not_known(monkeypatch):
    monkeypatch.setattr(learnt_from, "MAX_DIGESTS", 3)
    assert more_learnt(LearntFrom(), [("a", "1")]) is not None
    assert more_learnt(LearntFrom(), [("a", "1"), ("b", "2")]) is None
    assert more_learnt(None, [("a", "1")]) is None


def test_neither_ids_nor_texts_are_written():
    said = more_learnt(LearntFrom(), [("case of Ann Lee", "She paid.")]).model_dump_json()
    assert "Ann" not in said
    assert "paid" not in said
    with pytest.raises(ValidationError):
        LearntFrom(digests=("Ann Lee",))


def test_order_in_the_file_does_not_hide_a_document():
    digests = more_learnt(LearntFrom(), [(f"doc-{n}", "") for n in range(9)]).digests
    learnt = LearntFrom(digests=digests[::-1])
    assert all(learnt.knows(f"doc-{n}") for n in range(9))


def test_a_folder_that_never_said_keeps_its_revision_and_is_not_known():
    assert said_by(object()) is None
    said = MANIFEST.model_copy(update={"learnt_from": LearntFrom()})
    assert MANIFEST.revision != said.revision
    assert MANIFEST.revision == "938fff04937f8971"


def test_the_scorer_that_ships_says_that_it_learnt_from_nothing_but_published_sets():
    manifest = ScorerManifest.load(DEFAULT_MODEL)
    assert manifest.learnt_from == LearntFrom()
    assert manifest.trained_on
