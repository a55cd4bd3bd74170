"""The forward pass of any sequence classifier, on any device: padded to the longest piece."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .batching import Piece


class PaddedForward:
    """The forward pass of a transformers sequence classifier."""

    def __init__(self, model: Any, pad_token: int) -> None:
        self._model = model
        self._pad_token = pad_token
        self._reads_types = getattr(model.config, "type_vocab_size", 0) > 1
        self._positions = getattr(model.config, "max_position_embeddings", None)

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile."""
        longest = max(map(len, tile))
        length = -(-longest // 8) * 8  # GPUs multiply multiples of 8 faster
        if self._positions is not None and length > self._positions:
            length = longest
        present = np.arange(length) < np.array([len(piece) for piece in tile])[:, None]
        inputs = {
            "input_ids": _laid_out([piece.ids for piece in tile], present, self._pad_token),
            "attention_mask": torch.from_numpy(present.astype(np.int64)),
        }
        if self._reads_types:
            inputs["token_type_ids"] = _laid_out([piece.type_ids for piece in tile], present, 0)
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        logits: Tensor = self._model(**moved).logits
        return logits


def _laid_out(rows: Sequence[Sequence[int]], present: NDArray[np.bool_], filler: int) -> Tensor:
    """``rows`` [pieces, length] where ``present``, ``filler`` elsewhere; in arrays, for tiles of
    tens of thousands of tokens that a GPU waits for."""
    laid = np.full(present.shape, filler, dtype=np.int64)
    laid[present] = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    return torch.from_numpy(laid)
