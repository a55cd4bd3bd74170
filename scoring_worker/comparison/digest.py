"""Which rules are at work: part of the revision of every scorer that uses them."""

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
    "snowballstemmer", "unicode-rbnf",
)  # fmt: skip
"""Libraries whose data or code moves an answer: months, units, languages, forms of companies."""


BESIDE = (
    ("safepassage.scoring_worker.weighing", ""),
    ("safepassage.scoring_worker", "forest.py"),
    ("safepassage.scoring_worker.encoders", "reading_windows.py"),
    ("safepassage.passages", "words.py"),
    ("safepassage.passages", "function_words.py"),
    ("safepassage.schemas", "hypothesis.py"),
)
"""What moves a score beside the comparison: how opinions are formed of answers and readings, which
words of a passage are read together, the words of a claim that are found again, and how a value is
put into words."""


def comparison_digest(packs: Iterable[str] = ()) -> str:
    """Hex digits that change with any line of code or data of the comparison and of what stands
    `BESIDE` it, with the versions of the libraries that it asks, and with the active ``packs``,
    by name in any order."""
    return _digest(tuple(sorted(set(packs))))


@lru_cache(maxsize=8)
def _digest(packs: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in LIBRARIES:
        digest.update(f"{name}={_version(name)};".encode())
    digest.update(f"packs={','.join(packs)};".encode())
    roots = [("safepassage.scoring_worker.comparison", ""), *BESIDE]
    if packs:
        roots.append(("safepassage.scoring_worker.packs", ""))
    for package, file in roots:
        root = files(package)
        found = [(file, root / file)] if file else _sources(root, package)
        for name, source in sorted(found, key=lambda each: each[0]):
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
