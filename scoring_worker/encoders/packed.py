"""BERT and MPNet encoders on a CPU without padding, the shipped scorers' forward pass.

The same weights and the same function as transformers' own (tests hold them together to 3e-5),
arranged for small batches of short pairs:

* all tokens of a tile are one after the other, so that no matrix product sees padding;
* sequences of equal length attend in one call, as they lie: nothing is gathered or masked;
* query, key and value are one product.

Where every operator has one thread (`devices.one_thread_each`), a pair's score is the same to the
last bit in every batch. Attention sees one sequence at a time. In int8 every sum is of integers,
exact in any order. In fp32 every product has the same shape in every call, for which a tile is
filled up to `TILE_TOKENS` tokens: the BLAS then adds in the same order wherever a row is. So
does the small rest that stays fp32, with `TILE_ROWS` rows.
"""

import ctypes
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from safepassage.scoring_worker.manifest import ModelError

from .architectures import Affine, Architecture, Layer, architecture_of
from .batching import Piece
from .int8_layers import Int8Linear, Linear, Recorder
from .prepared_layers import PreparedLayers

TILE_TOKENS = 512
TILE_ROWS = 64


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbours in a tile of the same ``length``: ``count`` sequences, where their tokens lie."""

    count: int
    length: int
    tokens: slice


class PackedTrunk:
    """The layers of a BERT or MPNet over packed tiles: the hidden state of every token.

    Args:
        architecture: the encoder; None is one that has no packed forward pass.
        typical: tiles on which the large products turn into int8, with channels evened out as
            these tiles have them; without any they stay as they are.
        prepared: keeps what came of the tiles, so that no later process needs them.

    Raises:
        ModelError: the encoder does not fit, or this CPU has no int8 kernels.
    """

    def __init__(
        self,
        architecture: Architecture | None,
        typical: Sequence[Sequence[Piece]] = (),
        prepared: PreparedLayers | None = None,
    ) -> None:
        if architecture is None or not self.fits(architecture):
            raise ModelError("there is no packed forward pass for this encoder")
        # Of a stored encoder nothing is kept open: its weights are in the layers now.
        self._heads = architecture.heads
        self._first_position = architecture.first_position
        self._bias = architecture.bias()
        self._exact = False
        with torch.inference_mode():
            self._embedded = architecture.embeddings()
            kept = prepared.read() if typical and prepared else None
            layers = architecture.layers((lambda *_: next(kept)) if kept else None)
            if typical and not kept:
                layers = self._quantised(layers, typical)
            self._layers = list(layers)
            if typical and prepared and not kept:
                prepared.write(one for layer in self._layers for one in _made(layer))
        self._exact = bool(typical)

    @staticmethod
    def fits(architecture: Architecture) -> bool:
        """Whether the longest sequence fits into a tile."""
        return architecture.longest <= TILE_TOKENS

    def _quantised(
        self, layers: Iterable[Layer], typical: Sequence[Sequence[Piece]]
    ) -> Iterator[Layer]:
        """Every layer in int8, made while the tiles pass: one of them is in fp32 at a time."""
        hidden = [self._embed(tile, TILE_TOKENS) for tile in typical]
        groups = [list(_groups(tile)) for tile in typical]
        for layer in layers:
            recorded = layer.mapped(_recorded)
            hidden = [self._forward(recorded, *one) for one in zip(hidden, groups, strict=True)]
            yield recorded.mapped(_quantised)
            _give_back_memory()

    def hidden(self, tile: Sequence[Piece]) -> Tensor:
        """Hidden states [tokens, width] of a tile within `TILE_TOKENS`, pieces one after the
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
        first = self._first_position
        positions = torch.cat([torch.arange(first, first + len(piece)) for piece in tile])
        rows = (_filled(row, tokens) for row in (ids, types, positions))
        return self._embedded(*rows)

    def _forward(self, layer: Layer, hidden: Tensor, groups: Sequence[_Group]) -> Tensor:
        projected = layer.query_key_value(hidden)
        attended = [self._attended(projected[group.tokens], group) for group in groups]
        return _finish(layer, hidden, _filled(torch.cat(attended), len(hidden)))

    def _attended(self, projected: Tensor, group: _Group) -> Tensor:
        """What the tokens of a group attend to [tokens, width], the sequences one after the
        other."""
        length = group.length
        # The bias depends on the distance alone: a shorter sequence has a corner of the longest's.
        bias = None if self._bias is None else self._bias[..., :length, :length]
        query, key, value = self._split(projected, group)
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return context.transpose(1, 2).flatten(2).flatten(0, 1)

    def _split(self, projected: Tensor, group: _Group) -> tuple[Tensor, ...]:
        """[tokens, 3 · width] as three views [count, heads, length, width / heads]."""
        shaped = projected.view(group.count, group.length, 3, self._heads, -1)
        return shaped.permute(2, 0, 3, 1, 4).unbind(0)


class PackedBert:
    """The forward pass of a ``BertForSequenceClassification`` over packed tiles."""

    def __init__(self, model: Any, typical: Sequence[Sequence[Piece]] = ()) -> None:
        self.trunk = PackedTrunk(architecture_of(model.bert), typical)
        self._pooler = model.bert.pooler.dense
        self._classifier = model.classifier

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether ``model`` is a BERT whose longest sequence fits into a tile."""
        if type(model).__name__ != "BertForSequenceClassification":
            return False
        architecture = architecture_of(model.bert)
        return architecture is not None and PackedTrunk.fits(architecture)

    def logits(self, tile: Sequence[Piece]) -> Tensor:
        """Logits [pieces, labels] of a tile within `TILE_TOKENS` and `TILE_ROWS`."""
        hidden = self.trunk.hidden(tile)
        firsts = _filled(hidden[_starts(tile)], TILE_ROWS)
        logits: Tensor = self._classifier(torch.tanh(self._pooler(firsts)))
        return logits[: len(tile)]


def _starts(tile: Sequence[Piece]) -> list[int]:
    return list(accumulate((len(piece) for piece in tile[:-1]), initial=0))


def _finish(layer: Layer, hidden: Tensor, attended: Tensor) -> Tensor:
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
    if len(rows) == count:
        return rows
    padding = [0, 0] * (rows.dim() - 1) + [0, count - len(rows)]
    return functional.pad(rows, padding)


def _give_back_memory() -> None:
    """Return what was freed to the system, where the C library can be told to (glibc).

    It keeps freed matrices for the next ones: a reader of 90 MB leaves 280 MB behind.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # musl has none
        trim(0)


def _recorded(affine: Affine) -> Affine:
    return Recorder(affine) if isinstance(affine, Linear) else affine


def _made(layer: Layer) -> Iterator[Int8Linear]:
    for product in layer.large_products():
        assert isinstance(product, Int8Linear)  # noqa: S101 (of tiles these are made)
        yield product


def _quantised(affine: Affine) -> Affine:
    """The recorded layer in int8."""
    if not isinstance(affine, Recorder) or affine.largest is None:
        raise ModelError("int8 layers are made from recorded ones")
    return Int8Linear(affine.linear, affine.largest)
