"""What stands beside a number and bounds it: "more than 5", "5 or less", "≥ 5", "about 5"."""

from __future__ import annotations

import re

from .figure import Bound

_WORDS_BEFORE: dict[Bound, str] = {
    "more_than": "more than|over|above|greater than|exceeding|in excess of|exceeds|exceeded|beyond"
    "|older than|longer than|larger than|higher than|mehr als|über|plus de|plus que|más de|más que"
    "|superior a|supérieur à|supérieure à|più di|oltre|mais de|mais que|acima de|meer dan|boven",
    "at_least": "at least|no less than|not less than|no fewer than|minimum of|a minimum of|min."
    "|minimum|from at least|mindestens|wenigstens|ab|au moins|minimum de|à partir de|al menos"
    "|por lo menos|como mínimo|a partir de|mínimo de|almeno|minimo|come minimo|pelo menos|no mínimo"
    "|ten minste|minstens|minimaal",
    "less_than": "less than|fewer than|under|below|lower than|smaller than|younger than"
    "|shorter than|weniger als|unter|moins de|inférieur à|inférieure à|menos de|menos que"
    "|inferior a|por debajo de|meno di|sotto|abaixo de|minder dan|onder",
    "at_most": "at most|up to|no more than|not more than|not exceeding|not to exceed|maximum of"
    "|a maximum of|max.|maximum|höchstens|bis zu|maximal|nicht mehr als|au plus|jusqu'à|maximum de"
    "|au maximum|pas plus de|como máximo|hasta|no más de|máximo|máximo de|al massimo|fino a"
    "|non più di|massimo|no máximo|até|não mais de|hoogstens|maximaal|ten hoogste|tot",
    "about": "about|around|approximately|approx.|approx|roughly|nearly|almost|circa|ca.|ca|c."
    "|an estimated|estimated|close to|ungefähr|etwa|rund|zirka|fast|knapp|gut|environ|près de"
    "|presque|à peu près|aproximadamente|alrededor de|unos|unas|casi|cerca de|quasi|all'incirca"
    "|cerca di|quase|ongeveer|bijna|rond",
    "exactly": "exactly|precisely|genau|exakt|exactement|exactamente|esattamente|exatamente"
    "|precies|equal to|equals",
}
"""In English, German, French, Spanish, Italian, Portuguese and Dutch."""
_WORDS_AFTER: dict[Bound, str] = {
    "at_least": "or more|or above|or over|or older|or greater|or higher|or longer|and above"
    "|and over|and up|and older|at least|minimum|oder mehr|und mehr|ou plus|et plus|o más|y más"
    "|o più|e oltre|ou mais|e mais|of meer|en meer",
    "at_most": "or less|or fewer|or under|or below|or younger|or lower|and below|and under|at most"
    "|maximum|oder weniger|ou moins|et moins|o menos|o meno|ou menos|of minder",
    "about": "or so|approximately|approx.|environ|aproximadamente",
}
_SIGNS_OF: dict[Bound, str] = {
    "more_than": ">", "less_than": "<", "at_least": "≥ ⩾ ≧ >= =>", "at_most": "≤ ⩽ ≦ <= =<",
    "about": "~ ≈ ±", "exactly": "=",
}  # fmt: skip
_SIGNS = {sign: bound for bound, signs in _SIGNS_OF.items() for sign in signs.split()}
_REACH = 28
_BEFORE = {word: bound for bound, words in _WORDS_BEFORE.items() for word in words.split("|")}
_AFTER = {word: bound for bound, words in _WORDS_AFTER.items() for word in words.split("|")}
_LAST = {word.split()[-1] for word in _BEFORE}
_FIRST = {word.split()[0] for word in _AFTER}
_LAST_LETTERS = frozenset(word[-1] for word in _LAST)
_FIRST_LETTERS = frozenset(word[0] for word in _FIRST)
_TAIL = re.compile(r"[^\s()\[\]:;,]+")
_NOT = frozenset({"not", "no", "nicht", "pas", "non", "não", "niet"})
_TURNED: dict[Bound, Bound] = {
    "more_than": "at_most",
    "less_than": "at_least",
    "at_least": "less_than",
    "at_most": "more_than",
}
CLAIMED = frozenset({"en", "de", "fr", "es", "it", "pt", "nl"})
"""Where a number without one of these words is known to stand unbounded."""


def bound_before(lowered: str, at: int) -> tuple[Bound, int]:
    """The bound whose word or sign ends before ``at``, and where it starts; "none" and ``at``."""
    end = at
    while end > 0 and at - end < 2 and lowered[end - 1] == " ":
        end -= 1
    for length in (2, 1):
        sign = lowered[max(0, end - length) : end]
        if sign in _SIGNS:
            return _SIGNS[sign], end - len(sign)
    if end == 0 or not (lowered[end - 1] in _LAST_LETTERS or lowered[end - 1].isspace()):
        return "none", at
    start = max(0, end - _REACH)
    *_, last = " ", *lowered[start:end].rsplit(maxsplit=1)
    if last.lstrip("()[]:;,") not in _LAST:
        return "none", at
    words = [(match.start(), match[0]) for match in _TAIL.finditer(lowered, start, end)]
    if not words or words[-1][1] not in _LAST:
        return "none", at
    spelt = ""
    found: tuple[Bound, int] = ("none", at)
    for begin in range(len(words) - 1, max(-1, len(words) - 5), -1):
        spelt = f"{words[begin][1]} {spelt}".strip()
        if spelt in _BEFORE and lowered[words[begin][0] : end].split() == spelt.split():
            found = _BEFORE[spelt], words[begin][0]
    return _unless_denied(lowered, found) if found[0] in _TURNED else found


def bound_after(lowered: str, at: int) -> tuple[Bound, int]:
    """The bound whose words start after ``at``, and where they end; "none" and ``at``."""
    if at < len(lowered) and lowered[at] == "+" and not lowered[at + 1 : at + 2].isalnum():
        return "at_least", at + 1
    start = at + 1 if lowered[at : at + 1] == " " else at
    if lowered[start : start + 1] not in _FIRST_LETTERS:
        return "none", at
    words = _TAIL.findall(lowered, start, start + _REACH)[:3]
    if not words or words[0] not in _FIRST:
        return "none", at
    for count in range(len(words), 0, -1):
        spelt = " ".join(words[:count])
        if spelt in _AFTER and lowered.startswith(spelt, start):
            return _AFTER[spelt], start + len(spelt)
    return "none", at


def _unless_denied(lowered: str, found: tuple[Bound, int]) -> tuple[Bound, int]:
    """ "Not more than" is "at most"."""
    bound, start = found
    words = _TAIL.findall(lowered, max(0, start - 8), start)
    return (_TURNED[bound], start) if words and words[-1] in _NOT else found
