"""The forward pass of any sequence classifier, on any device: padded to the longest piece."""

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
        inputs = laid_out(tile, self._pad_token, types=self._reads_types, most=self._positions)
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        logits: Tensor = self._model(**moved).logits
        return logits


def laid_out(
    tile: Sequence[Piece], pad: int, *, types: bool, most: int | None = None
) -> dict[str, Tensor]:
    """The inputs [pieces, length] of a transformers model, padded with ``pad``.

    ``most`` is how many positions the model has, ``types`` whether it reads token types.
    """
    longest = max(map(len, tile))
    length = -(-longest // 8) * 8  # GPUs multiply multiples of 8 faster
    if most is not None and length > most:
        length = longest
    present = np.arange(length) < np.array([len(piece) for piece in tile])[:, None]
    inputs = {
        "input_ids": _filled([piece.ids for piece in tile], present, pad),
        "attention_mask": torch.from_numpy(present.astype(np.int64)),
    }
    if types:
        inputs["token_type_ids"] = _filled([piece.type_ids for piece in tile], present, 0)
    return inputs


def _filled(rows: Sequence[Sequence[int]], present: NDArray[np.bool_], filler: int) -> Tensor:
    """``rows`` [pieces, length] where ``present``, ``filler`` elsewhere; in arrays, for tiles of
    tens of thousands of tokens that a GPU waits for."""
    laid = np.full(present.shape, filler, dtype=np.int64)
    laid[present] = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    return torch.from_numpy(laid)
