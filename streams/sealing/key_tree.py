"""A key for every document, from a tree of which single leaves can be deleted.

A node's two children are made of it by HMAC-SHA256, so the root alone gives every key, and a node
tells nothing about what is beside or above it (Goldreich, Goldwasser and Micali, 1986). To delete
one document's key, the nodes that lead to it are replaced by those that branch off the way: all
other keys stay as they are. So there is no table of all documents' keys, no key has to be made or
read before a document's first record, and two processes cannot make two.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Final

DEPTH: Final = 64
"""Levels below the root: two documents share a key with a chance of 2^-64, and are erased together
then."""
KEY_BYTES: Final = 32
ROOT: Final = ""
_CHILDREN = {"0": b"safepassage key tree 0", "1": b"safepassage key tree 1"}
_RECORDS = b"safepassage key of records"


class KeyGone(LookupError):
    """The key of a document was deleted."""


class KeyTree:
    """The nodes that are left, by path: bits from the root as "0" and "1"."""

    def __init__(self, nodes: Mapping[str, bytes] | None = None) -> None:
        self.nodes: dict[str, bytes] = dict(nodes or {})

    def key(self, name: str) -> bytes:
        """The key of the document of that name, 32 bytes. Raises `KeyGone` where it was deleted."""
        leaf = _leaf(name)
        covering = self._covering(leaf)
        if not covering:
            raise KeyGone(name)
        node = self.nodes[covering[-1]]
        for bit in leaf[len(covering[-1]) :]:
            node = _child(node, bit)
        return hmac.digest(node, _RECORDS, hashlib.sha256)

    def has(self, name: str) -> bool:
        return ROOT in self.nodes or bool(self._covering(_leaf(name)))

    def without(self, names: Iterable[str]) -> KeyTree:
        """The tree that has no key for ``names``, and all the others."""
        tree = KeyTree(self.nodes)
        for name in names:
            leaf = _leaf(name)
            covering = tree._covering(leaf)
            if not covering:
                continue
            # The topmost: a run that was cut off left nodes below it, which are made again.
            node = tree.nodes[covering[0]]
            for depth in range(len(covering[0]), DEPTH):
                beside = "1" if leaf[depth] == "0" else "0"
                tree.nodes.setdefault(leaf[:depth] + beside, _child(node, beside))
                node = _child(node, leaf[depth])
            for path in covering:
                del tree.nodes[path]
        return tree

    def _covering(self, leaf: str) -> list[str]:
        """The paths from which a leaf's key can be made, topmost first."""
        return [leaf[:depth] for depth in range(DEPTH + 1) if leaf[:depth] in self.nodes]


def _leaf(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return f"{int.from_bytes(digest[: DEPTH // 8], 'big'):0{DEPTH}b}"


def _child(node: bytes, bit: str) -> bytes:
    return hmac.digest(node, _CHILDREN[bit], hashlib.sha256)
