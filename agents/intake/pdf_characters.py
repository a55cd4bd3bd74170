"""The characters of a PDF page, and the words that they make."""

import ctypes
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .limits import extra_module
from .page_words import Group, Rectangle, Word, hull

_UNITS = 100  # of a point; page coordinates come as whole numbers
_HYPHENS = {0x02: "-", 0xAD: "-", 0xFFFE: "-"}  # how PDFium writes one at a line's end
_FIRST_PRINTABLE = 0x20
_BOTH = 0.5  # of the smaller box: two words in one place
_BUCKET = 12.0  # points
_STEP = 0.35  # of the font's height: so wide a gap parts two words that no blank parts


@dataclass(frozen=True, slots=True)
class Character:
    """A character where it is on the page as shown. ``height`` is its font's, in points;
    ``turn`` see `Group`."""

    text: str
    box: Rectangle
    height: float
    turn: int
    font: str


def characters(page: Any) -> Iterator[Character | None]:
    """The page's characters in the order of the file, None where words are parted."""
    raw = extra_module("pypdfium2", "files").raw
    text = page.get_textpage()
    try:
        place = _Places(page, raw)
        fonts = _Fonts(text, raw)
        high = 0
        for at in range(text.count_chars()):
            code = raw.FPDFText_GetUnicode(text, at)
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if high and 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
            high = 0
            sign = _HYPHENS.get(code) or (chr(code) if _is_text(code) else "\ufffd")
            if sign.isspace() or raw.FPDFText_IsGenerated(text, at) == 1:
                yield None
                continue
            box = place.box(text, at)
            if box is None:
                yield None
                continue
            turn = place.turn(raw.FPDFText_GetCharAngle(text, at))
            yield Character(sign, box, place.height(text, at, turn), turn, fonts.name(at))
    finally:
        text.close()


def as_words(shown: Sequence[Character | None]) -> tuple[list[Word], int]:
    """The words, and how many characters were left out because other text is in their
    place. The same word twice in one place is one, printed fat."""
    words: list[Word] = []
    run: list[Character] = []
    for character in (*shown, None):
        if run and (character is None or _parted(run[-1], character)):
            words.append(_word(run))
            run = []
        if character is not None:
            run.append(character)
    return _once_each_place(words)


def as_groups(words: Sequence[Word]) -> tuple[Group, ...]:
    """By direction; the direction of most of the text first."""
    turns: dict[int, list[Word]] = defaultdict(list)
    for word in words:
        turns[word.turn].append(word)
    by_length = sorted(turns.items(), key=lambda item: -sum(len(w.text) for w in item[1]))
    return tuple([Group(tuple(found), turn) for turn, found in by_length])


def _is_text(code: int) -> bool:
    return _FIRST_PRINTABLE <= code < 0xD800 or 0xE000 <= code < 0x110000 or code in (9, 10, 13)


def _parted(one: Character, other: Character) -> bool:
    """Whether two characters that follow each other in the file are not of one word."""
    if one.turn != other.turn:
        return True
    a, b = one.box, other.box
    reach = _STEP * max(one.height, other.height)
    across = max(a.left, b.left) - min(a.right, b.right)
    along = max(a.top, b.top) - min(a.bottom, b.bottom)
    if one.turn in (90, 270):
        across, along = along, across
    return across > max(reach, 1e-6) or along > max(one.height, other.height)


def _word(run: Sequence[Character]) -> Word:
    text = "".join(character.text for character in run)
    font = Counter(character.font for character in run).most_common(1)[0][0]
    return Word(text, hull(c.box for c in run), turn=run[0].turn, font=font)


