"""Which comparison is at work: part of the revision of every scorer that uses it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable

_HEX_DIGITS = 8
_SUFFIXES = (".py", ".txt", ".json", ".csv")
LIBRARIES = (
    "anyascii", "babel", "cleanco", "phonenumbers", "pint", "py3langid", "rapidfuzz", "regex",
    "unicode-rbnf",
)  # fmt: skip
"""Libraries whose data or code moves an answer: months, units, languages, forms of companies."""


def comparison_digest(packs: Iterable[str] = ()) -> str:
    """Hex digits that change with any line of the comparison's code or data, with the versions
    of the libraries that it asks, and with the active ``packs``, by name in any order."""
    return _digest(tuple(sorted(set(packs))))


@lru_cache(maxsize=8)
def _digest(packs: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in LIBRARIES:
        digest.update(f"{name}={_version(name)};".encode())
    digest.update(f"packs={','.join(packs)};".encode())
    roots = [("comparison", files("scoring_worker.comparison"))]
    if packs:
        roots.append(("packs", files("scoring_worker.packs")))
    for prefix, root in roots:
        for name, source in sorted(_sources(root, prefix), key=lambda found: found[0]):
            digest.update(name.encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:_HEX_DIGITS]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for path in folder.iterdir():
        name = f"{prefix}/{path.name}"
        if path.is_dir() and path.name != "__pycache__":
            yield from _sources(path, name)
        elif path.name.endswith(_SUFFIXES):
            yield name, path
