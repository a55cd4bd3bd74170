"""How far one word can stand for another: another ending, a scanner's slip, another letter."""

import re

from rapidfuzz.distance import OSA, Prefix

from safepassage.scoring_worker.text.closed_classes import word_list

_CONFUSED = re.compile(r"rn|vv|cl|ii|[01|58]")
_READ_AS = {
    "rn": "m", "vv": "w", "cl": "d", "ii": "u", "0": "o", "1": "l", "|": "l", "5": "s", "8": "b",
}  # fmt: skip

_ENDING_LETTERS = frozenset("aeiouyąęаеёиоуыэюяйьіїєαεηιουωςσνsš")
"""Letters that stand at the end of a name as an ending: vowels, and s and ν in a few languages."""
_ENDING = re.compile(r"(?:e?s|'s|s')?")


def same_but_misread(word: str, other: str) -> bool:
    """The same once what scanners confuse is read alike (``rn`` and ``m``, ``1`` and ``l``)."""
    if word == other or not (_CONFUSED.search(word) or _CONFUSED.search(other)):
        return False
    return _reread(word) == _reread(other)


def _reread(word: str) -> str:
    return _CONFUSED.sub(lambda match: _READ_AS[match[0]], word)


def one_slip_apart(word: str, other: str) -> bool:
    """One letter other, more, fewer or swapped; two in words of seven letters and more."""
    longest = max(len(word), len(other))
    if longest < 3 or longest > 64 or not (word.isalpha() and other.isalpha()):
        return False
    allowed = 1 if longest < 7 else 2
    return 0 < OSA.distance(word, other, score_cutoff=allowed) <= allowed


def inflects(word: str, other: str) -> bool:
    """Whether two words of running text may be forms of one: they share their first letters, at
    least three and three fifths of the longer, or one carries a particle before the other."""
    shared = Prefix.similarity(word, other)
    longest = max(len(word), len(other))
    if shared >= 3 and shared >= 0.6 * longest and longest - shared <= 6:
        return True
    return _begins_late(word, other)


def name_inflects(name: str, other: str, language: str | None) -> bool:
    """Whether one may be a form of the other in a language whose names take endings.

    ``language`` decides for Latin letters; Cyrillic, Greek, Georgian and Armenian ones always
    may. Elsewhere only the ``s`` of a genitive counts: *Maria* and *Marie* are two names.
    """
    base, form = sorted((name, other), key=len)
    if form.startswith(base) and _ENDING.fullmatch(form[len(base) :]):
        return len(base) >= 3
    if not declines(name, language):
        return _begins_late(name, other)
    if language == "fi" and name[:-3] == other[:-3] and {name[-3:], other[-3:]} == {"nen", "sen"}:
        return True  # Virtanen, Virtasen
    shared = Prefix.similarity(base, form)
    if shared < 3 or shared < 0.5 * len(base) or len(form) - shared > 5:
        return False
    return _changes_end(base[shared:], form[shared:], language)


def _changes_end(base: str, form: str, language: str | None) -> bool:
    """Whether a language puts the one end for the other. A consonant for a consonant is another
    name (Marconi, Marcomi), but where words soften before an ending (Helsinki, Helsingin)."""
    if not base:
        return True
    if len(base) > 2:
        return False
    if set(base) <= _ENDING_LETTERS and set(form[:1]) <= _ENDING_LETTERS:
        return True
    if len(base) == 2 and base[0] in _ENDING_LETTERS and form.startswith(base[1]):
        return True  # Marek, Marka; Paweł, Pawła
    return len(form) > len(base) and language in word_list("softening")


def declines(name: str, language: str | None) -> bool:
    """Whether names written like this take endings."""
    if language in word_list("declining"):
        return True
    first = ord(name[0])
    return 0x370 <= first <= 0x58F or 0x10A0 <= first <= 0x10FF or 0x1C90 <= first <= 0x1CBF


def with_hangul_particle(name: str, other: str) -> bool:
    """``other`` is ``name`` and a Korean particle or form of address written on to it."""
    return (
        len(name) >= 2
        and other.startswith(name)
        and "\uac00" <= name[-1] <= "\ud7a3"
        and other[len(name) :] in word_list("hangul_particles")
    )


def _begins_late(word: str, other: str) -> bool:
    """Arabic and Hebrew write articles and prepositions on to the word ("والرياض")."""
    shorter, longer = sorted((word, other), key=len)
    return (
        "\u0590" <= longer[:1] <= "\u06ff"
        and len(shorter) >= 3
        and longer.endswith(shorter)
        and len(longer) - len(shorter) <= 4
    )
