"""From rows of a document to what one pass reads, with the tokens that each row is about."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

Place = tuple[int, int]

MAX_FIELDS = 16
MAX_FIELD_TOKENS = 40
MAX_STATEMENT_TOKENS = 96
WINDOW = 300
"""Tokens of the document in one pass at most; the fields come on top."""
SHORTEST_WINDOW = 80
MARGIN = 8
"""Tokens to the edge of a window, inside of which a value is read in another window."""
LONGEST_STATEMENT_PASS = 480
_TITLE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One value to judge: its field, where it is in the document (the places that the quote
    holds; none where it is not there in words), and whether the quote supports it."""

    id: str
    field: str
    places: tuple[Place, ...]
    label: int
    description: str | None = None
    statement: str = ""
    passage: str = ""
    """The quote with its sentence, row and heading, for a value that has no place."""
    asked: str = ""
    """The question of today's form: the field with what the schema says of it."""
    narrow: tuple[Place, ...] = ()
    """The places in ``passage``."""
    kind: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens of one row's value: ``field`` is the number of its field in the pass."""

    field: int
    tokens: tuple[int, ...]
    label: int
    row: str


@dataclass(frozen=True, slots=True)
class Example:
    """One pass: token ids, where the fields close, and what is known of them. ``foreign`` are
    fields of other documents, of which nothing here is an answer; ``statements`` are (position of
    the closing separator, label)."""

    ids: list[int]
    closings: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()
    foreign: tuple[int, ...] = ()
    statements: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class TextTokens:
    """Texts as tokens of the base in ``folder``, of which the last ones are kept."""

    folder: Path
    tokenizer: Tokenizer = field(init=False)
    first: int = field(init=False)
    close: int = field(init=False)
    pad: int = field(init=False)
    of: Callable[[str], tuple[list[int], list[Place]]] = field(init=False)

    def __post_init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        marked = self.tokenizer.encode("a").ids
        self.first, self.close = marked[0], marked[-1]
        pads = (self.tokenizer.token_to_id(mark) for mark in ("<pad>", "[PAD]"))
        self.pad = next((number for number in pads if number is not None), self.close)
        self.of = lru_cache(maxsize=4_000)(self._of)

    def _of(self, text: str) -> tuple[list[int], list[Place]]:
        """Ids and code points of each token, without marks."""
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets


def described(row: FieldRow, rng: random.Random | None) -> str:
    """The field as it is read: with its description, in training not always."""
    if row.description and (rng is None or rng.random() < 0.7):
        return f"{row.field}: {row.description[:200]}"
    return row.field


def windows(
    tokens: TextTokens, text: str, rows: Sequence[FieldRow], rng: random.Random | None
) -> list[tuple[Place, list[FieldRow]]]:
    """Windows (first token, past the last) of ``text`` that together hold every row's place, each
    with its rows. In training (with ``rng``) two fifths of the short texts are cut too, and the
    windows have any length."""
    _, offsets = tokens.of(text)
    count = len(offsets)
    if count <= WINDOW and (rng is None or rng.random() < 0.6):
        return [((0, count), list(rows))]
    size = rng.randint(SHORTEST_WINDOW, WINDOW) if rng else WINDOW
    at = {
        number: next((i for i, (_, end) in enumerate(offsets) if end > row.places[0][0]), 0)
        for number, row in enumerate(rows)
    }
    left = sorted(at, key=lambda number: at[number])
    found = []
    while left:
        low = max(0, min(at[left[0]] - size // 3, count - size))
        high = min(count, low + size)
        floor = low + MARGIN if low else 0
        ceiling = high - MARGIN if high < count else count
        inside = [n for n in left if floor <= at[n] < ceiling] or left[:1]
        found.append(((low, high), [rows[n] for n in inside]))
        left = [n for n in left if n not in set(inside)]
    return found


def field_example(
    tokens: TextTokens,
    text: str,
    rows: Sequence[FieldRow],
    *,
    window: Place,
    foreign: Sequence[str] = (),
    beside: Sequence[FieldRow] = (),
    rng: random.Random | None = None,
) -> Example:
    """One pass over ``window`` of ``text`` for the fields of ``rows``; those of ``beside`` and
    ``foreign`` compete as far as there is room."""
    asked = {row.field: described(row, rng) for row in rows}
    for row in beside:
        if len(asked) < MAX_FIELDS:
            asked.setdefault(row.field, described(row, rng))
    strange = [name for name in foreign if name not in asked][: max(0, MAX_FIELDS - len(asked))]
    asked |= {name: name for name in strange}
    names = list(asked)
    if rng:
        rng.shuffle(names)
    ids, closings = [tokens.first], []
    for name in names:
        ids += tokens.of(asked[name])[0][:MAX_FIELD_TOKENS]
        closings.append(len(ids))
        ids.append(tokens.close)
    ids.append(tokens.close)
    low, high = window
    if low:
        ids += tokens.of(text.strip().split("\n", 1)[0][:_TITLE_CHARACTERS] + " …")[0]
    shift = len(ids) - low
    read, offsets = tokens.of(text)
    ids += [*read[low:high], tokens.close]
    spans = []
    for row in rows:
        inside = (_inside(offsets, place, window) for place in row.places)
        found = next((one for one in inside if one), None)
        if found:
            at = tuple(token + shift for token in found)
            spans.append(Span(names.index(row.field), at, row.label, row.id))
    apart = tuple(map(names.index, strange))
    return Example(ids, tuple(closings), tuple(spans), apart)


def _inside(offsets: Sequence[Place], place: Place, window: Place) -> list[int]:
    start, end = place
    low, high = window
    return [
        i
        for i in range(low, min(high, len(offsets)))
        if offsets[i][0] < end and offsets[i][1] > start
    ]


def statement_example(
    tokens: TextTokens, passage: str, statements: Sequence[tuple[str, int]]
) -> Example:
    """One pass over ``passage`` for ``statements`` (text, label)."""
    ids, closed = [tokens.first], []
    for statement, label in statements:
        ids += tokens.of(statement)[0][:MAX_STATEMENT_TOKENS]
        closed.append((len(ids), label))
        ids.append(tokens.close)
    ids.append(tokens.close)
    ids += [*tokens.of(passage)[0][: LONGEST_STATEMENT_PASS - len(ids)], tokens.close]
    return Example(ids, statements=tuple(closed))


def question_example(
    tokens: TextTokens, asked: str, passage: str, place: Place, label: int
) -> Example | None:
    """Today's form: one question and the value's sentence; None where the value is cut off."""
    start = [tokens.first, *tokens.of(asked)[0][:MAX_STATEMENT_TOKENS], tokens.close]
    read, offsets = tokens.of(passage)
    read = read[: LONGEST_STATEMENT_PASS - len(start) - 2]
    found = _inside(offsets, place, (0, len(read)))
    shift = len(start) + 1
    at = tuple(token + shift for token in found)
    ids = [*start, tokens.close, *read, tokens.close]
    return Example(ids, (len(start) - 1,), (Span(0, at, label, ""),)) if at else None


def collate(examples: Sequence[Example], pad: int) -> tuple[Tensor, Tensor]:
    """Ids and mask [examples, tokens], padded to the longest."""
    longest = max(len(example.ids) for example in examples)
    ids = torch.full((len(examples), longest), pad)
    mask = torch.zeros_like(ids)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
        mask[row, : len(example.ids)] = 1
    return ids, mask
