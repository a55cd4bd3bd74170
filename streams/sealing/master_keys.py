"""The file of ``SAFEPASSAGE_KEYS_FILE``: what wraps the nodes of the key tree.

One key a line: 32 bytes in base64, as ``openssl rand -base64 32`` prints them. The first wraps, all
unwrap.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from safepassage.schemas import KeyNode

from .frame import NONCE_BYTES, KeysUnusable
from .key_tree import KEY_BYTES


class MasterKeys:
    """The keys of a file, the wrapping one first."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = {_name(key): AESGCM(key) for key in keys}
        self.first = _name(keys[0])

    @classmethod
    def read(cls, path: Path) -> MasterKeys:
        """The keys of the file ``path``.

        Raises:
            KeysUnusable: it cannot be read, others may read it, or a line is no key.
        """
        try:
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                raise KeysUnusable(f"{path}: others may read it; run: chmod 600 {path}")
            lines = path.read_text(encoding="ascii", errors="replace").split()
        except OSError as error:
            raise KeysUnusable(f"SAFEPASSAGE_KEYS_FILE: {path}: {error.strerror}") from None
        keys = [_decoded(line) for line in lines]
        if not keys or not all(len(key) == KEY_BYTES for key in keys):
            raise KeysUnusable(
                f"{path}: each line has to be {KEY_BYTES} bytes in base64; "
                "`openssl rand -base64 32` makes one"
            )
        return cls(keys)

    def wrap(self, path: str, node: bytes) -> KeyNode:
        """The node at ``path`` of the tree as the topic ``keys`` carries it."""
        nonce = os.urandom(NONCE_BYTES)
        wrapped = nonce + self._keys[self.first].encrypt(nonce, node, _bound(path))
        return KeyNode(path=path, wrapped_by=self.first, wrapped=base64.b64encode(wrapped).decode())

    def unwrap(self, node: KeyNode) -> bytes:
        """The node itself.

        Raises:
            KeysUnusable: the key that wrapped it is not in the file, or the record was altered.
        """
        key = self._keys.get(node.wrapped_by)
        if key is None:
            raise KeysUnusable(
                f"SAFEPASSAGE_KEYS_FILE lacks the key {node.wrapped_by}, which wraps what is on "
                "the topic keys; add it as a further line"
            )
        wrapped = _decoded(node.wrapped)
        try:
            return key.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _bound(node.path))
        except (InvalidTag, ValueError):
            raise KeysUnusable(
                "a record on the topic keys was altered: restore the topic"
            ) from None


def _name(key: bytes) -> str:
    """What tells a key from others, and nothing about it."""
    return hmac.digest(key, b"safepassage key name", hashlib.sha256)[:8].hex()


def _bound(path: str) -> bytes:
    return b"safepassage key node\0" + path.encode()


def _decoded(line: str) -> bytes:
    try:
        return base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        return b""
