"""What wraps the nodes of the key tree: of the keys of ``SAFEPASSAGE_KEYS_FILE`` the first wraps,
all unwrap."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from safepassage.schemas import KeyNode
from safepassage.schemas.keys_file import KeysFileError, decoded, key_name, read_keys

from .frame import NONCE_BYTES, KeysUnusable


class MasterKeys:
    """The keys of a file, the wrapping one first."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = {key_name(key): AESGCM(key) for key in keys}
        self.first = key_name(keys[0])

    @classmethod
    def read(cls, path: Path) -> MasterKeys:
        """The keys of the file ``path``."""
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
        """The node itself."""
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
