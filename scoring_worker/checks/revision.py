"""Which rules are at work: part of the revision of every scorer that uses them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

_HEX_DIGITS = 8


@cache
def rules_digest() -> str:
    """Hex digits that change with any line of the checks' code or lexicons."""
    digest = hashlib.sha256()
    sources = (path for path in files(__package__).iterdir() if path.name.endswith((".py", ".txt")))
    for source in sorted(sources, key=lambda path: path.name):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:_HEX_DIGITS]
