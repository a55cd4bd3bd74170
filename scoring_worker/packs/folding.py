"""Text as the checks compare it: without case, accents, line breaks and typographic variants."""

import re
import unicodedata
from functools import lru_cache

_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_DOTTED = re.compile(r"\b(?:[a-z]\.){2,}(?![a-z]{2})")
_WORD = re.compile(r"[a-z0-9]+")
REDACTED = re.compile(r"\bx{3,}\w*|\[\s*(?:x{2,}|redacted|\.\.\.)\s*\]|\*{3,}|_{3,}")


@lru_cache(maxsize=256)
def fold(text: str) -> str:
    """``text`` in lower case without accents, blanks run together, "U.N." written "un".

    Offsets of the result are not those of ``text``.
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES)).casefold()
    plain = "".join(
        c for c in decomposed if not unicodedata.combining(c) and c not in "\u00ad\u200b"
    )
    joined = _DOTTED.sub(lambda match: match[0].replace(".", "") + " ", f"{plain} ")
    return " ".join(joined.split())


def words(folded: str) -> list[str]:
    """The runs of letters and digits of a folded text, in order."""
    return _WORD.findall(folded)
