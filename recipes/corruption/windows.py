"""Which piece of a document is quoted for a fact: too little, just enough, or a bit more."""

import random
import re

from research.known_documents import KnownDocument, KnownField

_TOKEN = re.compile(r"\S+")
_BREAK = re.compile(r"\n|(?<=[.;])\s")
MAX_PASSAGE_CHARACTERS = 400
_AFFIRMED = re.compile(r"\b(?:is|was|are|were|shall|may|will|must|has|had)\b(?! (?:not|no)\b)")


def supporting_passage(document: KnownDocument, known: KnownField, rng: random.Random) -> str:
    """The field's context, at times with a few of the tokens around it."""
    start, end = known.context_start, known.context_end
    if end - start > MAX_PASSAGE_CHARACTERS:
        start, end = _around(known, MAX_PASSAGE_CHARACTERS)
    if rng.random() < 0.3:
        start, end = widen(document.text, start, end, rng)
    elif rng.random() < 0.3:
        start, end = narrow(document, known, start, end)
    return document.text[start:end].strip()


def value_passage(document: KnownDocument, known: KnownField, rng: random.Random) -> str:
    """The value with up to four tokens either side: enough where the type needs no label."""
    start, end = widen(document.text, known.start, known.end, rng, most=4)
    return document.text[start:end].strip()


def widen(text: str, start: int, end: int, rng: random.Random, most: int = 6) -> tuple[int, int]:
    """Up to ``most`` more tokens at each end."""
    before = [match.start() for match in _TOKEN.finditer(text, max(0, start - 120), start)]
    after = [match.end() for match in _TOKEN.finditer(text, end, min(len(text), end + 120))]
    left, right = rng.randint(0, most), rng.randint(0, most)
    return (
        before[-left] if 0 < left <= len(before) else start,
        after[right - 1] if 0 < right <= len(after) else end,
    )


def narrow(document: KnownDocument, known: KnownField, start: int, end: int) -> tuple[int, int]:
    """A header's context without the label behind its value, where one is before it too."""
    ahead = any(label.start >= start and label.end <= known.start for label in document.labels)
    return (start, known.end) if ahead else (start, end)


def other_passage(document: KnownDocument, known: KnownField, rng: random.Random) -> str:
    """A sentence or line of the document that shares no word with the field's value."""
    words = _words(document.text[known.start : known.end])
    pieces = [piece.strip() for piece in _BREAK.split(document.text) if len(piece.strip()) > 12]
    free = [piece for piece in pieces if not words & _words(piece)]
    return rng.choice(free)[:MAX_PASSAGE_CHARACTERS] if free else ""


def blank_passage(document: KnownDocument, known: KnownField, rng: random.Random) -> str:
    """The context with its value cut out, or hidden, or said to be absent."""
    before = document.text[max(known.context_start, known.start - 200) : known.start]
    after = document.text[known.end : min(known.context_end, known.end + 200)]
    if not (before + after).strip():
        return ""
    filler = rng.choice(("", "", "", "N/A", "Nil", "XXXX", "[XXX]"))
    return f"{before}{filler}{after}".strip()


def denied(context: str, known: KnownField) -> str:
    """``context`` with "not" behind the verb nearest the value; empty where it has no verb."""
    at = known.start - known.context_start
    verbs = [match.end() for match in _AFFIRMED.finditer(context)]
    verbs = [end for end in verbs if not at < end <= at + known.end - known.start]
    if not verbs or len(context) > MAX_PASSAGE_CHARACTERS:
        return ""
    verb = min(verbs, key=lambda end: abs(end - at))
    return f"{context[:verb]} not{context[verb:]}".strip()


def _around(known: KnownField, width: int) -> tuple[int, int]:
    start = max(known.context_start, known.start - width // 2)
    return start, min(known.context_end, max(known.end, start + width))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 2 or word.isdigit()}
