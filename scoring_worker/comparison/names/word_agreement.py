"""How far one word can replace another: another ending, a scanner's slip, another letter."""

import re
from functools import cache, lru_cache

import snowballstemmer
from rapidfuzz.distance import OSA, Prefix

from safepassage.scoring_worker.text.closed_classes import word_list

from ..locales import locale_of

_CONFUSED = re.compile(r"rn|vv|cl|ii|[01|58]")
_READ_AS = {
    "rn": "m", "vv": "w", "cl": "d", "ii": "u", "0": "o", "1": "l", "|": "l", "5": "s", "8": "b",
}  # fmt: skip

_ENDING_LETTERS = frozenset("aeiouyąęаеёиоуыэюяйьіїєαεηιουωςσνsš")
"""Letters that are at the end of a name as an ending: vowels, and s and ν in a few languages."""
_LONG_WORD, _SHORT = 5, 4
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


def mistyped(word: str, other: str) -> bool:
    """Whether a letter too many or too few is more likely a slip of the pen than another word; a
    letter changed for another stays a difference."""
    return len(word) != len(other) and len(word) >= _LONG_WORD and one_slip_apart(word, other)


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


def same_name(name: str, other: str, language: str | None) -> bool:
    """Whether one word of a name may be a form of the other: another ending where the language
    has endings, the plural of what is no name at all ("Clinics"), or another spelling."""
    if name[:2] != other[:2] and not _begins_late(name, other):
        return False
    if name_inflects(name, other, language):
        return True
    ends = {name[-1:], other[-1:]}
    gendered = ends == {"a", "o"} or name in (f"{other}a", f"{other}o") or other == f"{name}a"
    return not gendered and _same_stem(name, other, language)


def same_word(word: str, other: str, language: str | None) -> bool:
    """Whether two words of running text are one in another form: stem, ending, or spelling.

    Where the language has a stemmer it decides; elsewhere the beginnings do, as in `inflects`.
    Those who do and those to whom it is done are two: insurer and insured, lessor and lessee.
    """
    if word[:2] != other[:2] and not _begins_late(word, other):
        return _respelt(word) == _respelt(other)
    if {_side(word), _side(other)} == {"doer", "done to"}:
        return False
    if _same_stem(word, other, language) or _respelt(word) == _respelt(other):
        return True
    return not _stemmer_of(language or "en") and inflects(word, other)


def _side(word: str) -> str:
    if word.endswith(("er", "or")):
        return "doer"
    return "done to" if word.endswith(("ee", "ed", "ees")) else ""


def abbreviates(short: str, word: str, *, pointed: bool) -> bool:
    """Whether ``short`` is cut from ``word``: letters of it in their order, the first among them.
    With a point behind it ("Bros.", "Univ."); without one the last letter is the word's, and it
    has no vowel behind the first letter ("Blvd") or is four letters of eight or more ("Dept"). Of
    two letters only those of streets need no point."""
    if not 2 <= len(short) < len(word) or not (short.isalpha() and word.isalpha()):
        return False
    letters = iter(word)
    if short[0] != word[0] or not all(letter in letters for letter in short):
        return False
    if pointed:
        return True
    half = len(short) <= _SHORT and 2 * len(short) <= len(word)
    cut = half or not set(short[1:]) & set("aeiou")
    long = len(short) > 2 or short in word_list("streets")
    return cut and long and short[-1] == word[-1]


_ALGORITHMS = frozenset(snowballstemmer.algorithms())


@cache
def _stemmer_of(language: str) -> str | None:
    """The name of a language's stemmer, which is the first word of its own English name."""
    locale = locale_of(language.casefold()[:2])
    english = locale.english_name if locale else None
    name = english.split()[0].lower() if english else ""
    return name if name in _ALGORITHMS else None


def _same_stem(word: str, other: str, language: str | None) -> bool:
    """Values may be English regardless of what the passage is."""
    return any(
        _stem(word, tongue) == _stem(other, tongue)
        for tongue in dict.fromkeys((language or "en", "en"))
        if _stemmer_of(tongue)
    )


@lru_cache(maxsize=16_384)
def _stem(word: str, language: str) -> str:
    """By a stemmer of its own: one that threads share would mix up their words."""
    return str(snowballstemmer.stemmer(_stemmer_of(language)).stemWord(word))


_RESPELT = re.compile(
    r"ae|oe|our(?=$|s$|ed$|ing$)|is(?=e|ation|ing)|ys(?=e)|ll|re$|res$|ogue|grey|ph"
)
_AS_SPELT = {
    "ae": "e", "oe": "e", "our": "or", "is": "iz", "ys": "yz", "ll": "l", "re": "er",
    "res": "ers", "ogue": "og", "grey": "gray", "ph": "f",
}  # fmt: skip


_RESPELT_NAME = re.compile(r"our(?=$|s$)|is(?=e|ation|ing)|ys(?=e)|(?<=[nt])res?$")


@lru_cache(maxsize=16_384)
def _respelt(word: str, pattern: re.Pattern[str] = _RESPELT) -> str:
    """The one spelling of what is spelt in two ways: anaemia, colour, litre, organise, grey."""
    return pattern.sub(lambda match: _AS_SPELT[match[0]], word)


def same_in_english(word: str, other: str) -> bool:
    """Whether words of a name that is no person's are the British and the American spelling of
    one: Organisation, Labour, Centre."""
    return _respelt(word, _RESPELT_NAME) == _respelt(other, _RESPELT_NAME)
