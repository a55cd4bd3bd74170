"""Words and marks of a text with their places in it: what the reading of denials works on."""

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n\s*|[^\w\s]|[\t_|]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
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


_made = tuple.__new__
"""Makes a tuple with names in half the time of calling its class: a passage has many tokens."""


def tokens_of(text: str) -> list[Token]:
    """Words, marks and line breaks of ``text``, in order; linear in its length."""
    folded = _folded(text)
    if len(folded) == len(text):  # folded as a whole: no character changes its place
        found = [_made(Token, (m[0], m.start(), m.end())) for m in _TOKEN.finditer(folded)]
    else:
        found = [Token(_folded(m[0]), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    if "\n" not in text:
        return found
    return [t._replace(text=MARK) if t.text[0] == "\n" else t for t in found]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return text.replace("’", "'").replace("‘", "'").casefold()


def small_words(text: str) -> list[str]:
    """The folded words of ``text`` without their places: a fifth of the work of `tokens_of`."""
    return _WORD.findall(_folded(text))


def small_words_of(*texts: str) -> list[str]:
    """The small words of several texts that blanks part; of the last few hundred quotes they are
    remembered, since both their language and their denials are looked for by them."""
    return [word for text in texts if text for word in _kept(text)]


@lru_cache(maxsize=256)
def _kept(text: str) -> tuple[str, ...]:
    return tuple(small_words(text))


def phrase_of(text: str) -> str:
    """``text`` as the phrases of a language file are kept: folded tokens joined by blanks."""
    return " ".join(token.text for token in tokens_of(text) if token.text != MARK)
