"""The word lists and templates beside this module, read once."""

from functools import cache
from importlib.resources import files

SEPARATOR = " | "


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("# ")]


@cache
def lexicon() -> dict[str, tuple[str, ...]]:
    """List name to entries, e.g. ``lexicon()["city"][0] == "Toronto, Ontario"``."""
    named = (line.partition(": ") for line in _lines("lexicon.txt"))
    return {name: tuple(entries.split(SEPARATOR)) for name, _, entries in named}


@cache
def blocks(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of ``name`` under each ``== heading``."""
    found: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("== "):
            current = found.setdefault(line.removeprefix("== "), [])
        else:
            current.append(line)
    return {heading: tuple(lines) for heading, lines in found.items()}
