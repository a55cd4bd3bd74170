"""Sentences of a text, by their places in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nupunkt

_WORD = re.compile(r"\w")
# Lists and headings have no full stop: a new paragraph or list entry is a new sentence, as is a
# new line after a full stop, even one that could belong to an abbreviation.
_BLOCK_EDGE = re.compile(r"\n\s*\n|(?<=[.!?:;])[ \t]*\n|\n(?=\s*(?:[-*•–]|\(?\d{1,3}[.)])\s)")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of ``text`` in order, without the blanks around them: code points ``start`` to
    ``end`` (exclusive). What has neither a letter nor a digit is no sentence."""
    for block_start, block_end in _blocks(text):
        block = text[block_start:block_end]
        for start, end in nupunkt.sent_spans(block):
            sentence = block[start:end]
            if _WORD.search(sentence):
                left = len(sentence) - len(sentence.lstrip())
                yield block_start + start + left, block_start + start + len(sentence.rstrip())


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for edge in _BLOCK_EDGE.finditer(text):
        yield start, edge.end()
        start = edge.end()
    yield start, len(text)
