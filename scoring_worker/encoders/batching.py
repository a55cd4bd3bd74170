"""From pairs to the pieces a model reads, and from pieces to tiles of bounded size.

A *piece* is one tokenised sequence. A pair that fits is one piece; a premise too long for the
model becomes several overlapping windows, each with the whole hypothesis, and the pair's score
is that of its best window: any window that supports the value suffices. Nothing is truncated.

A *tile* is what one forward pass takes: pieces of similar length up to a token budget.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from safepassage.schemas import Reason

MAX_WINDOWS = 32
"""Windows of one premise. More text than that is not a passage, and the best of many windows
would grow with their number."""
MIN_PREMISE_ROOM = 16
"""Tokens that must be left for the premise beside the hypothesis."""


@dataclass(frozen=True, slots=True)
class PairFailure:
    """Why a pair has no score."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One sequence for the model; ``pair`` is the position of its pair in the call. ``kept`` are
    the tokens whose hidden states are wanted."""

    pair: int
    ids: list[int]
    type_ids: list[int]
    kept: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


class PairWindows:
    """Encodes pairs without padding or truncation, which it switches off in ``tokenizer``: that is
    its own from now on. (A copy of 250,000 words costs 190 MB.)

    Special tokens written in a text ("[SEP]") are read as plain text: a document must not be
    able to end its own premise. ``typed`` is False for a tokenizer that gives its model no
    token types; then they are all 0. ``hypothesis_first`` is the order that a model was taught.
    """

    def __init__(
        self, tokenizer: Tokenizer, max_length: int, *, typed: bool, hypothesis_first: bool
    ) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._max_length = max_length
        self._typed = typed
        self._order = -1 if hypothesis_first else 1
        self._specials = self._tokenizer.num_special_tokens_to_add(is_pair=True)

    def encoded(
        self, pairs: Sequence[tuple[int, str, str]]
    ) -> tuple[list[tuple[int, Encoding]], dict[int, PairFailure]]:
        """(position, window) of (position, premise, hypothesis) triples, and why some have none."""
        failures = {at: failure for at, *texts in pairs if (failure := unfit(*texts))}
        fit = [pair for pair in pairs if pair[0] not in failures]
        encodings = self._tokenizer.encode_batch([texts[:: self._order] for _, *texts in fit])
        made: list[tuple[int, Encoding]] = []
        for (at, premise, hypothesis), encoding in zip(fit, encodings, strict=True):
            if len(encoding) <= self._max_length:
                made.append((at, encoding))
                continue
            windows = self._windows(premise, hypothesis)
            if isinstance(windows, PairFailure):
                failures[at] = windows
            else:
                made += [(at, window) for window in windows]
        return made, failures

    def types(self, encoding: Encoding) -> list[int]:
        """The token types [tokens] that the model reads."""
        return list(encoding.type_ids) if self._typed else [0] * len(encoding)

    def _windows(self, premise: str, hypothesis: str) -> list[Encoding] | PairFailure:
        asked = self._tokenizer.encode(hypothesis, add_special_tokens=False)
        room = self._max_length - self._specials - len(asked)
        if room < MIN_PREMISE_ROOM:
            detail = f"the hypothesis takes {len(asked)} of {self._max_length} tokens"
            return PairFailure("scorer_failed", detail)
        shown = self._tokenizer.encode(premise, add_special_tokens=False)
        shown.truncate(room, stride=room // 4)
        windows = [shown, *shown.overflowing]
        if len(windows) > MAX_WINDOWS:
            detail = f"the premise takes {len(windows)} windows, more than {MAX_WINDOWS}"
            return PairFailure("scorer_failed", detail)
        if self._order < 0:
            return [self._tokenizer.post_process(asked, window) for window in windows]
        return [self._tokenizer.post_process(window, asked) for window in windows]


class PairTokenizer:
    """From pairs to pieces, with a copy of ``tokenizer``; options as `PairWindows` has them."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        max_length: int,
        *,
        typed: bool = True,
        hypothesis_first: bool = False,
    ) -> None:
        own = Tokenizer.from_str(tokenizer.to_str())
        self._pairs = PairWindows(own, max_length, typed=typed, hypothesis_first=hypothesis_first)

    def pieces(
        self, pairs: Sequence[tuple[int, str, str]]
    ) -> tuple[list[Piece], dict[int, PairFailure]]:
        """The pieces of (position, premise, hypothesis) triples, and the pairs that have none."""
        encoded, failures = self._pairs.encoded(pairs)
        return [Piece(at, one.ids, self._pairs.types(one)) for at, one in encoded], failures


def unfit(premise: str, hypothesis: str) -> PairFailure | None:
    """Why a pair cannot even be tokenised, if so."""
    for name, text in (("premise", premise), ("hypothesis", hypothesis)):
        if not text.strip():
            return PairFailure("scorer_failed", f"the {name} is empty")
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            return PairFailure("scorer_failed", f"the {name} is not valid Unicode")
    return None


def tiles(
    pieces: Iterable[Piece], tokens: int, *, rows: int | None = None, packed: bool = False
) -> list[list[Piece]]:
    """Tiles of at most ``tokens`` tokens and ``rows`` pieces, shortest pieces first.

    Tokens count as padded to the longest piece of the tile, or as they are where ``packed``.
    The order is total (length, then content), so that equal sets of pieces give equal tiles. A
    piece longer than ``tokens`` gets a tile of its own.
    """
    made: list[list[Piece]] = []
    tile: list[Piece] = []
    used = 0
    for piece in sorted(pieces, key=lambda piece: (len(piece), piece.ids)):
        size = used + len(piece) if packed else len(piece) * (len(tile) + 1)
        if tile and (size > tokens or len(tile) == rows):
            made.append(tile)
            tile, size = [], len(piece)
        tile.append(piece)
        used = size
    if tile:
        made.append(tile)
    return made
