"""Runs tiles through a model: several at once where that pays, and around what fails."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

import structlog
import torch

from .batching import PairFailure, Piece
from .devices import Placement, threads_of_torch

NOT_FINITE = PairFailure("score_not_finite", "the model's output is not finite")

log = structlog.get_logger()

Outcome = TypeVar("Outcome")


class Lanes(Generic[Outcome]):
    """Computes what a model gives for pieces, tile by tile.

    ``compute`` takes a tile and gives one outcome for each of its pieces, None where a number
    was not finite; it may raise what torch raises. A ``packed`` model computes as many tiles at
    once as torch may use threads, each with one of them; any other one tile at a time with all.
    Safe to call from several threads: their tiles share the lanes.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[Piece]], Sequence[Outcome | None]],
        placement: Placement,
        *,
        packed: bool,
    ) -> None:
        self._compute = compute
        self._cuda = placement.device.type == "cuda"
        self._lanes = threads_of_torch() if packed else 1
        self._turns = threading.BoundedSemaphore(self._lanes)

    def outcomes(
        self, tiles: Sequence[Sequence[Piece]]
    ) -> Iterator[tuple[Piece, Outcome | PairFailure]]:
        """Every piece of ``tiles`` with its outcome, or with why it has none."""
        if min(self._lanes, len(tiles)) < 2:
            for tile in tiles:
                yield from self._of(tile)
            return
        with ThreadPoolExecutor(self._lanes, thread_name_prefix="score") as pool:
            for found in pool.map(self._of, tiles):
                yield from found

    def _of(self, tile: Sequence[Piece]) -> list[tuple[Piece, Outcome | PairFailure]]:
        """Computes a tile; halves what fails until the guilty pieces are alone."""
        try:
            with self._turns, torch.inference_mode():
                computed = self._compute(tile)
        except (RuntimeError, MemoryError, IndexError) as error:  # CUDA's are RuntimeErrors
            log.warning("forward_failed", pieces=len(tile), error=type(error).__name__)
            if self._cuda:
                torch.cuda.empty_cache()
            return self._halved(tile, _failure(error), alone=len(tile) == 1)
        both = list(zip(tile, computed, strict=True))
        lost = [piece for piece, outcome in both if outcome is None]
        found = [(piece, outcome) for piece, outcome in both if outcome is not None]
        return [*found, *self._halved(lost, NOT_FINITE, alone=len(tile) == 1)]

    def _halved(
        self, tile: Sequence[Piece], failure: PairFailure, *, alone: bool
    ) -> list[tuple[Piece, Outcome | PairFailure]]:
        """Each half computed again, or the failure where the piece already ``alone`` failed."""
        if alone:
            return [(piece, failure) for piece in tile]
        middle = (len(tile) + 1) // 2
        halves = (half for half in (tile[:middle], tile[middle:]) if half)
        return [outcome for half in halves for outcome in self._of(half)]


def _failure(error: RuntimeError | MemoryError | IndexError) -> PairFailure:
    out_of_memory = isinstance(error, MemoryError | torch.OutOfMemoryError)
    detail = "out of memory" if out_of_memory else f"the forward pass failed: {str(error)[:200]}"
    return PairFailure("scorer_failed", detail)
