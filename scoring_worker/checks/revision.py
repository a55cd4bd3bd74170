"""Which rules are at work: part of the revision of every scorer that uses them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

_HEX_DIGITS = 8
_PACKS = (
    "scoring_worker.packs", "scoring_worker.packs.legal", "scoring_worker.packs.contracts",
)  # fmt: skip


@cache
def rules_digest() -> str:
    """Hex digits that change with any line of the checks' code or of the packs' lexicons."""
    digest = hashlib.sha256()
    folders = [files(__package__), *map(files, _PACKS)]
    sources = (path for folder in folders for path in folder.iterdir())
    for source in sorted(
        (path for path in sources if path.name.endswith((".py", ".txt"))),
        key=lambda path: path.name,
    ):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:_HEX_DIGITS]
