"""Where clauses begin and end, and which of their words may say what happens.

The cues are closed classes of English (``cues.txt``). Who does it to whom, in what order and how
binding it is, a reader is asked (`entailment`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import snowballstemmer

from safepassage.passages.function_words import FUNCTION_WORDS
from safepassage.scoring_worker.manifest import file_digest
from safepassage.scoring_worker.text.closed_classes import sections_of
from safepassage.scoring_worker.text.segmentation import words_of

_PATH: Final = Path(__file__).with_name("cues.txt")
_STEM_CHARACTERS: Final = 6
BREAK: Final = re.compile(r"[;:()\[\]|\n]|\s[–—-]\s")
_PREFIXES: Final = ("re", "up", "over", "under", "mis", "out", "fore", "un", "with")
_MODAL_PARTICIPLES: Final = frozenset(
    {
        "entitled", "allowed", "permitted", "required", "obliged", "obligated", "bound",
        "compelled", "prohibited", "forbidden", "barred", "banned",
    }
)  # fmt: skip


_SECTIONS: Final = sections_of(_PATH)
_CUES: Final = {name: frozenset(words) for name, words in _SECTIONS.items() if name != "irregular"}
_IRREGULAR: Final = dict(word.split("=") for word in _SECTIONS["irregular"])
_GRAMMAR: Final = (
    frozenset().union(
        *map(
            _CUES.__getitem__,
            (
                "source", "goal", "agent", "before", "after", "with", "without", "above", "below",
                "other_prepositions", "conjunctions", "determiners", "openings", "be",
                "auxiliaries", "permission", "obligation", "prohibition", "negation",
            ),
        )
    )
    | {"need", "needs", "prior", "than"}
)  # fmt: skip
_STEMMER: Final = snowballstemmer.stemmer("english")


def cues(name: str) -> frozenset[str]:
    """The words of a class of ``cues.txt``. Raises KeyError where there is no such class."""
    return _CUES[name]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The lemma of an irregular form, else a word without its ending: "dismissed" and "dismissal"
    are one, and so are "paid" and "pays"."""
    bare = _lemma(word) or _STEMMER.stemWord(word)
    return bare[:_STEM_CHARACTERS]


def cues_digest() -> str:
    """Hex digits that change with any word of ``cues.txt``."""
    return file_digest(_PATH)


class Clauses:
    """The clauses of one sentence around its entities, which are at ``places`` in order."""

    def __init__(self, sentence: str, places: Sequence[tuple[int, int]]) -> None:
        self._text = sentence
        self._words = words_of(sentence)
        self._plain = [word.keys.plain for word in self._words]
        self._inside = [
            any(start <= word.start < end for start, end in places) for word in self._words
        ]
        self._starts = self._clause_starts()

    def clause_start(self, at: int) -> int:
        """Where the clause of the character ``at`` begins."""
        return max((start for start in self._starts if start <= at), default=0)

    def clause_end(self, at: int) -> int:
        """Where the clause of the character ``at`` ends."""
        return min((start for start in self._starts if start > at), default=len(self._text))

    def says(self, start: int, end: int) -> bool:
        """Whether a word in ``sentence[start:end]`` that belongs to no entity may say what
        happens."""
        return any(
            start <= word.start
            and word.end <= end
            and not self._inside[at]
            and is_predicate(self._plain, at)
            for at, word in enumerate(self._words)
        )

    def _clause_starts(self) -> list[int]:
        """After marks that part clauses, and where a word opens one."""
        starts = [0, *(match.end() for match in BREAK.finditer(self._text))]
        starts += [
            word.start
            for at, word in enumerate(self._words)
            if at and not self._inside[at] and self._plain[at] in cues("openings")
        ]
        return sorted(starts)


def is_predicate(plain: Sequence[str], at: int) -> bool:
    """Whether a word may say what happens: no function word, adverb or cue."""
    word = plain[at]
    if word in _MODAL_PARTICIPLES:
        return not _is_modal(plain, at)
    return (
        word[:1].isalpha()
        and word not in FUNCTION_WORDS
        and word not in _GRAMMAR
        and not (word.endswith("ly") and len(word) > 4)
    )


def _is_modal(plain: Sequence[str], at: int) -> bool:
    return plain[at] in _MODAL_PARTICIPLES and list(plain[at + 1 : at + 2]) in (["to"], ["from"])


def _lemma(word: str) -> str | None:
    """Of an irregular form, with its prefix ("repaid", "upheld"); None of any other word."""
    for prefix in ("", *_PREFIXES):
        if word.startswith(prefix) and word[len(prefix) :] in _IRREGULAR:
            return prefix + _IRREGULAR[word[len(prefix) :]]
    return None
