"""The cross-encoder runtime: p(entailment) of pairs, whatever batch they arrive in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import structlog
import torch
from numpy.typing import NDArray
from torch import Tensor

from scoring_worker.manifest import ModelError, ScorerManifest

from .batching import PairFailure, PairTokenizer, Piece, tiles
from .devices import Placement, one_thread_each
from .packed import PackedBert
from .padded import PaddedForward
from .quantised import TYPICAL_PAIRS

TOKENISED_AHEAD = 1_024
"""Pairs that are tokenised, and then sorted by length, at a time."""
DECIMALS = 6
"""Scores are rounded: digits below the noise of float32 would only differ between machines."""

Scored = tuple[Piece, float | PairFailure]

NOT_FINITE = PairFailure("score_not_finite", "the model's output is not finite")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EncoderScores:
    """``probabilities`` [pairs] in [0, 1], NaN for each position in ``failures``."""

    probabilities: NDArray[np.float64]
    failures: dict[int, PairFailure]


class Forward(Protocol):
    """Computes the logits [pieces, labels] of a tile."""

    def logits(self, tile: Sequence[Piece]) -> Tensor: ...


class PieceMaker(Protocol):
    """Turns (position, premise, hypothesis) into pieces, or says why it cannot."""

    def pieces(
        self, pairs: Sequence[tuple[int, str, str]]
    ) -> tuple[list[Piece], dict[int, PairFailure]]: ...


class Encoder:
    """A cross-encoder: ``probabilities(premises, hypotheses)`` gives p(premise entails h).

    ``forward`` and ``pieces`` stand in for a model that reads or answers in its own way.

    A packed model computes as many tiles at once as torch may use threads, each with one of
    them; any other computes one tile at a time with all. Safe to call from several threads: their
    tiles share those lanes.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        entailment: int,
        max_length: int,
        placement: Placement,
        forward: Forward | None = None,
        pieces: PieceMaker | None = None,
    ) -> None:
        self.placement = placement
        self.max_length = max_length
        self._entailment = entailment
        typed = "token_type_ids" in tokenizer.model_input_names
        self._tokenizer: PieceMaker = pieces or PairTokenizer(
            tokenizer.backend_tokenizer, max_length, typed=typed
        )
        if forward is None and placement.device.type == "cpu" and PackedBert.fits(model):
            forward = PackedBert(model)
        self._packed = isinstance(forward, PackedBert)
        if placement.precision == "int8":
            self._quantise(forward)
        self._forward = forward or PaddedForward(model, tokenizer.pad_token_id or 0)
        self._lanes = torch.get_num_threads() if self._packed else 1
        self._turns = threading.BoundedSemaphore(self._lanes)

    def revision_of(self, manifest: ScorerManifest) -> str:
        """The manifest's revision, marked with a precision that somebody demanded in place of
        the manifest's.

        What a machine does best is no part of it: a release that was made on x86 (int8) names
        the same scorer to a worker with a GPU (bf16) or an ARM CPU (fp32), where a score may
        differ in its third decimal.
        """
        precision = self.placement.precision
        marked = self.placement.demanded and precision != manifest.precision
        return f"{manifest.revision}-{precision}" if marked else manifest.revision

    def probabilities(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.float64]:
        """p(entailment) [pairs] in [0, 1]; NaN where a pair could not be scored."""
        return self.score(premises, hypotheses).probabilities

    def score(self, premises: Sequence[str], hypotheses: Sequence[str]) -> EncoderScores:
        """The same with the reason of each failure. Equal pairs are computed once.

        Raises:
            ValueError: there are not as many premises as hypotheses.
        """
        asked = list(zip(premises, hypotheses, strict=True))
        distinct = {pair: at for at, pair in enumerate(dict.fromkeys(asked))}
        scores = self._score_distinct([(at, *pair) for pair, at in distinct.items()])
        where = [distinct[pair] for pair in asked]
        failures = {
            at: scores.failures[source]
            for at, source in enumerate(where)
            if source in scores.failures
        }
        return EncoderScores(scores.probabilities[where], failures)

    def unreadable(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> dict[int, PairFailure]:
        """Why pairs cannot be read, by position: what `score` says of them, without scoring."""
        asked = zip(range(len(premises)), premises, hypotheses, strict=True)
        return self._tokenizer.pieces(list(asked))[1]

    def _quantise(self, forward: Forward | None) -> None:
        if not isinstance(forward, PackedBert):
            raise ModelError("int8 is for BERT models on a CPU; use fp32 or bf16 for this one")
        pieces, _ = self._tokenizer.pieces([(at, *pair) for at, pair in enumerate(TYPICAL_PAIRS)])
        rows = PackedBert.tile_rows
        with one_thread_each():
            forward.quantise(tiles(pieces, PackedBert.tile_tokens, rows=rows, packed=True))

    def _score_distinct(self, pairs: list[tuple[int, str, str]]) -> EncoderScores:
        probabilities = np.full(len(pairs), np.nan)
        failures: dict[int, PairFailure] = {}
        with one_thread_each() if self._packed else nullcontext():
            for pieces, unfit in self._tokenised(pairs):
                failures |= unfit
                self._score_pieces(pieces, probabilities, failures)
        probabilities[list(failures)] = np.nan
        return EncoderScores(np.round(probabilities, DECIMALS), failures)

    def _tokenised(
        self, pairs: list[tuple[int, str, str]]
    ) -> Iterator[tuple[list[Piece], dict[int, PairFailure]]]:
        """Tokenises one chunk ahead of the forward pass."""
        chunks = [
            pairs[start : start + TOKENISED_AHEAD]
            for start in range(0, len(pairs), TOKENISED_AHEAD)
        ]
        if len(chunks) < 2:
            yield from map(self._tokenizer.pieces, chunks)
            return
        with ThreadPoolExecutor(1, thread_name_prefix="tokenise") as pool:
            ahead = pool.submit(self._tokenizer.pieces, chunks[0])
            for chunk in chunks[1:]:
                ready, ahead = ahead, pool.submit(self._tokenizer.pieces, chunk)
                yield ready.result()
            yield ahead.result()

    def _score_pieces(
        self,
        pieces: list[Piece],
        probabilities: NDArray[np.float64],
        failures: dict[int, PairFailure],
    ) -> None:
        rows = PackedBert.tile_rows if self._packed else None
        budget = PackedBert.tile_tokens if self._packed else self.placement.tile_tokens
        for outcomes in self._computed(tiles(pieces, budget, rows=rows, packed=self._packed)):
            for piece, outcome in outcomes:
                if isinstance(outcome, PairFailure):
                    failures[piece.pair] = outcome
                else:  # any window of the premise suffices
                    probabilities[piece.pair] = np.fmax(probabilities[piece.pair], outcome)

    def _computed(self, made: list[list[Piece]]) -> Iterator[list[Scored]]:
        """The outcomes of every tile, several tiles at once where there are lanes."""
        if min(self._lanes, len(made)) < 2:
            yield from map(self._outcomes, made)
            return
        with ThreadPoolExecutor(self._lanes, thread_name_prefix="score") as pool:
            yield from pool.map(self._outcomes, made)

    def _outcomes(self, tile: list[Piece]) -> list[Scored]:
        """Scores a tile; halves what fails until the guilty pieces stand alone."""
        try:
            computed = self._compute(tile)
        except (RuntimeError, MemoryError, IndexError) as error:  # CUDA's are RuntimeErrors
            failure = _failure(error)
            log.warning("forward_failed", pieces=len(tile), error=type(error).__name__)
            if self.placement.device.type == "cuda":
                torch.cuda.empty_cache()
            return self._halved(tile, failure, alone=len(tile) == 1)
        outcomes: list[Scored] = []
        lost = [piece for piece, score in zip(tile, computed, strict=True) if np.isnan(score)]
        for piece, score in zip(tile, computed, strict=True):
            if not np.isnan(score):
                outcomes.append((piece, float(score)))
        return outcomes + self._halved(lost, NOT_FINITE, alone=len(tile) == 1)

    def _halved(self, tile: list[Piece], failure: PairFailure, *, alone: bool) -> list[Scored]:
        """Each half scored again, or the failure where the piece already ``alone`` failed."""
        if alone:
            return [(piece, failure) for piece in tile]
        middle = (len(tile) + 1) // 2
        halves = (half for half in (tile[:middle], tile[middle:]) if half)
        return [outcome for half in halves for outcome in self._outcomes(half)]

    def _compute(self, tile: list[Piece]) -> NDArray[np.float64]:
        """p(entailment) [pieces] of a tile.

        Raises:
            RuntimeError: the forward pass failed, or gave another number of rows than pieces.
        """
        with self._turns, torch.inference_mode():
            logits = self._forward.logits(tile).float()
            if logits.dim() != 2 or logits.shape[0] != len(tile):
                raise RuntimeError(f"{len(tile)} pieces, but logits of shape {list(logits.shape)}")
            single = logits.shape[1] == 1
            scores = torch.sigmoid(logits) if single else torch.softmax(logits, dim=-1)
            # The sigmoid of infinity is 1.0: an overflow must not look like certainty.
            known = torch.where(logits.isfinite().all(dim=-1), scores[:, self._entailment], np.nan)
            column: NDArray[np.float64] = known.double().cpu().numpy()
        return column


def _failure(error: RuntimeError | MemoryError | IndexError) -> PairFailure:
    out_of_memory = isinstance(error, MemoryError | torch.OutOfMemoryError)
    detail = "out of memory" if out_of_memory else f"the forward pass failed: {str(error)[:200]}"
    return PairFailure("scorer_failed", detail)
