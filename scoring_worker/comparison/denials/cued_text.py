"""A passage read once: its words, its languages, and how far each denial or hypothesis reaches.

The idea is that of NegEx (Chapman et al., 2001): a cue has a scope, forward or backward, of a few
words, which ends at a conjunction or at the end of the sentence. The phrases are our own.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

from safepassage.schemas.alignment import PASSAGE_JOINT

from ..contract import Passage, Place
from .languages import CUES, Language, languages, voters
from .month_homonyms import is_month_of_date
from .tokens import Token, tokens_of

MAX_QUOTE = 20_000
"""Characters of a quote that are read for denials; beyond them nothing is known."""
MAX_AROUND = 400
"""Characters of what is before and after that are read: a sentence is seldom longer."""
_MOST_JOINTS = 32
"""Joints of a quote whose gaps are read; an elided quote has a few."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Tokens ``start`` to ``end`` (exclusive), and the sections of which they are a phrase."""

    start: int
    end: int
    sections: frozenset[str]
    sure: bool
    """False where the text may be in a language in which the same word is no cue."""


@dataclass(frozen=True, slots=True)
class CuedText:
    """``tokens`` of surroundings and quote together, with what an elided quote leaves out.
    ``offset`` is where the quote begins among their places, ``shifts`` what is to be added from
    a place of the quote on, ``unread`` whether the passage is in none of the languages that are
    read."""

    tokens: tuple[Token, ...]
    text: str
    offset: int
    shifts: tuple[tuple[int, int], ...]
    languages: tuple[Language, ...]
    cues: tuple[Cue, ...]
    marks: Mapping[str, frozenset[int]]
    """Where words are that end a reach ("close") or go on with a list ("and")."""
    unread: bool

    def span(self, place: Place) -> tuple[int, int]:
        """The tokens, first and last exclusive, of ``place`` in the quote."""
        start, end = self._at(place.start), self._at(place.end)
        first = bisect_right(self.tokens, start, key=attrgetter("end"))
        last = first
        while last < len(self.tokens) and self.tokens[last].start < end:
            last += 1
        return first, last

    def _at(self, position: int) -> int:
        shift = next((by for start, by in reversed(self.shifts) if start <= position), 0)
        return position + self.offset + shift

    def words(self, start: int, end: int) -> str:
        """Tokens ``start`` to ``end`` as the text writes them."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def is_listed(self, start: int, end: int) -> bool:
        """Whether a comma or an "and" is among the tokens: they are of several parts."""
        return any(
            self.tokens[at].text == "," or at in self.marks["and"] for at in range(start, end)
        )

    def is_in(self, section: str, at: int) -> bool:
        """Whether the token is a phrase of ``section`` in a language of the passage."""
        return any(language.has(section, self.tokens[at].text) for language in self.languages)


def _with_gaps(passage: Passage) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The quote with what it leaves out in place of its joints, and how far that moves what
    follows: (place in the quote, code points) from left to right.

    A quote may have an ellipsis of its own. Then nobody can say which joint is which, and every
    one gets all: a denial too many is for the judge, one too few for nobody.
    """
    quote = passage.quote[:MAX_QUOTE]
    if not any(passage.between):
        return quote, ()
    pieces = quote.split(PASSAGE_JOINT, _MOST_JOINTS)
    gaps = passage.between
    if len(gaps) != len(pieces) - 1:
        gaps = (PASSAGE_JOINT.join(filter(None, gaps)),) * (len(pieces) - 1)
    text, at, shift = pieces[0], len(pieces[0]), 0
    shifts = []
    for gap, piece in zip(gaps, pieces[1:], strict=True):
        joint = f" {gap.strip()[:MAX_AROUND]} " if gap.strip() else PASSAGE_JOINT
        shift += len(joint) - len(PASSAGE_JOINT)
        at += len(PASSAGE_JOINT)
        shifts.append((at, shift))
        at += len(piece)
        text += joint + piece
    return text, tuple(shifts)


def read(passage: Passage) -> CuedText:
    """The reading of ``passage``."""
    before = passage.before[-MAX_AROUND:]
    quote, shifts = _with_gaps(passage)
    after = passage.after[:MAX_AROUND] if len(passage.quote) <= MAX_QUOTE else ""
    if before and not before[-1].isspace():
        before += " "
    gap = "" if not after or after[0].isspace() else " "
    text = f"{before}{quote}{gap}{after}"
    tokens = tuple(tokens_of(text))
    spoken = _languages_of(tokens, passage.language)
    cues = tuple(_cues(text, tokens, spoken))
    return CuedText(
        tokens=tokens,
        text=text,
        offset=len(before),
        shifts=shifts,
        languages=spoken,
        cues=cues,
        marks={
            section: frozenset(cue.start for cue in cues if section in cue.sections)
            for section in ("close", "and", "except")
        },
        unread=not spoken and any(token.is_word for token in tokens),
    )


def _languages_of(tokens: tuple[Token, ...], known: str | None) -> tuple[Language, ...]:
    """The known language, or those for which most small words speak; all where none does,
    since there is then no denial either.

    Nothing where the language is one that is not read.
    """
    if known is not None:
        found = languages().get(known.casefold()[:2])
        return () if found is None else (found,)
    words = (t.text for at, t in enumerate(tokens) if not is_month_of_date(tokens, at))
    votes = Counter(code for word in words for code in voters().get(word, ()))
    most = max(votes.values(), default=0)
    return tuple(language for code, language in languages().items() if votes[code] == most)


def _cues(text: str, tokens: tuple[Token, ...], spoken: tuple[Language, ...]) -> list[Cue]:
    """Cues from left to right, none over another; the longest where several begin."""
    cues: list[Cue] = []
    several = len(spoken) > 1
    beginnings = frozenset[str]().union(*(language.cues.starts for language in spoken))
    at = 0
    for start, (word, _, _) in enumerate(tokens):
        if (word not in beginnings and "'" not in word) or start < at:
            continue
        at = start
        if several and is_month_of_date(tokens, at):
            continue
        found = [
            match
            for language in spoken
            if (match := language.cues.longest(tokens, at)) is not None
            and not _is_name(text, tokens, at, match[0], language)
        ]
        if not found:
            continue
        end = max(reached for reached, _ in found)
        sections = frozenset(
            label for reached, labels in found if reached == end for label in labels
        )
        cues.append(Cue(at, end, sections, _is_sure(tokens, at, end, spoken)))
        at = end
    return cues


def _is_name(
    text: str, tokens: tuple[Token, ...], start: int, end: int, language: Language
) -> bool:
    """Whether one capitalised word within a sentence is a name: May, and not the verb.

    German writes its nouns so.
    """
    if end - start > 1 or start == 0 or language.code == "de":
        return False
    token, before = tokens[start], tokens[start - 1]
    written = text[token.start : token.end]
    return before.is_word and written[0].isupper() and not written.isupper()


def _is_sure(tokens: tuple[Token, ...], start: int, end: int, spoken: tuple[Language, ...]) -> bool:
    """Where the text may be in several languages, one word is no cue unless it is in all of them:
    not the "no" of Portuguese ("in the"), nor "Sin" in the English name of a song."""
    return end - start > 1 or all(
        any(language.has(section, tokens[start].text) for section in CUES) for language in spoken
    )
