"""The reader at work: what of a passage answers a question, the same in every batch."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from safepassage.passages.granularity import over_windows
from safepassage.scoring_worker.manifest import ModelError

from .batching import PairFailure, Piece, tiles
from .devices import Placement, one_thread_each
from .int8_layers import TYPICAL_PAIRS
from .lanes import Lanes
from .packed import TILE_TOKENS, PackedTrunk
from .padded import laid_out
from .prepared_layers import PreparedLayers
from .reader_model import HEADS, ReaderModel, StoredReader
from .reading_windows import Task, Window, WindowMaker
from .token_states import Places, states_of, wanted_rows

AHEAD = 1_024
"""Tasks that are tokenised, and then sorted by length, at a time."""
DECIMALS = 4
"""Logits are rounded: digits below the noise of float32 would only differ between machines."""
TOKENS, CLAIM, FOUNDED = range(len(HEADS))

Floats = NDArray[np.float64]
Wanted = Mapping[Task, Collection[Places]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of a task. Logits are above 0 where it rather says yes.

    ``starts``, ``ends``, ``answers`` [tokens of the passage]: code points and the logit that the
    token is part of an answer. ``claim``: the logit that the passage entails what was asked.
    ``asked_starts``, ``asked_ends``, ``founded`` [tokens of what was asked]: the logit that the
    passage bears the token out. Of several windows the best counts: any of them suffices.
    ``states``: the reader's own state [width] of the words that it was asked for.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    answers: Floats
    claim: float
    asked_starts: NDArray[np.int64]
    asked_ends: NDArray[np.int64]
    founded: Floats
    states: Mapping[Places, Floats] = field(default_factory=dict)

    def inside(self, start: int, end: int) -> NDArray[np.bool_]:
        """Which tokens of the passage share a code point with ``start`` to ``end``."""
        return (self.starts < end) & (self.ends > start)


class Reader:
    """Reads tasks with a `ReaderModel`. Safe to call from several threads.

    On a CPU a BERT or MPNet is packed (see `packed`), with a task's logits the same to the last bit
    in every batch; elsewhere batches are padded.
    """

    def __init__(
        self,
        model: ReaderModel | StoredReader,
        tokenizer: Tokenizer,
        *,
        max_length: int,
        placement: Placement,
        identity: str | None = None,
    ) -> None:
        """``identity`` names these weights, so that what is made of them may be kept."""
        self.placement = placement
        types = getattr(model.shape, "type_vocab_size", 1)
        self._windows = WindowMaker(tokenizer, max_length, types=types)
        self._pad = model.shape.pad_token_id or 0
        self._trunk = self._packed_trunk(model, identity)
        if self._trunk is None:
            if placement.precision == "int8":
                raise ModelError("int8 is for BERT and MPNet on a CPU; use fp32 or bf16 here")
            self._model = model.module().to(placement.device).to(placement.dtype)
        else:
            self._heads = model.head_rows(placement.dtype)
        self._lanes = Lanes(self._compute, placement, packed=self._trunk is not None)

    def _packed_trunk(
        self, model: ReaderModel | StoredReader, identity: str | None
    ) -> PackedTrunk | None:
        if self.placement.device.type != "cpu":
            return None
        architecture = model.architecture(self.placement.dtype)
        if architecture is None or not PackedTrunk.fits(architecture):
            return None
        with one_thread_each():
            typical = self._typical() if self.placement.precision == "int8" else ()
            prepared = PreparedLayers(identity) if identity else None
            return PackedTrunk(architecture, typical, prepared)

    def read(
        self, tasks: Sequence[Task], wanted: Wanted | None = None
    ) -> list[Reading | PairFailure]:
        """A reading of every task, in order, or why it has none. Equal tasks are read once.

        ``wanted`` names, by task, the words whose states the reading is to carry.
        """
        distinct = list(dict.fromkeys(tasks))
        found: dict[Task, Reading | PairFailure] = {}
        with one_thread_each() if self._trunk is not None else nullcontext():
            for start in range(0, len(distinct), AHEAD):
                chunk = distinct[start : start + AHEAD]
                found |= zip(chunk, self._read_chunk(chunk, wanted or {}), strict=True)
        return [found[task] for task in tasks]

    def _typical(self) -> list[list[Piece]]:
        tasks = [Task(asked.partition(":")[0], passage) for passage, asked in TYPICAL_PAIRS]
        windows, _ = self._windows.windows(tasks)
        pieces = [window.piece(number) for number, window in enumerate(windows)]
        return tiles(pieces, TILE_TOKENS, packed=True)

    def _tiles(self, pieces: Sequence[Piece]) -> list[list[Piece]]:
        if self._trunk is None:
            return tiles(pieces, self.placement.tile_tokens)
        return tiles(pieces, TILE_TOKENS, packed=True)

    def _read_chunk(self, tasks: list[Task], wanted: Wanted) -> list[Reading | PairFailure]:
        windows, failures = self._windows.windows(tasks)
        pieces = [
            window.piece(number, wanted_rows(window, wanted.get(tasks[window.task], ())))
            for number, window in enumerate(windows)
        ]
        read: dict[int, list[_Part]] = {}
        for piece, outcome in self._lanes.outcomes(self._tiles(pieces)):
            window = windows[piece.pair]
            if isinstance(outcome, PairFailure):
                failures[window.task] = outcome
            else:
                read.setdefault(window.task, []).append(_Part(window, piece.kept, *outcome))
        return [
            failures[at] if at in failures else _reading(read[at], wanted.get(task, ()))
            for at, task in enumerate(tasks)
        ]

    def _compute(self, tile: Sequence[Piece]) -> list[tuple[Floats, Floats] | None]:
        """Logits [tokens, 3] of every piece and the states [kept, width] of its kept tokens; None
        where one is not finite. Raises `RuntimeError` where the forward pass failed."""
        rows = self._packed(tile) if self._trunk is not None else self._padded(tile)
        computed = [
            (np.round(logits.double().cpu().numpy(), DECIMALS), states.double().cpu().numpy())
            for logits, states in rows
        ]
        return [both if all(np.isfinite(one).all() for one in both) else None for both in computed]

    def _packed(self, tile: Sequence[Piece]) -> Iterator[tuple[Tensor, Tensor]]:
        assert self._trunk is not None  # noqa: S101 (for the type checker; `_compute` knows)
        hidden = self._trunk.hidden(tile)
        logits = functional.linear(hidden, *self._heads)
        start = 0
        for piece in tile:
            own = slice(start, start + len(piece))
            yield logits[own], hidden[own][list(piece.kept)]
            start += len(piece)

    def _padded(self, tile: Sequence[Piece]) -> Iterator[tuple[Tensor, Tensor]]:
        inputs = laid_out(tile, self._pad, types=bool(any(tile[0].type_ids)))
        device = self.placement.device
        inputs = {name: rows.to(device) for name, rows in inputs.items()}
        hidden = self._model.encoder(**inputs).last_hidden_state
        heads = self._model.heads(hidden).float()
        for states, logits, piece in zip(hidden, heads, tile, strict=True):
            yield logits[: len(piece)], states[list(piece.kept)]


@dataclass(frozen=True, slots=True)
class _Part:
    """A window with its logits [tokens, 3], and the states [kept, width] of some tokens."""

    window: Window
    kept: tuple[int, ...]
    logits: Floats
    states: Floats


def _reading(parts: Sequence[_Part], wanted: Collection[Places]) -> Reading:
    answers: dict[tuple[int, int], float] = {}
    founded: dict[tuple[int, int], float] = {}
    for part in parts:
        rows = zip(part.window.sides, part.window.offsets, part.logits, strict=True)
        for side, offset, row in rows:
            if side is None or offset[0] == offset[1]:
                continue
            best, column = (answers, TOKENS) if side else (founded, FOUNDED)
            best[offset] = max(best.get(offset, -np.inf), float(row[column]))
    claim = over_windows([float(part.logits[0, CLAIM]) for part in parts])
    assert claim is not None  # noqa: S101 (every task that is read has a window)
    ordered = sorted(parts, key=lambda part: part.window.offsets)
    states = states_of([(part.window, part.kept, part.states) for part in ordered], wanted)
    return Reading(*_columns(answers), claim, *_columns(founded), states)


def _columns(by_place: dict[tuple[int, int], float]) -> tuple[Any, Any, Any]:
    ordered = sorted(by_place)
    return (
        np.array([start for start, _ in ordered], dtype=np.int64),
        np.array([end for _, end in ordered], dtype=np.int64),
        np.array([by_place[place] for place in ordered], dtype=np.float64),
    )
