"""A scorer's folder tells which documents no test of it may use."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from pydantic import ValidationError

from safepassage.scoring_worker import learnt_from
from safepassage.scoring_worker.learnt_from import (
    DigestKeyMissing,
    LearntFrom,
    both_learnt,
    more_learnt,
    said_by,
)
from safepassage.scoring_worker.manifest import ScorerManifest
from safepassage.scoring_worker.scorers.folders import DEFAULT_MODEL
from safepassage.streams.privacy.files import _taught

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


def lines(path: Path, *numbers: int) -> None:
    """A file of keys, one for each number."""
    path.touch(mode=0o600)
    path.write_text("\n".join(base64.b64encode(bytes([n]) * 32).decode() for n in numbers))


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "keys"
    lines(path, 1)
    monkeypatch.setenv("SAFEPASSAGE_KEYS_FILE", str(path))
    return path


BARE = more_learnt(LearntFrom(), [("before", "An old passage.")])


def test_keyed_digests_tell_nothing_without_the_key(keys: Path, monkeypatch: pytest.MonkeyPatch):
    learnt = more_learnt(LearntFrom(), [("before", "An old passage.")])
    assert learnt.knows("before")
    assert not learnt.knows("other")
    assert not set(learnt.digests) & set(BARE.digests)
    as_if_bare = LearntFrom(digests=learnt.digests)
    assert not as_if_bare.knows("before", ["An old passage."])
    lines(keys, 2)
    monkeypatch.setattr(learnt_from, "_keys_in", learnt_from._keys_in.__wrapped__)
    with pytest.raises(DigestKeyMissing, match=f"the key {learnt.key}"):
        learnt.knows("before")
    monkeypatch.delenv("SAFEPASSAGE_KEYS_FILE")
    with pytest.raises(DigestKeyMissing, match="SAFEPASSAGE_KEYS_FILE"):
        learnt.knows("other")
    with pytest.raises(DigestKeyMissing):
        more_learnt(learnt, [("later", "")])


@pytest.mark.usefixtures("keys")
def test_bare_digests_of_before_stay_readable_and_are_keyed_by_what_goes_on_from_them():
    assert BARE.knows("before")
    after = more_learnt(BARE, [("later", "")])
    assert after.key
    assert after.knows("before")
    assert after.knows("later")
    assert not set(after.digests) & set(BARE.digests)
    assert LearntFrom.model_validate_json(after.model_dump_json()) == after


def test_a_key_that_is_first_no_more_goes_on_where_it_was_used(
    keys: Path, monkeypatch: pytest.MonkeyPatch
):
    first = more_learnt(LearntFrom(), [("one", "")])
    lines(keys, 2, 1)
    monkeypatch.setattr(learnt_from, "_keys_in", learnt_from._keys_in.__wrapped__)
    after = more_learnt(first, [("two", "")])
    assert (after.key, after.knows("one"), after.knows("two")) == (first.key, True, True)
    other = more_learnt(LearntFrom(), [("three", "")])
    assert other.key != first.key
    assert both_learnt(after, other) is None  # nothing can tell them together
    together = both_learnt(after, BARE)
    assert together.knows("two")
    assert together.knows("before")
    assert both_learnt(after, LearntFrom()) == after


def test_a_folder_with_bare_digests_keeps_its_revision():
    said = MANIFEST.model_copy(update={"learnt_from": BARE})
    assert said.revision == "6b51c2b99ade82d4"


def test_erasing_lists_a_scorer_whose_key_is_not_here(keys: Path, monkeypatch: pytest.MonkeyPatch):
    learnt = more_learnt(LearntFrom(), [("before", "")])
    said = MANIFEST.model_copy(update={"learnt_from": learnt})
    assert _taught(Path("folder"), said, ["before"]).learnt is True
    monkeypatch.delenv("SAFEPASSAGE_KEYS_FILE")
    untold = _taught(Path("folder"), said, ["before"])
    assert untold.learnt is None
    assert learnt.key in untold.why
