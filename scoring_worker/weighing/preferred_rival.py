"""The other value that the reader prefers for a type, where the passage has a whole one.

It is told to people, and to the LLM that is asked again: a fragment, or a value of another kind
("3" for *Item*), would mislead both. So it is named only where the comparators read it as one
value of the value's own kind, and the reader clearly prefers all of its words.
"""

import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safepassage.schemas import Finding
from safepassage.scoring_worker.comparison import Passage, Place, Question
from safepassage.scoring_worker.comparison.compare import compare
from safepassage.scoring_worker.comparison.names.parts import PARTICLES
from safepassage.scoring_worker.encoders.reader import Reading
from safepassage.scoring_worker.text.segmentation import Word, words_of

from .questions import Part

CLEARLY = 2.0
"""The logit by which a rival's words have to lead on the value's."""
_LONGEST_RIVAL = 80
_CELL_ENDS = re.compile(r"\s*(?:[\n\t|;:,()\[\]]|\.(?:\s|\Z)|\Z)")
_DECIMALS = re.compile(r"\d[.,]\d\d?(?!\d)")
_CELL_STARTS = re.compile(r"(?:\A|[\n\t|;:,()\[\]]|[.!?]\s)\s*\Z")


def preferred_rival(
    part: Part, read: Reading, elsewhere: NDArray[np.float64], mean: float
) -> list[Finding]:
    """The finding that names the rival, if there is one. ``elsewhere`` are the logits of the
    passage's tokens that are not the value's, ``mean`` is the value's own."""
    if not len(elsewhere) or part.question is None:
        return []
    peak = int(elsewhere.argmax())
    if elsewhere[peak] < max(0.0, mean + CLEARLY):
        return []
    place = _place(part, read, elsewhere, peak)
    if place is None:
        return []
    own = elsewhere[read.inside(place.start, place.end)]
    if not np.isfinite(own).all() or own.mean() < max(0.0, mean + CLEARLY):
        return []
    text = " ".join(part.question.passage[place.start : place.end].split())
    if len(text) > _LONGEST_RIVAL or not _is_one_value(part, text):
        return []
    detail = f"the passage gives {text!r} as {part.asked.entity_type}"
    return [Finding(code="rival_preferred", detail=detail[:500])]


def _place(part: Part, read: Reading, elsewhere: NDArray[np.float64], peak: int) -> Place | None:
    """Where the whole value around token ``peak`` is in the text; None if it is a fragment."""
    start, end = int(read.starts[peak]), int(read.ends[peak])
    if part.comparison.kind not in {"name", "words"}:
        rivals = (
            Place(rival.start + part.shift, rival.end + part.shift)
            for rival in part.comparison.rivals
        )
        return next((one for one in rivals if one.start <= start and end <= one.end), None)
    assert part.question is not None  # noqa: S101 (for the type checker)
    text = part.question.passage
    first = last = peak
    while first > 0 and elsewhere[first - 1] > 0:
        first -= 1
    while last + 1 < len(elsewhere) and elsewhere[last + 1] > 0:
        last += 1
    place = _without_marks(text, int(read.starts[first]), int(read.ends[last]))
    return place if place and _is_whole(text, place, part.comparison.kind == "name") else None


def _without_marks(text: str, start: int, end: int) -> Place | None:
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return Place(start, end) if start < end else None


def _is_whole(text: str, place: Place, name: bool) -> bool:
    """Whether the words fill their clause or cell, or are all the capitalised words of a name."""
    before, after = text[: place.start], text[place.end :]
    if _CELL_STARTS.search(before) and _CELL_ENDS.match(after):
        return True
    if not name or not text[place.start].isupper():
        return False
    words = words_of(text)
    first = next((n for n, word in enumerate(words) if word.start == place.start), 0)
    last = next((n for n, word in enumerate(words) if word.end == place.end), len(words) - 1)
    beside = [pair for pair in pairwise(words) if pair[1] is words[first] or pair[0] is words[last]]
    return not any(_goes_on(text, *pair, of=place) for pair in beside)


def _goes_on(text: str, word: Word, following: Word, *, of: Place) -> bool:
    """Whether a name goes on from ``word`` to ``following``, of which one is in the name ``of``."""
    if text[word.end : following.start].strip(" \u00a0") not in {"", "-", "'", "’", "&"}:
        return False
    other = following if word.start >= of.start else word
    return text[other.start].isupper() or other.keys.plain in PARTICLES


def _is_one_value(part: Part, text: str) -> bool:
    """Whether the comparators read ``text`` as a value of the same kind. A bare whole number is a
    count: an amount with decimals ("410.00" for a *Quantity* of 3) is of another kind."""
    if str(part.asked.value).strip().isdigit() and _DECIMALS.search(text):
        return False
    asked = Question(
        part.asked.entity_type, text, Passage(text, language=part.asked.passage.language)
    )
    found = compare(asked)
    kinds = {found.kind, part.comparison.kind}
    # A name with a small word in it is read as words.
    return found.answer == "same" and (len(kinds) == 1 or kinds == {"name", "words"})
