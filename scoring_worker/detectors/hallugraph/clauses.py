"""How a clause says what it says: who does it, to whom, in what order, and how binding it is.

The words between two entities are mostly function words, and these decide: "from Acme to Jones" is
not "from Jones to Acme", before is not after, may is not must. Without a parser, each entity gets a
role from the word that governs it and from where the predicate stands, and each stretch of text a
force from the modal nearest before its end. The cues are closed classes of English (``cues.txt``);
a text in another language has roles and forces only where its words are there too.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal

import snowballstemmer

from safepassage.passages.function_words import FUNCTION_WORDS
from safepassage.scoring_worker.manifest import file_digest
from safepassage.scoring_worker.text.closed_classes import sections_of
from safepassage.scoring_worker.text.segmentation import words_of

Role = Literal[
    "doer", "taker", "goal", "source", "before", "after", "with", "without", "above", "below",
    "governed", "",
]  # fmt: skip
"""Of an entity in its clause: who acts, what is acted on, or the preposition that governs it, where
"governed" is any other one; "" is nothing that could be told apart."""
Force = Literal["permission", "obligation", "prohibition", "release", ""]
"""How binding a clause is; "release" is an obligation that is denied ("need not")."""

_PATH: Final = Path(__file__).with_name("cues.txt")
_STEM_CHARACTERS: Final = 6
_NOUN_PHRASE: Final = 3
"""Words between an entity and the article of its noun phrase."""
_PARTICIPLE_WITHIN: Final = 3
_BREAK: Final = re.compile(r"[;:()\[\]|\n]|\s[–—-]\s")
_OPPOSED: Final = frozenset(
    {
        frozenset(pair)
        for pair in (
            ("doer", "taker"), ("doer", "goal"), ("doer", "source"), ("doer", "governed"),
            ("source", "goal"), ("before", "after"), ("with", "without"), ("above", "below"),
        )
    }
)  # fmt: skip
_PREPOSITIONS: Final[tuple[Role, ...]] = (
    "source", "goal", "before", "after", "with", "without", "above", "below",
)  # fmt: skip
_TWO_WORDS: Final[dict[tuple[str, str], Role]] = {
    ("prior", "to"): "before", ("previous", "to"): "before", ("subsequent", "to"): "after",
    ("earlier", "than"): "before", ("sooner", "than"): "before", ("later", "than"): "after",
}  # fmt: skip
_PREFIXES: Final = ("re", "up", "over", "under", "mis", "out", "fore", "un", "with")
_MODAL_PARTICIPLES: Final = frozenset(
    {
        "entitled", "allowed", "permitted", "required", "obliged", "obligated", "bound",
        "compelled", "prohibited", "forbidden", "barred", "banned",
    }
)  # fmt: skip
_NEED: Final = frozenset({"need", "needs"})
_HAVE: Final = frozenset({"has", "have", "had"})
_ORDERS: Final = frozenset({"before", "after"})
_CONFLICTS: Final = frozenset(
    {
        ("permission", "obligation"), ("obligation", "permission"), ("", "permission"),
        ("permission", "prohibition"), ("prohibition", "permission"),
        ("obligation", "prohibition"), ("prohibition", "obligation"), ("", "prohibition"),
        ("prohibition", ""), ("obligation", "release"), ("release", "obligation"),
        ("", "release"), ("release", ""), ("release", "prohibition"), ("prohibition", "release"),
    }
)  # fmt: skip
"""(what is said, what the source says). A duty may be told as a fact ("pays" for "shall pay") and a
fact as a duty or a possibility; a possibility is told as nothing stronger."""


@cache
def cues(name: str) -> frozenset[str]:
    """The words of a class of ``cues.txt``. Raises KeyError where there is no such class."""
    return frozenset(word for word in _sections()[name] if "=" not in word)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The lemma of an irregular form, else a word without its ending: "dismissed" and "dismissal"
    are one, and so are "paid" and "pays"."""
    bare = _lemma(word) or _stemmer().stemWord(word)
    return bare[:_STEM_CHARACTERS]


@lru_cache(maxsize=8_192)
def stems(text: str) -> tuple[str, ...]:
    """The stems of a text's content words, in order; adverbs in "-ly" say how, not what."""
    plain = [word.keys.plain for word in words_of(text)]
    return tuple([stem(word) for at, word in enumerate(plain) if _is_predicate(plain, at)])


