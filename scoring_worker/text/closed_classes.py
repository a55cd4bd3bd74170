"""The closed classes of words in ``closed_classes.txt``."""

from functools import lru_cache
from pathlib import Path

from .folding import keys_of


@lru_cache(maxsize=64)
def word_list(section: str) -> frozenset[str]:
    """The plain keys of a section's words. Raises ``KeyError`` for a section that is not there."""
    return _sections()[section]


@lru_cache(maxsize=1)
def _sections() -> dict[str, frozenset[str]]:
    lines = Path(__file__).with_name("closed_classes.txt").read_text(encoding="utf-8").splitlines()
    sections: dict[str, set[str]] = {}
    words: set[str] = set()
    for line in lines:
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), set())
        elif not line.startswith("#"):
            words.update(keys_of(word).plain or word for word in line.split())
    return {section: frozenset(words) for section, words in sections.items()}
