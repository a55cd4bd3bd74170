"""What the entity type and the label of a passage say about a figure."""

import re
from fractions import Fraction
from functools import lru_cache

from ..contract import Passage
from .agreement import End
from .figure import Figure
from .lexicon import Sense, lexicon_of
from .plain_text import fold

_MAX_LABEL = 200
_LOW = ("min", "lowest", "lower", "least", "from", "mindest", "untergrenz", "start", "mínim")
_HIGH = ("max", "highest", "upper", "most", "höchst", "obergrenz", "until", "máxim")
WORD = re.compile(r"[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<![\d.,])['’]?000s?(?!\w)")
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]\s*$|\bin ([^\s()]{1,20})\s*$")


@lru_cache(maxsize=1024)
def asked_end(entity_type: str) -> End | None:
    """Which end of a range the entity type asks for: "Minimum Salary" the lower one."""
    words = [word.lower() for word in WORD.findall(entity_type[:_MAX_LABEL])]
    low = any(word.startswith(_LOW) for word in words)
    high = any(word.startswith(_HIGH) for word in words)
    return None if low == high else ("low" if low else "high")


@lru_cache(maxsize=1024)
def unit_named(entity_type: str, language: str | None) -> Sense | None:
    """The unit or currency that an entity type ends with: "Weight (kg)", "Price in EUR"."""
    match = _IN_BRACKETS.search(entity_type[:_MAX_LABEL])
    return None if match is None else unit_of(match[1] or match[2], language)


@lru_cache(maxsize=1024)
def unit_of(written: str, language: str | None) -> Sense | None:
    """The unit or currency that ``written`` is, as a whole, a scale aside: "kg", "EUR million"."""
    words = written[:_MAX_LABEL].split()
    unscaled = [word for word in words if scale_named(word, language) is None]
    if len(unscaled) < len(words):
        unscaled = [word for word in unscaled if word.casefold() not in ("in", "of")]
    folded = fold(" ".join(unscaled))
    hit = lexicon_of(language).after(folded, 0)
    if hit is None or hit[0] != len(folded.text):
        return None
    return next((sense for sense in hit[1] if sense.kind in {"unit", "currency"}), None)


@lru_cache(maxsize=1024)
def scale_named(label: str, language: str | None) -> Fraction | None:
    """The scale that a label or type gives for its numbers: "Revenue (in millions)", "€m", "TEUR",
    "£'000"."""
    folded = fold(label[:_MAX_LABEL])
    lexicon = lexicon_of(language)
    for match in WORD.finditer(folded.text):
        start = match.start()
        hit = lexicon.after(folded, start)
        if hit is None or hit[0] < match.end():
            continue
        money = [sense for sense in hit[1] if sense.currencies and sense.factor > 1]
        # "m" alone is a metre; behind a currency it is a million.
        paid = lexicon.before(folded, start - folded.text[:start].endswith(" "))
        if money or len(match[0]) > 2 or (paid and any(one.currencies for one in paid[1])):
            scales = [sense for sense in hit[1] if sense.kind == "scale"]
            if factor := next((one.factor for one in (*money, *scales)), None):
                return factor
    return Fraction(1000) if _THOUSANDS.search(folded.text) else None


def names_unit(passage: Passage, figure: Figure) -> bool:
    """Whether the label or column's head names the unit or currency that a cell leaves out."""
    folded = fold(passage.heading[:_MAX_LABEL])
    lexicon = lexicon_of(passage.language)
    starts = (match.start() for match in re.finditer(r"[^\s()\[\]:,;]+", folded.text))
    return any(
        (sense.unit and sense.unit == one.unit) or sense.currencies & one.currencies
        for hit in (lexicon.after(folded, start) for start in starts)
        for sense in (hit[1] if hit else ())
        for one in figure.readings
    )
