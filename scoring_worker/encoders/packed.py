"""BERT encoders on a CPU without padding, the shipped scorer's forward pass.

The same weights and the same function as transformers' own (tests hold them together to 1e-5),
arranged for small batches of short pairs:

* all tokens of a tile stand one after the other, so that no matrix product sees padding;
* sequences of equal length attend in one call, as they lie: nothing is gathered or masked;
* query, key and value are one product.

Where every operator has one thread (`devices.one_thread_each`), a pair's score is the same to the
last bit in every batch. Attention sees one sequence at a time. In int8 every sum is of integers,
exact in any order. In fp32 every product has the same shape in every call, for which a tile is
filled up to `TILE_TOKENS` tokens: the BLAS then adds in the same order wherever a row stands. So
does the small rest that stays fp32, with `TILE_ROWS` rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from safepassage.scoring_worker.manifest import ModelError

from .batching import Piece
from .quantised import Int8Linear, Recorder

TILE_TOKENS = 512
TILE_ROWS = 64

Affine = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbours in a tile of the same ``length``: ``count`` sequences, where their tokens lie."""

    count: int
    length: int
    tokens: slice


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: Affine
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
            attended=change(self.attended),
            widen=change(self.widen),
            narrow=change(self.narrow),
        )


class PackedTrunk:
    """The layers of a BERT over packed tiles: the hidden state of every token."""

    tile_tokens = TILE_TOKENS
    tile_rows = TILE_ROWS

    def __init__(self, bert: Any) -> None:
        self._embeddings = bert.embeddings
        self._layers = [_layer(layer) for layer in bert.encoder.layer]
        self._heads = bert.config.num_attention_heads
        self._exact = False

    @staticmethod
    def fits(bert: Any) -> bool:
        """Whether ``bert`` is a BERT encoder whose longest sequence fits into a tile."""
        config = bert.config
        return (
            type(bert).__name__ == "BertModel"
            and config.max_position_embeddings <= TILE_TOKENS
            and not config.is_decoder
        )

    @torch.inference_mode()
    def quantise(self, typical: Sequence[Sequence[Piece]]) -> None:
        """Turn the large products into int8, with channels evened out as these tiles have them.

        Raises:
            ModelError: this CPU has no int8 kernels.
        """
        self._layers = [layer.mapped(_recorded) for layer in self._layers]
        for tile in typical:
            self.hidden(tile)
        self._layers = [layer.mapped(_quantised) for layer in self._layers]
        self._exact = True

    def hidden(self, tile: Sequence[Piece]) -> Tensor:
        """Hidden states [tokens, width] of a tile within `tile_tokens`, pieces one after the
        other in their order; rows beyond the tile's tokens are filling."""
        groups = list(_groups(tile))
        tokens = groups[-1].tokens.stop if self._exact else TILE_TOKENS
        hidden = self._embed(tile, tokens)
        for layer in self._layers:
            hidden = self._forward(layer, hidden, groups)
        return hidden

    def _embed(self, tile: Sequence[Piece], tokens: int) -> Tensor:
        ids = torch.tensor([token for piece in tile for token in piece.ids])
        types = torch.tensor([kind for piece in tile for kind in piece.type_ids])
        positions = torch.cat([torch.arange(len(piece)) for piece in tile])
        embedded: Tensor = self._embeddings(
            input_ids=_filled(ids, tokens)[None],
            token_type_ids=_filled(types, tokens)[None],
            position_ids=_filled(positions, tokens)[None],
        )
        return embedded[0]

    def _forward(self, layer: _Layer, hidden: Tensor, groups: Sequence[_Group]) -> Tensor:
        projected = layer.query_key_value(hidden)
        attended = [_attention(*self._split(projected[group.tokens], group)) for group in groups]
        return _finish(layer, hidden, _filled(torch.cat(attended), len(hidden)))

    def _split(self, projected: Tensor, group: _Group) -> tuple[Tensor, ...]:
        """[tokens, 3 · width] as three views [count, heads, length, width / heads]."""
        shaped = projected.view(group.count, group.length, 3, self._heads, -1)
        return shaped.permute(2, 0, 3, 1, 4).unbind(0)


class PackedBert:
    """The forward pass of a ``BertForSequenceClassification`` over packed tiles."""

    tile_tokens = TILE_TOKENS
    tile_rows = TILE_ROWS

    def __init__(self, model: Any) -> None:
        self.trunk = PackedTrunk(model.bert)
        self._pooler = model.bert.pooler.dense
        self._classifier = model.classifier

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether ``model`` is a BERT whose longest sequence fits into a tile."""
        named = type(model).__name__ == "BertForSequenceClassification"
        return named and PackedTrunk.fits(model.bert)

    def quantise(self, typical: Sequence[Sequence[Piece]]) -> None:
        """Turn the large products into int8; see `PackedTrunk.quantise`."""
        self.trunk.quantise(typical)

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile within `tile_tokens` and `tile_rows`."""
        hidden = self.trunk.hidden(tile)
        firsts = _filled(hidden[_starts(tile)], TILE_ROWS)
        logits: Tensor = self._classifier(torch.tanh(self._pooler(firsts)))
        return logits[: len(tile)]


def _starts(tile: Sequence[Piece]) -> list[int]:
    """The row of every piece's first token."""
    return list(accumulate((len(piece) for piece in tile[:-1]), initial=0))


def _attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """[count · queries, width], the sequences one after the other."""
    context = functional.scaled_dot_product_attention(query, key, value)
    return context.transpose(1, 2).flatten(2).flatten(0, 1)


def _finish(layer: _Layer, hidden: Tensor, attended: Tensor) -> Tensor:
    middle = layer.attention_norm(layer.attended(attended).add_(hidden))
    return layer.output_norm(layer.narrow(layer.activation(layer.widen(middle))).add_(middle))


def _groups(tile: Sequence[Piece]) -> Iterator[_Group]:
    tokens = 0
    for length, members in groupby(map(len, tile)):
        count = len(list(members))
        end = tokens + count * length
        yield _Group(count, length, slice(tokens, end))
        tokens = end


def _filled(rows: Tensor, count: int) -> Tensor:
    """``rows`` followed by zeros up to ``count`` rows."""
    if len(rows) == count:
        return rows
    padding = [0, 0] * (rows.dim() - 1) + [0, count - len(rows)]
    return functional.pad(rows, padding)


def _layer(layer: Any) -> _Layer:
    attention = layer.attention.self
    return _Layer(
        query_key_value=_joined(attention.query, attention.key, attention.value),
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


def _recorded(affine: Affine) -> Affine:
    """The layer with a memory of its inputs, in which activations and norms have no part."""
    return Recorder(affine) if isinstance(affine, torch.nn.Linear) else affine


def _quantised(affine: Affine) -> Affine:
    """The recorded layer in int8."""
    if not isinstance(affine, Recorder) or affine.largest is None:
        raise ModelError("int8 layers are made from recorded ones")
    return Int8Linear(affine.linear, affine.largest)
