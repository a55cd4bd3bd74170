"""Sentences of a text, so that what follows never changes one that has ended.

An answer is judged while it is being written, and its sentences have ids that count them. So the
splitter may not look at the whole text: it goes through the text word by word, and where a
sentence may have ended it decides on what is before and on one whole word behind, for ever.
What it finds in a text is therefore, by construction, the beginning of what it finds in any
longer one.
"""

import re
from collections.abc import Iterator

import nupunkt

_WORD = re.compile(r"\w")
_CHUNK = re.compile(r"\S+")
_MAY_END = re.compile(r"[.!?…]")
# Lists and headings have no full stop: a new paragraph or list entry is a new sentence, as is a
# new line after a full stop, even one that could belong to an abbreviation.
_BLOCK_EDGE = re.compile(r"\n\s*\n|(?<=[.!?:;])[ \t]*\n|\n(?=\s*(?:[-*•–]|\(?\d{1,3}[.)])\s)")

_LOOK_BACK = 1_000
"""Characters that are read to decide on a place. What does not end for longer, such as a table,
would otherwise be read again at each of its lines."""


def sentences(text: str, *, complete: bool = True) -> Iterator[tuple[int, int]]:
    """The places of the sentences of ``text`` in code points, without the blanks around them.

    What has neither a letter nor a digit is no sentence. Of a text that is not ``complete``, the
    sentences whose end is certain: they are the first ones of every text that begins with it.
    """
    start = 0
    for known in _decision_points(text):
        seen = max(start, known - _LOOK_BACK)
        # The last of them has just begun, or goes on.
        for end in [*_piece_ends(text[seen:known])][:-1]:
            yield from _sentence(text, start, seen + end)
            start = seen + end
    if complete:
        rest = start
        for end in _piece_ends(text[rest:]):
            yield from _sentence(text, start, rest + end)
            start = rest + end


def _decision_points(text: str) -> Iterator[int]:
    """Ends of what has to be read to know whether a sentence ended: the blank behind the word
    behind each possible end. A word that could still grow has no such blank yet."""
    before: re.Match[str] | None = None
    for chunk in _CHUNK.finditer(text):
        if before and chunk.end() < len(text):
            broken = "\n" in text[before.end() : chunk.start()]
            if broken or _MAY_END.search(before[0]):
                yield chunk.end() + 1
        before = chunk


def _piece_ends(text: str) -> Iterator[int]:
    start = 0
    for edge in (*(match.end() for match in _BLOCK_EDGE.finditer(text)), len(text)):
        for _, end in nupunkt.sent_spans(text[start:edge]):
            yield start + end
        start = edge


def _sentence(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if _WORD.search(piece):
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
