"""Forward passes of heads that are no sequence classifier."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .batching import Piece
from .padded import PaddedForward, laid_out


class FirstTokenForward(PaddedForward):
    """Reads a token classifier at the first token of each piece, as HHEM 2.1 is read."""

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile."""
        return super().logits(tile)[:, 0]


class StatementForward(PaddedForward):
    """Reads a token classifier at the token of the statement that ``label`` fits least: a statement
    is supported if each of its tokens is."""

    def __init__(self, model: Any, pad_token: int, label: int) -> None:
        super().__init__(model, pad_token)
        self._label = label

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile. Raises `RuntimeError` where a statement has no
        token."""
        every = super().logits(tile).float()
        said = torch.softmax(every, dim=-1)[..., self._label]
        if not all(piece.kept for piece in tile):
            raise RuntimeError("a statement has no token of its own")
        least = [
            piece.kept[int(said[at, list(piece.kept)].argmin())] for at, piece in enumerate(tile)
        ]
        return every[torch.arange(len(tile)), least]


class FirstAnswerForward:
    """Reads an encoder-decoder at the first token of its answer, the ids in ``answers`` alone."""

    def __init__(self, model: Any, pad_token: int, answers: tuple[int, int]) -> None:
        self._model = model
        self._pad_token = pad_token
        self._answers = list(answers)

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, 2] of a tile."""
        inputs = laid_out(tile, self._pad_token, types=False)
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        start = self._model.config.decoder_start_token_id
        begun = torch.full((len(tile), 1), start, device=self._model.device)
        logits: Tensor = self._model(**moved, decoder_input_ids=begun).logits
        return logits[:, 0, self._answers]