@lru_cache(maxsize=8_192)
def opposites(text: str) -> frozenset[str]:
    """The classes of prepositions in ``text`` that have an opposite ("before", "with", "above"),
    and "and" and "or"."""
    words = {word.keys.plain for word in words_of(text)}
    return frozenset(
        {role for role in _PREPOSITIONS if words & cues(role)} | (words & {"and", "or"})
    )


def is_negated(text: str) -> bool:
    """Whether a word of ``text`` says "not", as English says it."""
    return any(word.keys.plain in cues("negation") for word in words_of(text))


def cues_digest() -> str:
    """Hex digits that change with any word of ``cues.txt``."""
    return file_digest(_PATH)


class Clauses:
    """The clauses of one sentence around its entities, which stand at ``places`` in order."""

    def __init__(self, sentence: str, places: Sequence[tuple[int, int]]) -> None:
        self._text = sentence
        self._places = places
        self._words = words_of(sentence)
        self._plain = [word.keys.plain for word in self._words]
        self._inside = [
            any(start <= word.start < end for start, end in places) for word in self._words
        ]
        self._starts = self._clause_starts()
        self._roles: list[Role] = []
        for number in range(len(places)):
            self._roles.append(self._role(number))

    def role(self, number: int) -> Role:
        """The role of the entity of that number."""
        return self._roles[number]

    def clause_start(self, at: int) -> int:
        """Where the clause of the character ``at`` begins."""
        return max((start for start in self._starts if start <= at), default=0)

    def clause_end(self, at: int) -> int:
        """Where the clause of the character ``at`` ends."""
        return min((start for start in self._starts if start > at), default=len(self._text))

    def between(self, start: int, end: int) -> tuple[str, ...]:
        """Stems of the content words in ``sentence[start:end]`` that belong to no entity."""
        free = (at for at in self._free(start, end) if _is_predicate(self._plain, at))
        return tuple([stem(self._plain[at]) for at in free])

    def force(self, end: int) -> Force:
        """The force that holds at ``end``: of the modal nearest before it in its clause."""
        start = self.clause_start(end - 1)
        nearest: Force = ""
        for at in self._free(start, end):
            nearest = self._force_of(at) or nearest
        return nearest

    def _free(self, start: int, end: int) -> Iterator[int]:
        """The words within ``sentence[start:end]`` that belong to no entity."""
        for at, word in enumerate(self._words):
            if start <= word.start and word.end <= end and not self._inside[at]:
                yield at

    def _force_of(self, at: int) -> Force:
        word, following = self._plain[at], self._plain[at + 1 : at + 2]
        denied = any(one in cues("negation") for one in self._plain[max(0, at - 2) : at + 2])
        participle = word in _MODAL_PARTICIPLES
        force: Force = ""
        if participle and not _is_modal(self._plain, at):
            return force
        if word in cues("prohibition"):
            force = "permission" if denied and word != "cannot" else "prohibition"
        elif word in cues("permission"):
            force = "prohibition" if denied else "permission"
        elif word in _NEED or (word in _HAVE and following == ["to"]):
            force = "release" if denied else "obligation"
        elif word in cues("obligation"):
            force = "obligation"
            if denied:
                force = "release" if participle else "prohibition"
        return force

    def _clause_starts(self) -> list[int]:
        """After marks that part clauses, and where a word opens one."""
        starts = [0, *(match.end() for match in _BREAK.finditer(self._text))]
        starts += [
            word.start
            for at, word in enumerate(self._words)
            if at and not self._inside[at] and self._plain[at] in cues("openings")
        ]
        return sorted(starts)

    def _role(self, number: int) -> Role:
        start, _ = self._places[number]
        at = sum(word.start < start for word in self._words)
        clause = self.clause_start(start)
        head = self._noun_phrase(at, clause)
        before = self._plain[head - 1] if head and self._words[head - 1].start >= clause else ""
        governed = self._governed(head, before)
        if governed is not None:
            return governed
        if self.acts(number):
            return "taker" if self._is_passive(number) else "doer"
        if before in cues("conjunctions") or self._text[:start].rstrip().endswith(","):
            return self._roles[number - 1] if number else ""
        verbs = any(
            not self._inside[near]
            and (_is_predicate(self._plain, near) or self._plain[near] in cues("auxiliaries"))
            for near in range(head)
            if self._words[near].start >= clause
        )
        return "taker" if verbs else ""

    def _noun_phrase(self, at: int, clause: int) -> int:
        """The number of the first word of the noun phrase of the entity that word ``at`` begins."""
        for back in range(1, _NOUN_PHRASE + 1):
            near = at - back
            if near < 0 or self._words[near].start < clause or self._inside[near]:
                break
            if self._plain[near] in cues("determiners"):
                return near
            if self._plain[near] in FUNCTION_WORDS or self._plain[near] in _grammar():
                break
        return at

    def _governed(self, head: int, before: str) -> Role | None:
        """The role that the preposition ``before`` word ``head`` gives; None where none stands."""
        previous = self._plain[head - 2] if head > 1 else ""
        if (previous, before) in _TWO_WORDS:
            return _TWO_WORDS[previous, before]
        if before == "by":
            # Without a participle before it, "by" is a time or a manner.
            near = self._plain[max(0, head - 4) : head - 1]
            return "doer" if any(map(_is_participle, near)) else ""
        named = (role for role in _PREPOSITIONS if before in cues(role))
        return next(named, "governed" if before in cues("other_prepositions") else None)

    def acts(self, number: int) -> bool:
        """Whether a predicate follows the entity of that number, with what is "of" it: it is the
        subject then."""
        end = self._places[number][1]
        at = sum(word.start < end for word in self._words)
        if at >= len(self._words) or self._text[end : self._words[at].start].strip():
            return False
        if self._plain[at] == "of" and number + 1 < len(self._places):
            return self.acts(number + 1)
        return not self._inside[at] and (
            self._plain[at] in cues("auxiliaries") or _is_predicate(self._plain, at)
        )

    def _is_passive(self, number: int) -> bool:
        """Whether a form of "be" with a participle follows the entity, and what is "of" it."""
        end = self._places[number][1]
        at = sum(word.start < end for word in self._words)
        if self._plain[at] == "of":
            return self._is_passive(number + 1)
        window = self._plain[at : at + 2 + _PARTICIPLE_WITHIN]
        for near, word in enumerate(window[:-1]):
            if word in cues("be"):
                following = window[near + 1 : near + 1 + _PARTICIPLE_WITHIN]
                return any(
                    _is_participle(one) and not _is_modal(following, place)
                    for place, one in enumerate(following)
                )
        return False


