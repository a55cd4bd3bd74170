"""What texts of law speak of and other texts hardly do: provisions, courts and parties by role.

HalluGraph takes them as entities beside the names, dates and amounts that any text has.
"""

import re
from collections.abc import Iterator

from safepassage.scoring_worker.packs.interface import NamedThing

from .kinds import pattern_of

_NUMBER = r"\d+[A-Za-z]?(?:\.\d+)*(?:\s?\([0-9A-Za-z]{1,4}\))*"
_LAW = r"(?:[A-Z][\w'-]*\s+){1,6}?(?:Act|Code|Rules|Regulations?|Constitution|Convention|Treaty)"
_PROVISION = re.compile(
    r"(?:§§?\s*|(?<![\w.])(?:[Ss]ections?|[Ss]ec\.|ss?\.|[Aa]rticles?|[Aa]rts?\.|[Cc]lauses?|cl\.|"
    r"[Rr]ules?|[Rr]egulations?|reg\.|[Pp]aragraphs?|paras?\.|[Ss]ubsections?)\s+)"
    rf"{_NUMBER}(?:\s+of\s+the\s+{_LAW}(?:\s+\d{{4}})?)?"
)
_COURT = re.compile(
    r"\b(?:[A-Z][\w'-]*\s+){0,4}(?:Court|Tribunal)"
    r"(?:\s+(?:of|for)\s+(?:the\s+)?[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3})?|\b(?:court|tribunal)\b"
)
_PARTY = re.compile(rf"(?<![\w-])(?:{pattern_of('party')})s?(?![\w-])", re.IGNORECASE)
_SHORT = {
    "s": "section", "ss": "section", "sec": "section", "subsection": "section", "art": "article",
    "arts": "article", "cl": "clause", "reg": "regulation", "para": "paragraph",
    "paras": "paragraph",
}  # fmt: skip


def things_in(sentence: str) -> tuple[NamedThing, ...]:
    """The provisions, courts and parties of a sentence, none over another, in this order."""
    found: list[NamedThing] = []
    for thing in _candidates(sentence):
        if all(thing.end <= other.start or other.end <= thing.start for other in found):
            found.append(thing)
    return tuple(found)


def _candidates(sentence: str) -> Iterator[NamedThing]:
    for match in _PROVISION.finditer(sentence):
        yield NamedThing(match.start(), match.end(), "provision", _provision_key(match[0]))
    for kind, pattern in (("court", _COURT), ("party", _PARTY)):
        for match in pattern.finditer(sentence):
            yield NamedThing(*match.span(), kind)


def _provision_key(text: str) -> str:
    """One key for "s. 12(3)", "Section 12 (3)" and "§ 12(3)", regardless of what law they are
    of."""
    number = re.search(_NUMBER, text)
    head = re.match(r"§|[A-Za-z]+", text)
    word = head[0].casefold().rstrip(".") if head else ""
    word = "section" if word == "§" else _SHORT.get(word, word.removesuffix("s"))
    digits = re.sub(r"\s", "", number[0]).casefold() if number else ""
    return f"{word} {digits}"
