"""Which script and which language a text is in, or that nobody can say.

Most scripts with one language name it by themselves. The rest is asked of py3langid: naive Bayes
over byte n-grams with its weights in the wheel, offline, deterministic, and honest about its own
doubt; of the others, cld3 is twice as fast and sure of wrong answers, lingua and langidentify
weigh tens of megabytes, heliport is GPL, and fastText's weights are in no wheel.
"""

import unicodedata
from collections import Counter
from functools import lru_cache

import regex
from py3langid.langid import MODEL_FILE, LanguageIdentifier

READ = 400
"""Code points of a text that are read: more changes the answer no longer."""
SURE = 0.6
"""A language below this confidence is unknown."""
_FEWEST_LETTERS = 12
"""Letters that a text in a shared script needs: a name alone is in every language."""
_SAMPLES, _SAMPLE = 4, 300
"""Pieces of a document that are read, and their code points."""
_LONG_ENOUGH, _LONG_ENOUGH_DENSE = 200, 50
"""Letters that the pieces of a document need: of a line or two its passages know as much."""
_PROSE = 0.75
"""Letters among its characters: a receipt's names and figures are in no language."""
_AGREED = 0.8

_SCRIPTS = (
    "Latn Grek Cyrl Armn Hebr Arab Syrc Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai"
    " Laoo Tibt Mymr Geor Hang Ethi Cher Khmr Mong Hira Kana Bopo Hani Java Nkoo Tfng"
)
_SCRIPT = regex.compile(
    "|".join(rf"(?P<{code}>\p{{Script={code}}})" for code in _SCRIPTS.split()) + "|(?P<Kana>[ーｰﾞﾟ])"
)
_ONE_LANGUAGE = {
    "Grek": "el", "Armn": "hy", "Thaa": "dv", "Guru": "pa", "Gujr": "gu", "Orya": "or",
    "Taml": "ta", "Telu": "te", "Knda": "kn", "Mlym": "ml", "Sinh": "si", "Thai": "th",
    "Laoo": "lo", "Mymr": "my", "Geor": "ka", "Hang": "ko", "Khmr": "km",
}  # fmt: skip
_DENSE = frozenset({"Hani", "Jpan", "Hang"})
"""Scripts of which a letter is a syllable or a word."""


def script_of(text: str) -> str:
    """The ISO 15924 code of the script that most letters of the first 400 code points are in;
    "Jpan" where kana are among Han characters, "Zyyy" where there is no letter of a known one."""
    if text.isascii():
        return "Latn" if any(map(str.isalpha, text[:READ])) else "Zyyy"
    counted: Counter[str] = Counter()
    for character, times in Counter(text[:READ]).items():
        script = _script(character)
        if script:
            counted[script] += times
    if not counted:
        return "Zyyy"
    kana = counted["Hira"] + counted["Kana"]
    if kana and kana + counted["Hani"] >= max(counted.values()):
        return "Jpan"
    return max(counted, key=lambda script: (counted[script], script))


@lru_cache(maxsize=16_384)
def _script(character: str) -> str:
    """Empty for what is no letter, or one of a script without a code here."""
    found = _SCRIPT.match(character) if character.isalpha() else None
    return str(found.lastgroup) if found else ""


def language_of(text: str) -> tuple[str | None, float]:
    """The ISO 639-1 code of a text's language and a confidence in [0, 1]; None where it is
    unknown: too short for its script, between two languages, or in one that is not known.

    Reads 400 code points. Never raises.
    """
    return _language(text[:READ])


@lru_cache(maxsize=1_024)
def _language(text: str) -> tuple[str | None, float]:
    script = script_of(text)
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script], 1.0
    if script == "Jpan":
        return "ja", 1.0
    letters = sum(map(str.isalpha, text))
    if script == "Zyyy" or letters < (4 if script == "Hani" else _FEWEST_LETTERS):
        return None, 0.0
    code, confidence = _identifier().classify(text.lower() if text.isupper() else text)
    return (str(code) if confidence >= SURE else None), float(confidence)


def language_of_document(text: str) -> tuple[str | None, float]:
    """The language of a document, from at most four pieces of 300 code points: None where they
    do not agree, are too short to tell, or are no prose.

    A wrong language does more harm than none: it decides what a comma in a number means.
    """
    step = max(_SAMPLE, (len(text) - _SAMPLE) // (_SAMPLES - 1))
    starts = range(0, min(len(text), step * _SAMPLES), step)
    pieces = [text[start : start + _SAMPLE] for start in starts]
    read = "".join("".join(pieces).split())
    letters = sum(unicodedata.category(character)[0] in "LM" for character in read)
    enough = _LONG_ENOUGH_DENSE if script_of(text) in _DENSE else _LONG_ENOUGH
    if letters < max(enough, _PROSE * len(read)):
        return None, 0.0
    weighed: dict[str, float] = {}
    for piece in pieces:
        code, confidence = language_of(piece)
        if code:
            weighed[code] = weighed.get(code, 0.0) + confidence
    if not weighed:
        return None, 0.0
    best, weight = max(weighed.items(), key=lambda found: (found[1], found[0]))
    share = weight / len(pieces)
    return (best if share > _AGREED else None), share


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """Loaded when first asked, in a second. Languages without a two-letter code (Aragonese,
    Pidgin) take short texts from their large neighbours, and no comparator knows them."""
    read = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    read.set_languages([code for code in read.labels if len(code) == 2 and code != "an"])
    # The one that was read keeps the table of every language beside the narrower one: 27 MiB.
    return LanguageIdentifier(
        read.nb_ptc,
        read.nb_pc,
        read.nb_classes,
        read.tk_nextmove,
        read.tk_output,
        norm_probs=True,
        tk_row=read.tk_row,
    )