def opposed(mine: str, theirs: str) -> bool:
    """Whether one entity cannot have both roles in what is said once."""
    return frozenset((mine, theirs)) in _OPPOSED


def conflicts(mine: Force, theirs: Force) -> bool:
    """Whether a text of force ``theirs`` does not bear out one of force ``mine``."""
    return (mine, theirs) in _CONFLICTS


def order(first: Role, second: Role) -> int:
    """Of two entities by their roles: -1 the first is earlier, 1 the second is; 0 nothing said."""
    if (first in _ORDERS) == (second in _ORDERS):
        return 0
    if second in _ORDERS:
        return -1 if second == "before" else 1
    return 1 if first == "before" else -1


def _is_predicate(plain: Sequence[str], at: int) -> bool:
    """Whether a word may say what happens: no function word, adverb or cue."""
    word = plain[at]
    if word in _MODAL_PARTICIPLES:
        return not _is_modal(plain, at)
    return (
        word[:1].isalpha()
        and word not in FUNCTION_WORDS
        and word not in _grammar()
        and not (word.endswith("ly") and len(word) > 4)
    )


def _is_modal(plain: Sequence[str], at: int) -> bool:
    """Whether a participle says how binding something is ("required to"), not what happens."""
    return plain[at] in _MODAL_PARTICIPLES and list(plain[at + 1 : at + 2]) in (["to"], ["from"])


def _is_participle(word: str) -> bool:
    return _lemma(word) is not None or (len(word) > 3 and word.endswith("ed"))


def _lemma(word: str) -> str | None:
    """Of an irregular form, with its prefix ("repaid", "upheld"); None of any other word."""
    known = _irregular()
    if word in known:
        return known[word]
    prefix = next((p for p in _PREFIXES if word.startswith(p) and word[len(p) :] in known), None)
    return None if prefix is None else prefix + known[word[len(prefix) :]]


@cache
def _grammar() -> frozenset[str]:
    names = (
        "source", "goal", "agent", "before", "after", "with", "without", "above", "below",
        "other_prepositions", "conjunctions", "determiners", "openings", "be", "auxiliaries",
        "permission", "obligation", "prohibition", "negation",
    )  # fmt: skip
    return frozenset().union(*map(cues, names)) | _NEED | {"prior", "than"}


@cache
def _irregular() -> dict[str, str]:
    return {past: lemma for past, _, lemma in (w.partition("=") for w in _sections()["irregular"])}


@cache
def _sections() -> dict[str, list[str]]:
    return sections_of(_PATH)


@cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")
