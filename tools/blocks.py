"""Generated blocks in README and documentation: found by their marks, filled by name.

A block starts with ``<!-- generated: NAME -->`` and ends with ``<!-- end of NAME -->``.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Makers = Mapping[str, Callable[[], str]]

_BLOCK = re.compile(
    r"(?P<start><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of (?P=name) -->)",
    re.DOTALL,
)
_START = re.compile(r"<!-- generated: ([\w-]+) -->")


def pages() -> list[Path]:
    """README and every page of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(page: str, makers: Makers) -> str:
    """``page`` with each of its blocks as its maker writes it now.

    Raises:
        KeyError: no maker has the name of a block.
        ValueError: a block has no end.
    """
    starts, blocks = _START.findall(page), [m["name"] for m in _BLOCK.finditer(page)]
    if starts != blocks:
        raise ValueError(f"blocks without an end: {set(starts) - set(blocks)}")

    def fill(block: re.Match[str]) -> str:
        return f"{block['start']}\n{makers[block['name']]().strip()}\n\n{block['end']}"

    return _BLOCK.sub(fill, page)
