"""Phrases of several words, looked for at a place of a text, the longest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import Token, tokens_of

_ANY = "*"


@dataclass(slots=True)
class _Node:
    words: dict[str, _Node] = field(default_factory=dict)
    beginnings: dict[str, _Node] = field(default_factory=dict)
    endings: dict[str, _Node] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)

    def after(self, word: str) -> list[_Node]:
        """The nodes that ``word`` leads to."""
        found = [self.words[word]] if word in self.words else []
        if "'" not in word:
            return found
        found += [node for start, node in self.beginnings.items() if word.startswith(start)]
        found += [node for end, node in self.endings.items() if word.endswith(end)]
        return found


class Phrases:
    """A tree of phrases with labels: what is looked up is one path, so a look-up costs no more
    for a thousand phrases than for ten."""

    def __init__(self) -> None:
        self._root = _Node()

    def add(self, phrase: str, label: str) -> None:
        """Learn ``phrase`` under ``label``. A word with an apostrophe may begin or end in ``*``."""
        node = self._root
        for part in phrase.split():
            starred = part if _ANY in part else None
            for word in [starred] if starred else [token.text for token in tokens_of(part)]:
                node = _grow(node, word.casefold())
        node.labels.append(label)

    def beginnings(self) -> frozenset[str]:
        """The first words of the phrases, but for those of which ``*`` is a part."""
        return frozenset(self._root.words)

    def longest(self, tokens: Sequence[Token], at: int) -> tuple[int, tuple[str, ...]] | None:
        """(end, labels) of the longest phrase that begins with token ``at``, or None."""
        best: tuple[int, tuple[str, ...]] | None = None
        nodes = self._root.after(tokens[at].text)
        end = at + 1
        while nodes:
            labels = tuple(label for node in nodes for label in node.labels)
            if labels:
                best = (end, labels)
            if end >= len(tokens):
                break
            nodes = [deeper for node in nodes for deeper in node.after(tokens[end].text)]
            end += 1
        return best


def _grow(node: _Node, word: str) -> _Node:
    if word.startswith(_ANY):
        return node.endings.setdefault(word[1:], _Node())
    if word.endswith(_ANY):
        return node.beginnings.setdefault(word[:-1], _Node())
    return node.words.setdefault(word, _Node())
