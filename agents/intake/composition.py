"""Text and layout, put together word by word."""

from collections.abc import Iterable, Sequence

from safepassage.schemas import Layout, Omission, PageSize, Region
from safepassage.schemas.layout import MAX_OMISSIONS

from .limits import Limits, Refused
from .page_words import Page, Word, turned
from .reading_order import Line, read

CELL_BREAK = "\t"


def row_line(cells: Sequence[str]) -> str:
    """One line: every cell's text with its blanks and breaks made single blanks."""
    return CELL_BREAK.join(" ".join(cell.split()) for cell in cells)


_DECIMALS = 1
_SEPARATORS = dict.fromkeys(map(ord, "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")


class Composition:
    """A document in the making: pages go in, in their order.

    Raises (every method that adds):
        Refused: the text is longer than ``limits`` allow.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parts: list[str] = []
        self._length = 0
        self._sizes: list[PageSize] = []
        self._regions: list[Region] = []
        self._omissions: list[Omission] = []

    def add(self, page: Page) -> None:
        """The page's words in the order in which they are read."""
        number = len(self._sizes)
        self._sizes.append(PageSize(*(round(side, _DECIMALS) for side in page.size)))
        self._omissions += page.omissions
        first = True
        for group in page.groups:
            upright, back = _upright(group.words, page.size, group.turn)
            for line in read(upright):
                if self._length:
                    self._write("\n\n" if line.apart or first else "\n")
                first = False
                self._add_line(line, number, back)

    @property
    def text(self) -> str:
        """What was put together so far."""
        return "".join(self._parts)

    @property
    def layout(self) -> Layout:
        """The pages so far, and the place of each word."""
        return Layout(pages=tuple(self._sizes), regions=tuple(self._regions))

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What was left out, as far as there is room to say it."""
        return tuple(self._omissions[:MAX_OMISSIONS])

    def _add_line(self, line: Line, page: int, back: dict[int, Word]) -> None:
        for at, cell in enumerate(line.cells):
            if at:
                self._write(CELL_BREAK)
            for position, word in enumerate(cell):
                if position:
                    self._write(" ")
                self._add_word(back[id(word)], page)

    def _add_word(self, word: Word, page: int) -> None:
        start = self._length
        self._write(word.text.translate(_SEPARATORS).strip())
        if self._length > start:
            size = self._sizes[page]
            left, right = (_clamped(edge, size.width) for edge in (word.box.left, word.box.right))
            top, bottom = (_clamped(edge, size.height) for edge in (word.box.top, word.box.bottom))
            confidence = None if word.confidence is None else round(word.confidence, 3)
            self._regions.append(
                Region(start, self._length, page, left, top, right, bottom, confidence)
            )

    def _write(self, text: str) -> None:
        self._length += len(text)
        if self._length > self._limits.characters:
            raise Refused(f"has more than {self._limits.characters} characters")
        self._parts.append(text)


def compose(pages: Iterable[Page], limits: Limits) -> Composition:
    """All of ``pages``. Raises `Refused`: their text is longer than ``limits`` allow."""
    composition = Composition(limits)
    for page in pages:
        composition.add(page)
    return composition


def _upright(
    words: Sequence[Word], size: PageSize, turn: int
) -> tuple[list[Word], dict[int, Word]]:
    """The words where they are once the page is upright, and for each of these its original."""
    upright = [Word(w.text, w.upright or turned(w.box, size, turn)) for w in words]
    return upright, {id(new): old for new, old in zip(upright, words, strict=True)}


def _clamped(edge: float, most: float) -> float:
    return round(min(max(edge, 0.0), most), _DECIMALS)
