"""Seals and opens records with the keys on the topic ``keys``, as far as they were read."""

from collections import OrderedDict
from pathlib import Path

from pydantic import ValidationError

from safepassage.schemas import KeyNode

from .envelope import opened, seal
from .frame import KeysUnusable, subject_of
from .key_tree import KeyTree
from .master_keys import MasterKeys

CACHED_KEYS = 10_000


class Seals:
    """What a process with the master keys can seal and open. For one thread."""

    def __init__(self, keys_file: Path) -> None:
        self.masters = MasterKeys.read(keys_file)
        self.tree = KeyTree()
        self._cached: OrderedDict[str, bytes] = OrderedDict()

    def note(self, key: bytes | None, value: bytes | None) -> None:
        """Count one record of the topic ``keys``.

        Raises:
            KeysUnusable: it is no node of the tree, or the file lacks the key that wraps it.
        """
        self._cached.clear()
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
        """``value`` sealed; see `envelope`.

        Raises:
            KeyGone: the subject was erased.
            KeysUnusable: there are no keys yet.
        """
        if not self.tree.nodes:
            raise KeysUnusable("the topic keys is empty: run `safepassage keys create` once")
        return seal(value, self._key(subject), subject, topic, record_key)

    def open(self, value: bytes, topic: str, record_key: bytes | None) -> bytes:
        """What was sealed.

        Raises:
            KeyGone: the subject was erased.
            SealBroken: the value was altered or moved.
        """
        return opened(value, self._key(subject_of(value)), topic, record_key)

    def gone(self, subject: str) -> bool:
        """Whether the subject's key was deleted."""
        return bool(self.tree.nodes) and not self.tree.has(subject)

    def _key(self, subject: str) -> bytes:
        key = self._cached.get(subject)
        if key is None:
            key = self._cached[subject] = self.tree.key(subject)
            if len(self._cached) > CACHED_KEYS:
                self._cached.popitem(last=False)
        return key


def node_key(path: str) -> str:
    """The record key of the node at ``path``."""
    return f"/{path}"


def path_of(key: bytes | None) -> str:
    """The path in a record's key."""
    return (key or b"").decode("ascii", "replace").removeprefix("/")
