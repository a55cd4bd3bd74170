"""What is sealed opens in its place alone, and not at all once its key was deleted."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from safepassage.schemas import KeyNode
from safepassage.streams.sealing.frame import KeysUnusable, SealBroken, is_sealed, subject_of
from safepassage.streams.sealing.key_tree import DEPTH, KEY_BYTES, KeyGone, KeyTree
from safepassage.streams.sealing.seals import MasterKeys, opened, seal
from safepassage.streams.settings import Settings

KEY = bytes(range(32))
NAMES = st.text(min_size=1, max_size=40).filter(lambda t: t.encode("utf-8", "ignore").decode() == t)
PLACES = st.tuples(st.text("abc-", max_size=8), st.none() | st.binary(max_size=8))


@given(st.binary(max_size=300), NAMES, PLACES)
def test_what_was_sealed_comes_back(value: bytes, name: str, place: tuple[str, bytes | None]):
    sealed = seal(value, KEY, name, *place)
    assert is_sealed(sealed)
    assert subject_of(sealed) == name
    assert opened(sealed, KEY, *place) == value
    assert sealed != seal(value, KEY, name, *place)


@given(st.binary(max_size=50), NAMES, st.data())
def test_any_flipped_bit_and_any_cut_is_noticed(value: bytes, name: str, data: st.DataObject):
    sealed = seal(value, KEY, name, "topic", b"key")
    at = data.draw(st.integers(5 * 8, 8 * len(sealed) - 1))
    flipped = bytearray(sealed)
    flipped[at // 8] ^= 1 << at % 8
    with pytest.raises(SealBroken):
        opened(bytes(flipped), KEY, "topic", b"key")
    with pytest.raises(SealBroken):
        opened(sealed[: data.draw(st.integers(5, len(sealed) - 1))], KEY, "topic", b"key")


@given(PLACES, PLACES)
def test_sealed_value_opens_at_no_other_place(
    here: tuple[str, bytes | None], there: tuple[str, bytes | None]
):
    sealed = seal(b"value", KEY, "doc", *here)
    if here == there:
        assert opened(sealed, KEY, *there) == b"value"
    else:
        with pytest.raises(SealBroken):
            opened(sealed, KEY, *there)


def test_another_key_opens_nothing():
    with pytest.raises(SealBroken):
        opened(seal(b"value", KEY, "doc", "topic", b"key"), os.urandom(32), "topic", b"key")


@given(st.lists(NAMES, unique=True, min_size=2, max_size=12), st.data())
def test_deleting_keys_leaves_all_others_as_they_were(names: list[str], data: st.DataObject):
    tree = KeyTree({"": KEY})
    keys = {name: tree.key(name) for name in names}
    gone = data.draw(st.sets(st.sampled_from(names)))
    first = set(sorted(gone)[::2])
    left = tree.without(first).without(gone)
    for name in names:
        assert left.has(name) == (name not in gone)
        if name in gone:
            with pytest.raises(KeyGone):
                left.key(name)
        else:
            assert left.key(name) == keys[name]
    assert len(left.nodes) <= 1 + len(gone) * DEPTH
    assert len(set(keys.values())) == len(names)


@given(NAMES, st.integers(0, DEPTH))
def test_deletion_that_was_cut_off_is_completed_by_the_next(name: str, written: int):
    """The branches are written first: some of them, and the root, are there."""
    tree = KeyTree({"": KEY})
    whole = tree.without([name])
    cut_off = KeyTree({"": KEY} | dict(list(whole.nodes.items())[:written]))
    assert cut_off.without([name]).nodes == whole.nodes


def test_no_node_that_is_left_lies_on_the_way_to_a_deleted_key():
    tree = KeyTree({"": KEY}).without(["doc"])
    assert len(tree.nodes) == DEPTH
    keys = [KeyTree({path: node}) for path, node in tree.nodes.items()]
    assert not any(single.has("doc") for single in keys)


def keys_file(path: Path, *keys: bytes) -> Path:
    path.write_text("".join(base64.b64encode(key).decode() + "\n" for key in keys))
    path.chmod(0o600)
    return path


def test_every_key_of_the_file_unwraps_and_the_first_one_wraps(tmp_path: Path):
    old, new = os.urandom(32), os.urandom(32)
    before = MasterKeys.read(keys_file(tmp_path / "old", old))
    wrapped = before.wrap("01", KEY)
    both = MasterKeys.read(keys_file(tmp_path / "both", new, old))
    assert both.unwrap(wrapped) == KEY
    again = both.wrap("01", KEY)
    assert MasterKeys.read(keys_file(tmp_path / "new", new)).unwrap(again) == KEY
    with pytest.raises(KeysUnusable, match=wrapped.wrapped_by):
        MasterKeys.read(keys_file(tmp_path / "new", new)).unwrap(wrapped)


def test_wrapped_node_belongs_to_its_path(tmp_path: Path):
    masters = MasterKeys.read(keys_file(tmp_path / "keys", KEY))
    node = masters.wrap("01", KEY)
    with pytest.raises(KeysUnusable, match="altered"):
        masters.unwrap(KeyNode(path="10", wrapped_by=node.wrapped_by, wrapped=node.wrapped))


@pytest.mark.parametrize(
    "content", ["", "not base64!\n", base64.b64encode(b"short").decode(), "\xff"]
)
def test_file_that_holds_no_keys_is_refused_without_quoting_it(tmp_path: Path, content: str):
    path = tmp_path / "keys"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(KeysUnusable) as refusal:
        MasterKeys.read(path)
    assert not content.strip() or content.strip() not in str(refusal.value)
    assert f"{KEY_BYTES} bytes" in str(refusal.value)


def test_file_that_others_may_read_is_refused(tmp_path: Path):
    path = keys_file(tmp_path / "keys", KEY)
    path.chmod(0o640)
    with pytest.raises(KeysUnusable, match="chmod 600"):
        MasterKeys.read(path)
    with pytest.raises(KeysUnusable, match="No such file"):
        MasterKeys.read(tmp_path / "absent")
    with pytest.raises(KeysUnusable, match="directory"):
        MasterKeys.read(tmp_path)


def test_empty_name_of_the_keys_file_is_refused(monkeypatch):
    """It is a variable that was to be set: without it nothing would be sealed."""
    monkeypatch.setenv("SAFEPASSAGE_KEYS_FILE", "")
    with pytest.raises(ValidationError, match="it is empty: name the file"):
        Settings()
