"""The words with which a language denies, supposes and says "none".

They are in the language's file (`comparison.languages`). In a word with an apostrophe ``*``
represents its other part ("d'*", "*n't"). The sections:

- ``words``, ``prepositions``, ``verbs``: common small words, by which the language is known and
  by which a list is told from a new clause, with ``noun article``; ``concord: yes`` where two
  denials are one.
- ``no`` denies the things that follow, and a list of them; ``not`` the words right behind it;
  ``after`` what is before it; ``except`` what follows, unless that is denied already ("no
  injury except a fracture"); ``prefix`` the second part of a word ("non-exclusive"). ``pseudo``
  looks like a denial without being one; ``doubt`` is a denial denied ("not ruled out"): a
  hypothesis.
- ``undone`` are participles that together with a ``not`` deny what is before them ("are not
  ordered"); ``cancelled`` does so by itself, and as a cell or in brackets of its whole row.
- ``instead`` says that what follows no longer counts, ``replaced`` what is before; ``once``
  that what follows counted earlier.
- ``if`` and ``if after`` make a hypothesis of what follows or precedes, ``unsure`` does so beyond
  doubt; ``due`` plans what follows, which ``turned`` behind it says did not come.
- ``someone`` speaks of another person than the one the document is about, surely so behind
  ``whose``; ``family`` does by itself.
- ``close`` ends the reach of all these; ``and`` goes on with a list.
- ``none``, ``unstated`` and ``either`` are values and entries that say "none", that
  nothing is stated, or one of the two; ``yes`` and ``no answer`` are truth values, ``yes said``
  and ``no said`` how the rows of a form answer.
- ``asks``, ``asks if``, ``asks once`` and ``asks someone`` are words of entity types that ask for
  what is denied, supposed, of an earlier time or said of others, and for which it is therefore
  right.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import product

from ..languages import Sections, sections_by_language
from .tokens import Token, phrase_of, tokens_of

_ANY = "*"


class Phrases:
    """Phrases with labels, each looked up by its words. ``starts`` are the first words with the
    most words of a phrase that begins so."""

    def __init__(self, labelled: Iterable[tuple[str, str]]) -> None:
        self._labels: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        self.starts: defaultdict[str, int] = defaultdict(int)
        for phrase, label in labelled:
            words = tuple(word for part in phrase.split() for word in _words(part))
            self._labels[words].append(label)
            self.starts[words[0]] = max(self.starts[words[0]], len(words))
        self._any = sorted({word for words in self._labels for word in words if _ANY in word})

    def longest(self, tokens: Sequence[Token], at: int) -> tuple[int, tuple[str, ...]] | None:
        """(end, labels) of the longest phrase that begins with token ``at``, or None."""
        most = max(self.starts.get(word, 0) for word in self._forms(tokens[at].text))
        for end in range(min(len(tokens), at + most), at, -1):
            written = product(*(self._forms(token.text) for token in tokens[at:end]))
            labels = [label for words in written for label in self._labels.get(words, ())]
            if labels:
                return end, tuple(labels)
        return None

    def _forms(self, word: str) -> list[str]:
        """``word``, and as the phrases have it where ``*`` may represent a part of it."""
        return [word, *(one for one in self._any if "'" in word and fnmatchcase(word, one))]


def _words(part: str) -> list[str]:
    return [part.casefold()] if _ANY in part else [token.text for token in tokens_of(part)]


CUES = (
    "prefix", "no", "not", "except", "after", "cancelled", "instead", "replaced", "once", "pseudo",
    "doubt", "if", "if after", "unsure", "due", "someone", "family", "close", "and",
)  # fmt: skip
"""Sections that are looked for in running text, as one set of phrases."""
_TURNING = tuple(section for section in CUES if section not in {"pseudo", "close", "and"})


@dataclass(frozen=True, slots=True)
class Language:
    """What one language has: the phrases of each section as they are written and folded, and
    the cues to look for."""

    code: str
    raw: Mapping[str, Sequence[str]]
    sections: Mapping[str, frozenset[str]]
    cues: Phrases
    concord: bool

    def has(self, section: str, phrase: str) -> bool:
        """Whether ``phrase``, folded by `tokens.phrase_of`, is in ``section``."""
        return phrase in self.sections.get(section, frozenset())


@cache
def languages() -> Mapping[str, Language]:
    """Every language that is read, by its code."""
    return {code: _language(code, own) for code, own in sections_by_language(None).items()}


def _language(code: str, own: Sections) -> Language:
    articles = sections_by_language("noun").get(code, {}).get("article", ())
    raw = dict.fromkeys(CUES, ()) | dict(own) | {"article": articles}
    cues = Phrases((phrase, section) for section in CUES for phrase in raw[section])
    folded = {section: frozenset(map(phrase_of, phrases)) for section, phrases in raw.items()}
    concord = "yes" in raw.get("concord", ())
    return Language(code, raw, folded, cues, concord)


@cache
def voters() -> Mapping[str, tuple[str, ...]]:
    """The languages that a token speaks for: those among whose small words or denials it is."""
    votes: dict[str, list[str]] = {}
    for code, language in languages().items():
        small = language.sections["words"] | language.sections["verbs"]
        denials = language.sections["no"] | language.sections["not"] | language.sections["none"]
        for word in sorted(small | {phrase for phrase in denials if " " not in phrase}):
            votes.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in votes.items()}


@dataclass(frozen=True, slots=True)
class Telling:
    """``words``: one of every cue that turns a value, of few cues and no small word. ``begin``
    and ``end``: how such words with an apostrophe begin or end ("d'*", "*n't")."""

    words: frozenset[str]
    begin: tuple[str, ...]
    end: tuple[str, ...]

    def among(self, words: Sequence[str]) -> bool:
        """Whether any of a text's folded ``words`` tells of a denial or a hypothesis."""
        return not self.words.isdisjoint(words) or any(
            "'" in word and (word.startswith(self.begin) or word.endswith(self.end))
            for word in words
        )


@cache
def telling(code: str | None) -> Telling:
    """What tells of a denial in language ``code``, or in any that is read: a passage with none of
    it denies and supposes nothing."""
    told: list[list[str]] = []
    starred: set[str] = set()
    for language in (one for one in languages().values() if code in (None, one.code)):
        small = language.sections["words"] | language.sections["verbs"]
        for phrase in (phrase for section in _TURNING for phrase in language.raw[section]):
            if "'" in phrase:  # with its parts as the text has them
                starred.update(part for part in phrase.split() if "'" in part)
            else:
                plain = [token.text for token in tokens_of(phrase) if token.text[0].isalpha()]
                told.append([word for word in plain if word not in small] or plain)
    words: set[str] = set()
    for several in sorted(filter(None, told), key=len):
        if words.isdisjoint(several):
            words.add(max(several, key=len))
    begin = sorted({part.rstrip("*").casefold() for part in starred if not part.startswith("*")})
    end = sorted({part.lstrip("*").casefold() for part in starred if part.startswith("*")})
    return Telling(frozenset(words), tuple(begin), tuple(end))


@cache
def in_any(section: str) -> frozenset[str]:
    """The phrases of ``section`` in every language together."""
    return frozenset().union(*(lang.sections.get(section, ()) for lang in languages().values()))
