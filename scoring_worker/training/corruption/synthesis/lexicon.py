"""The word lists and templates beside this module, read once."""

from pathlib import Path

SEPARATOR = " | "


def _lines(name: str) -> list[str]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("# ")]


LEXICON = {
    name: tuple(entries.split(SEPARATOR))
    for name, _, entries in (line.partition(": ") for line in _lines("lexicon.txt"))
}
"""List name to entries, e.g. ``LEXICON["city"][0] == "Toronto, Ontario"``."""


def blocks(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of ``name`` under each ``== heading``."""
    found: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("== "):
            current = found.setdefault(line.removeprefix("== "), [])
        else:
            current.append(line)
    return {heading: tuple(lines) for heading, lines in found.items()}
