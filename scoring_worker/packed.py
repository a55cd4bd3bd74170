"""BERT cross-encoders on a CPU without padding, the shipped scorer's forward pass.

The same weights and the same function as transformers' ``BertForSequenceClassification`` (a
test holds them together to 1e-5), arranged for small batches of short pairs:

* all tokens of a tile stand one after the other, so that no matrix product sees padding;
* query, key and value are one product;
* the last layer is computed for the first token only, since nothing else is read from it.

Every product has the same shape in every call: a tile is filled up to `TILE_TOKENS` tokens and
`TILE_ROWS` sequences. The BLAS then adds in the same order wherever a pair stands and whatever
stands beside it, so a pair's score is the same to the last bit in every batch (seen with MKL:
tiles of 128 or 256 tokens or of a varying size differ by 3e-8, full tiles of 512 never).
Attention depends on the length of the sequence alone: padded to the next multiple of
`ATTENTION_STEP`, and not to the longest of the tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .batching import Piece
from .quantised import Int8Linear, Recorder

TILE_TOKENS = 512
TILE_ROWS = 64
ATTENTION_STEP = 16

Affine = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class _Group:
    """The sequences of a tile whose attention has the same padded length."""

    tokens: Tensor  # [n, length]: positions in the tile, 0 where padded
    present: Tensor  # [n, length]: False where padded
    sequences: slice


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: Affine
    query: Affine
    key_value: Affine
    attended: Affine
    attention_norm: Affine
    widen: Affine
    activation: Affine
    narrow: Affine
    output_norm: Affine

    def mapped(self, change: Callable[[Affine], Affine]) -> _Layer:
        """This layer with its large products changed."""
        return replace(
            self,
            query_key_value=change(self.query_key_value),
            key_value=change(self.key_value),
            attended=change(self.attended),
            widen=change(self.widen),
            narrow=change(self.narrow),
        )


class PackedBert:
    """The forward pass of a ``BertForSequenceClassification`` over packed tiles."""

    tile_tokens = TILE_TOKENS
    tile_rows = TILE_ROWS

    def __init__(self, model: Any) -> None:
        self._embeddings = model.bert.embeddings
        self._layers = [_layer(layer) for layer in model.bert.encoder.layer]
        self._pooler = model.bert.pooler.dense
        self._classifier = model.classifier
        self._heads = model.config.num_attention_heads

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether ``model`` is a BERT whose longest sequence fits into a tile."""
        config = model.config
        return (
            type(model).__name__ == "BertForSequenceClassification"
            and config.max_position_embeddings <= TILE_TOKENS
            and not config.is_decoder
        )

    @torch.inference_mode()
    def quantise(self, typical: Sequence[Sequence[Piece]]) -> None:
        """Turn the large products into int8, with channels evened out as these tiles have them.

        Raises:
            ModelError: this CPU has no int8 kernels.
        """
        self._layers = [layer.mapped(_recorder) for layer in self._layers]
        for tile in typical:
            self.logits(tile)
        self._layers = [layer.mapped(_quantised) for layer in self._layers]

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile within `tile_tokens` and `tile_rows`."""
        starts = np.cumsum([0, *map(len, tile)])
        hidden = self._embed(tile)
        groups = list(_groups(tile, starts))
        for layer in self._layers[:-1]:
            hidden = self._forward(layer, hidden, groups)
        first = _filled(torch.from_numpy(starts[:-1]), TILE_ROWS)
        pooled = self._forward_first(self._layers[-1], hidden, groups, first)
        logits: Tensor = self._classifier(torch.tanh(self._pooler(pooled)))
        return logits[: len(tile)]

    def _embed(self, tile: Sequence[Piece]) -> Tensor:
        ids = _filled(torch.tensor([token for piece in tile for token in piece.ids]), TILE_TOKENS)
        types = torch.tensor([kind for piece in tile for kind in piece.type_ids])
        positions = torch.cat([torch.arange(len(piece)) for piece in tile])
        embedded: Tensor = self._embeddings(
            input_ids=ids[None],
            token_type_ids=_filled(types, TILE_TOKENS)[None],
            position_ids=_filled(positions, TILE_TOKENS)[None],
        )
        return embedded[0]

    def _forward(self, layer: _Layer, hidden: Tensor, groups: Sequence[_Group]) -> Tensor:
        projected = layer.query_key_value(hidden)
        attended = []
        for group in groups:
            query, key, value = self._split(projected[group.tokens], 3)
            context = _attention(query, key, value, group)
            attended.append(context[group.present])
        return _finish(layer, hidden, _filled(torch.cat(attended), TILE_TOKENS))

    def _forward_first(
        self, layer: _Layer, hidden: Tensor, groups: Sequence[_Group], first: Tensor
    ) -> Tensor:
        """The layer's output [TILE_ROWS, width] for the first token of every sequence."""
        own = hidden[first]
        queries = layer.query(own)
        projected = layer.key_value(hidden)
        attended = []
        for group in groups:
            (query,) = self._split(queries[group.sequences, None], 1)
            key, value = self._split(projected[group.tokens], 2)
            # Asked twice: with a single query row the kernel adds in an order that depends on
            # how many sequences there are (seen with torch 2.13).
            twice = query.expand(-1, -1, 2, -1)
            attended.append(_attention(twice, key, value, group)[:, 0])
        return _finish(layer, own, _filled(torch.cat(attended), TILE_ROWS))

    def _split(self, projected: Tensor, parts: int) -> tuple[Tensor, ...]:
        """[n, length, parts · width] as ``parts`` tensors [n, heads, length, width / heads]."""
        count, length, _ = projected.shape
        shaped = projected.view(count, length, parts, self._heads, -1)
        return shaped.permute(2, 0, 3, 1, 4).unbind(0)


