"""The forward pass of any sequence classifier, on any device: padded to the longest piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
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
        inputs = {
            "input_ids": _padded([piece.ids for piece in tile], length, self._pad_token),
            "attention_mask": _padded([[1] * len(piece) for piece in tile], length, 0),
        }
        if self._reads_types:
            inputs["token_type_ids"] = _padded([piece.type_ids for piece in tile], length, 0)
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        logits: Tensor = self._model(**moved).logits
        return logits


def _padded(rows: Sequence[Sequence[int]], length: int, filler: int) -> Tensor:
    return torch.tensor([[*row, *[filler] * (length - len(row))] for row in rows])
