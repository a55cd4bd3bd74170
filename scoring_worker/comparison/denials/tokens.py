"""Words and marks of a text with their places in it: what the reading of denials works on."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n\s*|[^\w\s]|[\t_|]")
_APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "`": "'"})
MARK = "\n"
"""The text of every token that is a line break, however many blanks follow it."""


class Token(NamedTuple):
    """``text`` is case-folded; ``start`` and ``end`` are code points of the text as given."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is a word or a number, and no mark."""
        return self.text[0].isalnum()


def tokens_of(text: str) -> list[Token]:
    """Words, marks and line breaks of ``text``, in order; linear in its length."""
    return [_token(match) for match in _TOKEN.finditer(text)]


def _token(match: re.Match[str]) -> Token:
    text = match[0]
    folded = MARK if text[0] == "\n" else text.translate(_APOSTROPHE).casefold()
    return Token(folded, match.start(), match.end())


def phrase_of(text: str) -> str:
    """``text`` as the phrases of a language file are kept: folded tokens joined by blanks."""
    return " ".join(token.text for token in tokens_of(text) if token.text != MARK)
