"""One word as it is compared: three keys, from the strictest to the most forgiving.

*Exact* drops what never changes a meaning: case, width, ligatures, the native form of digits and
characters that nobody sees. *Plain* drops accents and vowel points as well, in the scripts where
writers leave them out; in Indic scripts, Thai and kana a mark is a letter and stays. *Spelt out*
is how a keyboard without umlauts writes the word (Mueller for Müller).
"""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import regex

LONGEST_WORD = 256
"""Code points of one word that are compared; what is longer is no word of any language."""

_UNSEEN = regex.compile(
    r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\u0640]+"  # U+0640 stretches a word
)
_NOT_OF_A_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}.,'+#\-]+")
_LEFT_OUT = regex.compile(
    r"(?<=[\p{Latin}\p{Greek}]\p{M}*)\p{Mn}|[\u0300\u0301]"  # й is и and a breve: it stays
    r"|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"  # points of Hebrew
    r"|[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]"  # and of Arabic
)
_SAME_LETTER = str.maketrans(
    {
        "ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe",
        "ħ": "h", "ŧ": "t", "ё": "е", "ґ": "г", "ى": "ي", "ة": "ه", "ٱ": "ا", "ک": "ك",
        "ی": "ي", "ہ": "ه", "ھ": "ه",
    }
)  # fmt: skip
_ALEF = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ؤ": "و", "ئ": "ي"})
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


class Keys(NamedTuple):
    """The three keys of a word; each is empty where nothing of the word can be compared."""

    exact: str
    plain: str
    spelt: str


def keys_of(word: str) -> Keys:
    """The keys of one word. Never raises; reads at most ``LONGEST_WORD`` code points and marks a
    longer word by its length, so that two of them do not become the same."""
    if len(word) > LONGEST_WORD:
        head = keys_of_short(word[:LONGEST_WORD])
        rest = f"{len(word)}{hash(_exact(word)):x}"
        return Keys(*(f"{key}{rest}" for key in head))
    return keys_of_short(word)


@lru_cache(maxsize=16_384)
def keys_of_short(word: str) -> Keys:
    """The keys of a word that is known to have at most ``LONGEST_WORD`` code points."""
    if word.isascii():
        low = word.lower()
        return Keys(low, low, low)
    exact = _exact(word)
    plain = _plain(exact)
    composed = unicodedata.normalize("NFC", exact)
    return Keys(exact, plain, _plain(composed.translate(_SPELT_OUT)))


def _exact(word: str) -> str:
    """NFKC_Casefold, with digits of every script as 0 to 9 and nothing that is of no word."""
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", word)).casefold()
    folded = unicodedata.normalize("NFKC", _UNSEEN.sub("", folded)).replace("’", "'")
    if not folded.isascii():
        folded = "".join(map(_digit, folded))
    return str(_NOT_OF_A_WORD.sub("", folded))


def _digit(character: str) -> str:
    value = unicodedata.decimal(character, None)
    return character if value is None else str(value)


def _plain(exact: str) -> str:
    if exact.isascii():
        return exact
    bare = _LEFT_OUT.sub("", unicodedata.normalize("NFD", exact.translate(_ALEF)))
    return unicodedata.normalize("NFC", bare).translate(_SAME_LETTER)
