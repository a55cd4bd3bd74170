"""Trains the last layers of a reader over what the layers below make of each example, once.

Below the layers that learn nothing changes and no gradient goes, so that five passes over the last
6 of 12 layers cost less than half of what they cost over all.
"""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from safepassage.scoring_worker.encoders.reader_model import ReaderModel

from .examples import INPUTS, Example, collate

AT_ONCE = 16
KEPT_TOKENS = 400_000
"""Tokens whose states are kept in memory (0.6 GB for a width of 768); more are computed again."""


class UpperLayers:
    """The last ``count`` layers and the heads of ``model``, which alone are trained; all of its
    layers where it has no more."""

    def __init__(self, model: ReaderModel, count: int) -> None:
        every = model.encoder.encoder.layer
        below = max(0, len(every) - count)
        self._model = model
        self._lower, self._upper = nn.ModuleList(every[:below]), nn.ModuleList(every[below:])
        self._kept: dict[tuple[int, ...], Tensor] = {}
        self._tokens = 0

    @staticmethod
    def freeze(model: ReaderModel, count: int) -> None:
        """Leave everything below the last ``count`` layers as it is."""
        model.encoder.requires_grad_(False)
        for layer in model.encoder.encoder.layer[-count:]:
            layer.requires_grad_(True)

    def logits(self, examples: Sequence[Example], read: dict[str, Tensor]) -> Tensor:
        """Logits [batch, tokens, 3] of ``examples``, collated as ``read``, with a gradient."""
        states = self._below(examples, read)
        with self._with(self._upper, _Given(states)):
            return self._model(**read)  # type: ignore[no-any-return]

    def keep(self, examples: Sequence[Example], pad: int) -> None:
        """Compute what the layers below make of ``examples``, once and in batches that do not
        depend on the order of the training: a run that goes on finds the same states."""
        distinct = {tuple(example.ids): example for example in examples}
        order = sorted(distinct, key=lambda key: (len(key), key))
        kept = list(itertools.takewhile(self._fits, order))
        for start in range(0, len(kept), AT_ONCE):
            keys = kept[start : start + AT_ONCE]
            read = collate([distinct[key] for key in keys], pad)
            found = self._compute({n: t.to(self._device) for n, t in read.items() if n in INPUTS})
            for row, key in enumerate(keys):
                self._kept[key] = found[row, : len(key)].half()

    def _fits(self, key: tuple[int, ...]) -> bool:
        self._tokens += len(key)
        return self._tokens <= KEPT_TOKENS

    @property
    def _device(self) -> torch.device:
        return next(self._model.parameters()).device

    def _below(self, examples: Sequence[Example], read: dict[str, Tensor]) -> Tensor:
        """States [batch, tokens, width] that the upper layers begin with."""
        keys = [tuple(example.ids) for example in examples]
        if not all(key in self._kept for key in keys):
            return self._compute(read)
        shape = (*read["input_ids"].shape, self._kept[keys[0]].shape[-1])
        states = torch.zeros(shape, device=read["input_ids"].device)
        for row, key in enumerate(keys):
            states[row, : len(key)] = self._kept[key]
        return states

    @torch.no_grad()
    def _compute(self, read: dict[str, Tensor]) -> Tensor:
        training = self._model.training
        self._model.eval()
        try:
            with self._with(self._lower, self._model.encoder.embeddings):
                states: Tensor = self._model.encoder(**read).last_hidden_state
                return states.float()
        finally:
            self._model.train(training)

    @contextmanager
    def _with(self, layers: nn.ModuleList, embeddings: nn.Module) -> Iterator[None]:
        """The model with these layers alone."""
        encoder: Any = self._model.encoder
        before = encoder.encoder.layer, encoder.embeddings
        encoder.encoder.layer, encoder.embeddings = layers, embeddings
        try:
            yield
        finally:
            encoder.encoder.layer, encoder.embeddings = before


class _Given(nn.Module):
    """Represents embeddings: the states of the layers below."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self._states = states

    def forward(self, *_: Any, **__: Any) -> Tensor:
        return self._states