def _once_each_place(words: list[Word]) -> tuple[list[Word], int]:
    kept: list[Word] = []
    spoiled: set[int] = set()
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    dropped = 0
    for word in words:
        box = word.box
        columns = range(int(box.left // _BUCKET), int(box.right // _BUCKET) + 1)
        rows = range(int(box.top // _BUCKET), int(box.bottom // _BUCKET) + 1)
        places = [(column, row) for column in columns for row in rows]
        rivals = {at for place in places for at in buckets.get(place, ())}
        over = [at for at in rivals if _in_one_place(kept[at].box, box)]
        if any(kept[at].text == word.text for at in over):
            continue
        spoiled.update(over)
        if over:
            spoiled.add(len(kept))
        for place in places:
            buckets[place].append(len(kept))
        kept.append(word)
    dropped = sum(len(kept[at].text) for at in spoiled)
    return [word for at, word in enumerate(kept) if at not in spoiled], dropped


def _in_one_place(one: Rectangle, other: Rectangle) -> bool:
    return max(one.share_inside(other), other.share_inside(one)) > _BOTH


class _Places:
    """From the file's coordinates to those of the page as shown."""

    def __init__(self, page: Any, raw: Any) -> None:
        self._raw = raw
        width, height = page.get_size()
        self._size = int(width * _UNITS), int(height * _UNITS)
        origin, right, up = (self._device(page, *at) for at in ((0, 0), (1000, 0), (0, 1000)))
        self._origin = origin
        self._x = (right[0] - origin[0]) / 1000, (right[1] - origin[1]) / 1000
        self._y = (up[0] - origin[0]) / 1000, (up[1] - origin[1]) / 1000
        self._edges = tuple(ctypes.c_double() for _ in range(4))
        self._loose = raw.FS_RECTF()

    def _device(self, page: Any, x: float, y: float) -> tuple[float, float]:
        across, down = ctypes.c_int(), ctypes.c_int()
        self._raw.FPDF_PageToDevice(page, 0, 0, *self._size, 0, x, y, across, down)
        return across.value / _UNITS, down.value / _UNITS

    def _shown(self, x: float, y: float) -> tuple[float, float]:
        return (
            self._origin[0] + x * self._x[0] + y * self._y[0],
            self._origin[1] + x * self._x[1] + y * self._y[1],
        )

    def _rectangle(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        (x1, y1), (x2, y2) = self._shown(left, bottom), self._shown(right, top)
        return Rectangle(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))

    def box(self, text: Any, at: int) -> Rectangle | None:
        """The box of a character's ink; of one without ink, its place on the line."""
        left, right, bottom, top = self._edges
        if not self._raw.FPDFText_GetCharBox(text, at, left, right, bottom, top):
            return None
        box = self._rectangle(left.value, bottom.value, right.value, top.value)
        return box if all(map(math.isfinite, box)) else None

    def height(self, text: Any, at: int, turn: int) -> float:
        """The height of a character's line, in points as shown."""
        if not self._raw.FPDFText_GetLooseCharBox(text, at, self._loose):
            return 0.0
        box = self._rectangle(
            self._loose.left, self._loose.bottom, self._loose.right, self._loose.top
        )
        return box.width if turn in (90, 270) else box.height

    def turn(self, angle: float) -> int:
        """How far the page has to be turned for text of this angle to be upright."""
        # Both are clockwise: PDFium's angle, and where the file's x axis points on the page.
        own = math.degrees(math.atan2(self._x[1], self._x[0]))
        shown = own + math.degrees(angle if math.isfinite(angle) else 0.0)
        return round(-shown / 90) * 90 % 360


class _Fonts:
    """The font of each character: its name and the length of its file. The same name is often
    two fonts."""

    def __init__(self, text: Any, raw: Any) -> None:
        self._text, self._raw = text, raw
        self._known: dict[int, str] = {}
        self._objects: dict[int, str] = {}

    def name(self, at: int) -> str:
        found = self._raw.FPDFText_GetTextObject(self._text, at)
        if not found:
            return ""
        address = ctypes.addressof(found.contents)
        if address not in self._objects:
            self._objects[address] = self._of(self._raw.FPDFTextObj_GetFont(found))
        return self._objects[address]

    def _of(self, font: Any) -> str:
        if not font:
            return ""
        address = ctypes.addressof(font.contents)
        if address not in self._known:
            buffer = ctypes.create_string_buffer(128)
            self._raw.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
            size = ctypes.c_size_t()
            self._raw.FPDFFont_GetFontData(font, None, 0, size)
            self._known[address] = f"{buffer.value.decode(errors='replace')}/{size.value}"
        return self._known[address]
