"""The cross-encoder runtime: p(entailment) of pairs, the same in every batch."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from safepassage.passages.granularity import over_windows
from safepassage.scoring_worker.manifest import ModelError, ScorerManifest

from .batching import PairFailure, PairTokenizer, Piece, tiles
from .devices import Placement, demanded_precision, one_thread_each
from .int8_layers import TYPICAL_PAIRS
from .lanes import Lanes
from .packed import TILE_ROWS, TILE_TOKENS, PackedBert
from .padded import PaddedForward

TOKENISED_AHEAD = 1_024
"""Pairs that are tokenised, and then sorted by length, at a time."""
DECIMALS = 6
"""Scores are rounded: digits below the noise of float32 would only differ between machines."""


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

    ``forward`` and ``pieces`` are for a model that reads or answers in its own way;
    ``hypothesis_first`` is for one that was taught so.

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
        hypothesis_first: bool = False,
    ) -> None:
        self.placement = placement
        self.max_length = max_length
        self._entailment = entailment
        typed = "token_type_ids" in tokenizer.model_input_names
        self._tokenizer: PieceMaker = pieces or PairTokenizer(
            tokenizer.backend_tokenizer, max_length, typed=typed, hypothesis_first=hypothesis_first
        )
        packs = forward is None and placement.device.type == "cpu" and PackedBert.fits(model)
        if placement.precision == "int8" and not packs:
            raise ModelError("int8 is for BERT models on a CPU; use fp32 or bf16 for this one")
        if packs:
            with one_thread_each():
                typical = self._typical() if placement.precision == "int8" else ()
                forward = PackedBert(model, typical)
        self._packed = packs
        self._forward = forward or PaddedForward(model, tokenizer.pad_token_id or 0)
        self._lanes = Lanes(self._compute, placement, packed=self._packed)

    def revision_of(self, manifest: ScorerManifest) -> str:
        """The manifest's revision, marked with a precision that somebody demanded."""
        return manifest.revision + demanded_precision(self.placement, manifest.precision)

    def probabilities(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.float64]:
        """p(entailment) [pairs] in [0, 1]; NaN where a pair could not be scored."""
        return self.score(premises, hypotheses).probabilities

    def score(self, premises: Sequence[str], hypotheses: Sequence[str]) -> EncoderScores:
        """The same with the reason of each failure. Equal pairs are computed once. Raises
        `ValueError` where there are not as many premises as hypotheses."""
        asked = list(zip(premises, hypotheses, strict=True))
        distinct = {pair: at for at, pair in enumerate(dict.fromkeys(asked))}
        scores = self._score_distinct([(at, *pair) for pair, at in distinct.items()])
        where = [distinct[pair] for pair in asked]
        known = scores.failures
        failures = {at: known[source] for at, source in enumerate(where) if source in known}
        return EncoderScores(scores.probabilities[where], failures)

    def _typical(self) -> list[list[Piece]]:
        pieces, _ = self._tokenizer.pieces([(at, *pair) for at, pair in enumerate(TYPICAL_PAIRS)])
        return tiles(pieces, TILE_TOKENS, rows=TILE_ROWS, packed=True)

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
        starts = range(0, len(pairs), TOKENISED_AHEAD)
        chunks = [pairs[start : start + TOKENISED_AHEAD] for start in starts]
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
        rows = TILE_ROWS if self._packed else None
        budget = TILE_TOKENS if self._packed else self.placement.tile_tokens
        made = tiles(pieces, budget, rows=rows, packed=self._packed)
        windows: dict[int, list[float]] = {}
        for piece, outcome in self._lanes.outcomes(made):
            if isinstance(outcome, PairFailure):
                failures[piece.pair] = outcome
            else:
                windows.setdefault(piece.pair, []).append(outcome)
        for pair, scores in windows.items():
            probabilities[pair] = over_windows(scores)

    def _compute(self, tile: Sequence[Piece]) -> list[float | None]:
        """p(entailment) of each piece of a tile, None where it is not finite. Raises `RuntimeError`
        where the forward pass failed, or gave another number of rows than pieces."""
        logits = self._forward.logits(tile).float()
        if logits.dim() != 2 or logits.shape[0] != len(tile):
            raise RuntimeError(f"{len(tile)} pieces, but logits of shape {list(logits.shape)}")
        single = logits.shape[1] == 1
        scores = torch.sigmoid(logits) if single else torch.softmax(logits, dim=-1)
        # The sigmoid of infinity is 1.0: an overflow must not look like certainty.
        finite = logits.isfinite().all(dim=-1).tolist()
        column = scores[:, self._entailment].double().tolist()
        return [score if known else None for score, known in zip(column, finite, strict=True)]
