"""The closed classes of words in ``closed_classes.txt``."""

from functools import cache
from pathlib import Path

from .folding import keys_of


def word_list(section: str) -> frozenset[str]:
    """The plain keys of a section's words. Raises ``KeyError`` for a section that is not there."""
    return _sections()[section]


@cache
def _sections() -> dict[str, frozenset[str]]:
    sections = sections_of(Path(__file__).with_name("closed_classes.txt"))
    return {
        section: frozenset(keys_of(word).plain or word for word in words)
        for section, words in sections.items()
    }


def sections_of(path: Path) -> dict[str, list[str]]:
    """The words of a file by the ``[section]`` that they are under."""
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in lines_of(path):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return sections


def lines_of(path: Path) -> list[str]:
    """The lines of a file but empty ones and comments, which begin with ``#``."""
    return [line for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
