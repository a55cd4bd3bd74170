"""Words that make a date vague or relative: the sections ``date …`` of a language's file
(`comparison.languages`), which are read folded, without case and accents.

``part`` and ``after`` are before and behind a month, a year or a quarter of which only a part is
meant; ``about`` is before a date that is not meant exactly; ``relative`` is a date that only a
calendar beside the text could tell. ``season`` is a part of a year, ``quarter`` what quarters are
called. A language with ``relative`` is one whose silence about dates is believed.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, get_args

from ..languages import sections_by_language
from .cldr import base
from .tokens import Token, tokens

Phrase = tuple[str, ...]
Role = Literal["part", "after", "about", "relative", "season", "quarter"]


class Lexicon:
    """The phrases of one language, or of all, by their first word."""

    def __init__(self, phrases: dict[Role, set[Phrase]]) -> None:
        self._phrases = phrases
        self._first = {role: {phrase[0] for phrase in several} for role, several in phrases.items()}

    def ends_with(self, found: Sequence[Token], end: int, role: Role) -> bool:
        """Whether a phrase is right before token ``end``."""
        several = self._phrases.get(role, set())
        words: list[str] = []
        for at in range(end - 1, max(-1, end - 8), -1):
            if found[at].kind == "word":
                words.insert(0, found[at].text)
                if tuple(words) in several:
                    return True
            elif found[at].text not in "-'’.":
                return False
        return False

    def begins_at(self, found: Sequence[Token], start: int, role: Role) -> bool:
        """Whether a phrase begins at token ``start``; signs within it do not count."""
        if start >= len(found) or found[start].text not in self._first.get(role, ()):
            return False
        words = tuple(t.text for t in found[start : start + 8] if t.kind != "sign")
        return any(words[:count] in self._phrases[role] for count in range(1, len(words) + 1))

    def anywhere(self, found: Sequence[Token], role: Role) -> bool:
        """Whether a phrase is anywhere."""
        return any(self.begins_at(found, at, role) for at in range(len(found)))


def lexicon(language: str | None) -> Lexicon:
    """What is known of ``language``; None or one without words of its own: of every language."""
    code = base(language)
    return _lexicon(code if code in _lines() else None)


def is_known(language: str | None) -> bool:
    """Whether a passage of the language that shows no date is believed to have none."""
    return "relative" in _lines().get(base(language) or "", {})


@cache
def _lexicon(code: str | None) -> Lexicon:
    merged: dict[Role, set[Phrase]] = {}
    for language, roles in _lines().items():
        if code in (None, language):
            for role, phrases in roles.items():
                merged.setdefault(role, set()).update(phrases)
    return Lexicon(merged)


@cache
def _lines() -> dict[str, dict[Role, set[Phrase]]]:
    return {
        code: {role: set(_phrases(own[role])) for role in get_args(Role) if role in own}
        for code, own in sections_by_language("date").items()
    }


def _phrases(written: Iterable[str]) -> Iterator[Phrase]:
    for phrase in written:
        words = tuple(token.text for token in tokens(phrase) if token.kind == "word")
        if words:
            yield words
