"""Whether a passage holds the words of a value: a name, a body, a place, an identifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from scoring_worker.packs.folding import Word, fold, squeeze, words
from scoring_worker.packs.legal.places import plain_places

_UNSAID = frozenset(
    {
        "mr", "mrs", "ms", "miss", "me", "mme", "mlle", "dr", "prof", "sir", "hon", "honourable",
        "honorable", "the", "of", "and", "for", "de", "la", "le", "les", "du", "des", "et", "a",
        "an", "in", "at", "on", "to", "esq", "jr", "sr", "l", "d", "s",
    }
)  # fmt: skip
"""Words whose absence says nothing: honorifics and small words."""
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_LOOKALIKES = {"rn": "m", "vv": "w", "cl": "d", "ii": "u", "1": "l", "0": "o"}
_CONFUSED = re.compile("|".join(_LOOKALIKES))
_ABBREVIATIONS = {
    "dept": "department", "div": "division", "govt": "government", "intl": "international",
    "natl": "national", "univ": "university", "corp": "corporation", "inc": "incorporated",
    "ltd": "limited", "co": "company", "st": "saint", "ste": "sainte", "ave": "avenue",
    "assn": "association", "min": "ministry", "comm": "commission", "no": "number",
    "ft": "fort", "mt": "mount",
}  # fmt: skip


MAX_WORDS = 64
MAX_PASSAGE_WORDS = 1_000
MAX_SQUEEZED = 200
NEARLY_VERBATIM = 0.75
"""For words in their order with at most two others among them ("claims are accepted")."""
"""Words that are compared at most: the effort grows with the product of the two."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a passage bears out the words of a value.

    ``share`` of the telling words found, in [0, 1]; ``missing`` those that were not;
    ``expanded`` those of which the passage has only the initial; ``altered`` those it has in
    another spelling, ``altered_share`` of all; ``start`` and ``end`` are of what was found, in
    the folded passage.
    """

    share: float
    missing: tuple[str, ...] = ()
    expanded: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    verbatim: float = 0.0
    acronym: bool = False
    altered_share: float = 0.0
    start: int = 0
    end: int = 0


def cover(value: str, folded: str) -> Coverage:
    """Look for the words of ``value`` in a folded passage."""
    sought = plain_places(fold(value))
    every = [word.text for word in words(sought)[:MAX_WORDS]]
    sought = " ".join(every)
    telling = [word for word in every if word not in _UNSAID] or every
    if not telling:
        return Coverage(0.0)
    place = _verbatim(sought, folded)
    if place:
        return Coverage(1.0, verbatim=1.0, start=place[0], end=place[1])
    resolved = plain_places(folded)
    place = _verbatim(sought, resolved)
    if place:
        start, end = _locate(telling, folded)
        return Coverage(1.0, verbatim=1.0, start=start, end=end)
    return _by_words(telling, resolved, inflected=value == value.lower())


def _verbatim(sought: str, folded: str) -> tuple[int, int] | None:
    """Where the words of ``sought`` stand in a row, whatever stands between them."""
    pattern = r"\W*".join(re.escape(word.text) for word in words(sought))
    match = re.search(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])", folded)
    if match:
        return match.span()
    squeezed = squeeze(sought)
    if len(squeezed) < 6 or len(squeezed) > MAX_SQUEEZED or squeezed not in squeeze(folded):
        return None
    scanned = r"\W?".join(map(re.escape, squeezed))
    match = re.search(rf"(?<![a-z0-9]){scanned}(?![a-z0-9])", folded)
    return match.span() if match else None


def _by_words(telling: Sequence[str], folded: str, *, inflected: bool) -> Coverage:
    """``inflected``: other endings count as the same word; those of a name would be another."""
    passage = [word for word in words(folded)[:MAX_PASSAGE_WORDS] if not _is_article(word, folded)]
    found: list[Word] = []
    missing, expanded, altered = [], [], []
    for word in telling:
        match, how = _find(word, passage, found[-1].end if found else 0, inflected)
        if match is None:
            missing.append(word)
            continue
        found.append(match)
        if how == "expanded":
            expanded.append(word)
        elif how == "altered":
            altered.append(word)
    if missing and _is_acronym(telling, passage):
        return Coverage(1.0, acronym=True)
    start, end = _tightest(found)
    tight = not missing and not expanded and not altered and _in_a_row(found, folded)
    return Coverage(
        verbatim=NEARLY_VERBATIM if tight else 0.0,
        share=len(found) / len(telling),
        missing=tuple(missing),
        expanded=tuple(expanded),
        altered=tuple(altered),
        altered_share=len(altered) / len(telling),
        start=start,
        end=end,
    )


def _in_a_row(found: Sequence[Word], folded: str) -> bool:
    starts = [word.start for word in found]
    between = words(folded[starts[0] : found[-1].end])
    return len(found) > 1 and starts == sorted(starts) and len(between) <= len(found) + 2


def _find(
    word: str, passage: Sequence[Word], after: int, inflected: bool
) -> tuple[Word | None, str]:
    """The word of the passage that stands for ``word``, preferably behind ``after``, and how."""
    ordered = [w for w in passage if w.start >= after] + [w for w in passage if w.start < after]
    for how, agree in (("same", _inflects), *_AGREEMENTS) if inflected else _AGREEMENTS:
        for candidate in ordered:
            if agree(word, candidate.text):
                return candidate, how
    return None, ""


def _is_article(word: Word, folded: str) -> bool:
    """The "a" of "a citizen" and the "n" of "n'est" are no initials, that of "A. Green" is."""
    if len(word.text) > 1 or word.text.isdigit():
        return False
    elided = "'" in folded[word.end : word.end + 1] + folded[max(word.start - 1, 0) : word.start]
    return elided or (word.text in {"a", "i", "y"} and folded[word.end : word.end + 1] != ".")


def _same(word: str, other: str) -> bool:
    return word == other or _ABBREVIATIONS.get(word, word) == _ABBREVIATIONS.get(other, other)


def _stands_for(word: str, other: str) -> bool:
    """The value has an initial where the passage has the name: less precise, but right."""
    return len(word) == 1 and len(other) > 2 and other.startswith(word)


def _only_initial(word: str, other: str) -> bool:
    return len(word) > 1 and word.isalpha() and other == word[0]


def _same_stem(word: str, other: str) -> bool:
    """Singular and plural, and names run together by a scanner or a hyphen."""
    return len(word) > 3 and (other in {f"{word}s", f"{word}es"} or word in {f"{other}s"})


def _inflects(word: str, other: str) -> bool:
    """ "accept" and "accepted"."""
    return min(len(word), len(other)) > 3 and _ENDING.sub("", word) == _ENDING.sub("", other)


def _misread(word: str, other: str) -> bool:
    """The same but for letters that scanners confuse ("Desrnond" for "Desmond")."""
    return len(word) > 2 and _CONFUSED.sub(lambda match: _LOOKALIKES[match[0]], other) == word


def _nearly(word: str, other: str) -> bool:
    """One slip of a scanner or of the typist in a word long enough to bear it."""
    if word.isdigit() or other.isdigit() or min(len(word), len(other)) < 4:
        return False
    allowed = 1 if len(word) < 8 else 2
    return Levenshtein.distance(word, other, score_cutoff=allowed) <= allowed


_AGREEMENTS: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("same", _same),
    ("same", _stands_for),
    ("same", _same_stem),
    ("altered", _misread),
    ("altered", _nearly),
    ("expanded", _only_initial),
)
"""Ways in which a word of the passage can stand for one of the value, best first."""


def _is_acronym(telling: Sequence[str], passage: Sequence[Word]) -> bool:
    """Whether the value is an acronym of a run of the passage's words."""
    if len(telling) != 1 or not 2 <= len(telling[0]) <= 8:
        return False
    initials = "".join(w.text[0] for w in passage if w.text not in _UNSAID)
    return len(telling[0]) > 2 and telling[0] in initials


def _tightest(found: Sequence[Word]) -> tuple[int, int]:
    if not found:
        return 0, 0
    return min(w.start for w in found), max(w.end for w in found)


def _locate(telling: Sequence[str], folded: str) -> tuple[int, int]:
    return _tightest([w for w in words(folded) if w.text in telling])