def _attention(query: Tensor, key: Tensor, value: Tensor, group: _Group) -> Tensor:
    context = functional.scaled_dot_product_attention(
        query, key, value, attn_mask=group.present[:, None, None, :]
    )
    return context.transpose(1, 2).flatten(2)


def _finish(layer: _Layer, hidden: Tensor, attended: Tensor) -> Tensor:
    middle = layer.attention_norm(layer.attended(attended) + hidden)
    return layer.output_norm(layer.narrow(layer.activation(layer.widen(middle))) + middle)


def _groups(tile: Sequence[Piece], starts: np.ndarray[Any, Any]) -> list[_Group]:
    groups = []
    for length, members in groupby(range(len(tile)), key=lambda at: _padded(len(tile[at]))):
        rows = list(members)
        offsets = np.arange(length)
        present = offsets < np.array([len(tile[at]) for at in rows])[:, None]
        tokens = np.where(present, starts[rows][:, None] + offsets, 0)
        span = slice(rows[0], rows[-1] + 1)
        groups.append(_Group(torch.from_numpy(tokens), torch.from_numpy(present), span))
    return groups


def _padded(length: int) -> int:
    return -(-length // ATTENTION_STEP) * ATTENTION_STEP


def _filled(rows: Tensor, count: int) -> Tensor:
    """``rows`` followed by zeros up to ``count`` rows."""
    padding = [0, 0] * (rows.dim() - 1) + [0, count - rows.shape[0]]
    return functional.pad(rows, padding)


def _layer(layer: Any) -> _Layer:
    attention = layer.attention.self
    return _Layer(
        query_key_value=_joined(attention.query, attention.key, attention.value),
        query=attention.query,
        key_value=_joined(attention.key, attention.value),
        attended=layer.attention.output.dense,
        attention_norm=layer.attention.output.LayerNorm,
        widen=layer.intermediate.dense,
        activation=layer.intermediate.intermediate_act_fn,
        narrow=layer.output.dense,
        output_norm=layer.output.LayerNorm,
    )


def _joined(*linears: torch.nn.Linear) -> torch.nn.Linear:
    joined = torch.nn.Linear(linears[0].in_features, sum(one.out_features for one in linears))
    joined.weight.data = torch.cat([one.weight.detach() for one in linears])
    joined.bias.data = torch.cat([one.bias.detach() for one in linears])
    return joined


def _recorder(affine: Affine) -> Affine:
    return Recorder(affine) if isinstance(affine, torch.nn.Linear) else affine


def _quantised(affine: Affine) -> Affine:
    """int8 for what was used; the last layer's joint product, for example, is not."""
    if not isinstance(affine, Recorder):
        return affine
    return affine.linear if affine.largest is None else Int8Linear(affine.linear, affine.largest)
