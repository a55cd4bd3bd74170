"""Seals and opens records with the keys on the topic ``keys``, as far as they were read.

A sealed value is AES-256-GCM under the key of what it is about::

    magic (5)  length (2)  subject  nonce (12)  ciphertext and tag

The subject is a document's id, or a snapshot's name. Topic, key and subject are authenticated: a
value that was moved to another topic or key does not open.
"""

from __future__ import annotations

import base64
import os
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import ValidationError

from safepassage.schemas import KeyNode
from safepassage.schemas.keys_file import KeysFileError, decoded, key_name, read_keys

from .frame import LENGTH_BYTES, MAGIC, NONCE_BYTES, KeysUnusable, SealBroken, subject_of
from .key_tree import KeyTree


def seal(value: bytes, key: bytes, subject: str, topic: str, record_key: bytes | None) -> bytes:
    name, nonce = subject.encode(), os.urandom(NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, value, _bound_to_place(name, topic, record_key))
    return MAGIC + len(name).to_bytes(LENGTH_BYTES, "big") + name + nonce + sealed


def opened(value: bytes, key: bytes, topic: str, record_key: bytes | None) -> bytes:
    """What was sealed. Raises `SealBroken` where it was altered or moved, or ``key`` is another."""
    name = subject_of(value).encode()
    start = len(MAGIC) + LENGTH_BYTES + len(name)
    nonce, sealed = value[start : start + NONCE_BYTES], value[start + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, sealed, _bound_to_place(name, topic, record_key))
    except (InvalidTag, ValueError):
        raise SealBroken("the seal does not open: altered, or moved from its place") from None


def _bound_to_place(name: bytes, topic: str, record_key: bytes | None) -> bytes:
    parts = (topic.encode(), b"-" if record_key is None else b"+" + record_key, name)
    return b"".join([MAGIC, *(len(p).to_bytes(4, "big") + p for p in parts)])


class MasterKeys:
    """The keys of a file, the wrapping one first."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = {key_name(key): AESGCM(key) for key in keys}
        self.first = key_name(keys[0])

    @classmethod
    def read(cls, path: Path) -> MasterKeys:
        try:
            return cls(read_keys(path))
        except KeysFileError as error:
            raise KeysUnusable(str(error)) from None

    def wrap(self, path: str, node: bytes) -> KeyNode:
        """The node at ``path`` of the tree as the topic ``keys`` carries it."""
        nonce = os.urandom(NONCE_BYTES)
        wrapped = nonce + self._keys[self.first].encrypt(nonce, node, _bound(path))
        return KeyNode(path=path, wrapped_by=self.first, wrapped=base64.b64encode(wrapped).decode())

    def unwrap(self, node: KeyNode) -> bytes:
        key = self._keys.get(node.wrapped_by)
        if key is None:
            raise KeysUnusable(
                f"SAFEPASSAGE_KEYS_FILE lacks the key {node.wrapped_by}, which wraps what is on "
                "the topic keys; add it as a further line"
            )
        wrapped = decoded(node.wrapped)
        try:
            return key.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _bound(node.path))
        except (InvalidTag, ValueError):
            raise KeysUnusable(
                "a record on the topic keys was altered: restore the topic"
            ) from None


def _bound(path: str) -> bytes:
    return b"safepassage key node\0" + path.encode()


CACHED_KEYS = 10_000


class Seals:
    """What a process with the master keys can seal and open. For one thread."""

    def __init__(self, keys_file: Path) -> None:
        self.masters = MasterKeys.read(keys_file)
        self.tree = KeyTree()
        self._key = lru_cache(CACHED_KEYS)(self.tree.key)

    def note(self, key: bytes | None, value: bytes | None) -> None:
        """Count one record of the topic ``keys``. Raises `KeysUnusable` where it is no node of the
        tree, or the file lacks the key that wraps it."""
        self._key.cache_clear()
        if value is None:
            self.tree.nodes.pop(path_of(key), None)
            return
        try:
            node = KeyNode.model_validate_json(value, extra="ignore")
        except ValidationError:
            node = None
        if node is None or node.path != path_of(key):
            raise KeysUnusable("a record on the topic keys is no key: restore the topic")
        self.tree.nodes[node.path] = self.masters.unwrap(node)

    def seal(self, value: bytes, subject: str, topic: str, record_key: bytes | None) -> bytes:
        """``value`` sealed. Raises `KeyGone` where the subject was erased;
        `KeysUnusable` where there are no keys yet."""
        if not self.tree.nodes:
            raise KeysUnusable("the topic keys is empty: run `safepassage keys create` once")
        return seal(value, self._key(subject), subject, topic, record_key)

    def open(self, value: bytes, topic: str, record_key: bytes | None) -> bytes:
        """What was sealed. Raises `KeyGone` if it was erased; `SealBroken` if it was changed."""
        return opened(value, self._key(subject_of(value)), topic, record_key)

    def gone(self, subject: str) -> bool:
        return bool(self.tree.nodes) and not self.tree.has(subject)


def node_key(path: str) -> str:
    return f"/{path}"


def path_of(key: bytes | None) -> str:
    return (key or b"").decode("ascii", "replace").removeprefix("/")
