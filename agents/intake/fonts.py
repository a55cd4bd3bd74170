"""Fonts that lie: the file says one character, its glyph shows another.

A page is read by OCR and compared, word by word, with what the file says. One page is enough for
a font that says what it shows; of one that was caught, every page is compared.
"""

from collections import defaultdict
from collections.abc import Sequence

from rapidfuzz.distance import Indel

from .page_words import Group, Rectangle, Word

_ALIKE = 0.5  # similarity of a word's letters; below, it is another word
_LETTERS = 3  # a shorter word is not compared by its letters
_SURE = 0.95  # the OCR's confidence where a figure is another
_ENOUGH_WORDS = 3
_MAX_TRIES = 3
_MARGIN = 0.15  # of the word's height
_CONFUSABLE = str.maketrans("oil|sb", "011158")


class FontCheck:
    """The fonts of one document: which were compared, which were caught."""

    def __init__(self) -> None:
        self._trusted: set[str] = set()
        self._caught: set[str] = set()
        self._tries: dict[str, int] = defaultdict(int)

    def wants(self, words: Sequence[Word]) -> bool:
        """Whether a page of these words has to be compared."""
        fonts = {word.font for word in words if _letters(word.text)}
        fresh = {f for f in fonts - self._trusted if self._tries[f] < _MAX_TRIES}
        return bool(fresh or fonts & self._caught)

    def compare(self, words: Sequence[Word], read: Group) -> tuple[list[Word], int]:
        """The words that the page shows as the file says them, and how many characters others
        have. Of a font that lies in most of its words none is kept."""
        signs = _Signs(read.words)
        compared: dict[str, list[bool]] = defaultdict(list)
        # Text that runs another way than most of the page was not read well enough.
        verdicts = [_agrees(w, signs) if w.turn == read.turn else None for w in words]
        for word, agrees in zip(words, verdicts, strict=True):
            if agrees is not None:
                compared[word.font].append(agrees)
        self._learn({word.font for word in words}, compared)
        lying = {font for font, found in compared.items() if 2 * sum(found) < len(found)}
        pairs = list(zip(words, verdicts, strict=True))
        kept = [w for w, agrees in pairs if agrees is not False and w.font not in lying]
        return kept, sum(len(w.text) for w in words) - sum(len(w.text) for w in kept)

    def _learn(self, fonts: set[str], compared: dict[str, list[bool]]) -> None:
        for font in fonts:
            self._tries[font] += 1
            found = compared.get(font, [])
            if not all(found):
                self._caught.add(font)
                self._trusted.discard(font)
            elif len(found) >= _ENOUGH_WORDS and font not in self._caught:
                self._trusted.add(font)


class _Signs:
    """The characters that an OCR read, each where it is within its word, in bands."""

    _BAND = 20.0

    def __init__(self, words: Sequence[Word]) -> None:
        self._bands: dict[int, list[tuple[float, float, str, float]]] = defaultdict(list)
        for word in words:
            box = word.box
            step = box.width / len(word.text)
            middle = (box.top + box.bottom) / 2
            for at, sign in enumerate(word.text):
                place = box.left + (at + 0.5) * step
                found = (place, middle, sign, word.confidence or 0.0)
                self._bands[int(middle // self._BAND)].append(found)

    def within(self, box: Rectangle) -> tuple[str, float]:
        """What was read inside ``box`` from left to right, and the least confidence."""
        margin = _MARGIN * box.height
        bands = range(int(box.top // self._BAND) - 1, int(box.bottom // self._BAND) + 2)
        inside = [
            found
            for band in bands
            for found in self._bands.get(band, ())
            if box.left - margin <= found[0] <= box.right + margin
            and box.top - margin <= found[1] <= box.bottom + margin
        ]
        inside.sort()
        return "".join(f[2] for f in inside), min((f[3] for f in inside), default=0.0)


def _agrees(word: Word, signs: _Signs) -> bool | None:
    """None where there is nothing to compare: a short word, or one that the OCR did not read."""
    said = _letters(word.text)
    read, confidence = signs.within(word.box)
    shown = _letters(read)
    if not said or not shown:
        return None
    figures, others = _figures(word.text), _figures(read)
    if figures and len(figures) == len(others) and figures != others and confidence >= _SURE:
        return False
    if len(said) < _LETTERS:
        return None
    return bool(Indel.normalized_similarity(said, shown) >= _ALIKE)


def _letters(text: str) -> str:
    kept = "".join(filter(str.isalnum, text.casefold()))
    return kept.translate(_CONFUSABLE)


def _figures(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())
