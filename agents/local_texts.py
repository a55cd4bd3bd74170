"""The texts a worker used last, in its own memory."""

from __future__ import annotations

import sys
from collections import OrderedDict


class LocalTexts:
    """A map from digest to text that forgets the least recently used above ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._texts: OrderedDict[str, str] = OrderedDict()
        self.bytes = 0

    def get(self, digest: str) -> str | None:
        text = self._texts.get(digest)
        if text is not None:
            self._texts.move_to_end(digest)
        return text

    def put(self, digest: str, text: str) -> None:
        """Keeps ``text``, unless it alone is above the bound."""
        if digest in self._texts or sys.getsizeof(text) > self._max_bytes:
            return
        self._texts[digest] = text
        self.bytes += sys.getsizeof(text)
        while self.bytes > self._max_bytes:
            _, forgotten = self._texts.popitem(last=False)
            self.bytes -= sys.getsizeof(forgotten)
