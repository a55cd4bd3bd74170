"""Which encoders can be packed, and where each keeps what a packed forward pass needs.

BERT and MPNet compute the same layers. They differ in the names of their parts, in the number of
the first position, and in what beside the hidden states steers attention: BERT reads token types,
MPNet adds a bias for the distance between two tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

Affine = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Layer:
    """The functions of one layer, in the order in which they are applied."""

    query_key_value: Affine
    attended: Affine
    attention_norm: Affine
    widen: Affine
    activation: Affine
    narrow: Affine
    output_norm: Affine

    def mapped(self, change: Callable[[Affine], Affine]) -> Layer:
        """This layer with its large products changed."""
        return replace(
            self,
            query_key_value=change(self.query_key_value),
            attended=change(self.attended),
            widen=change(self.widen),
            narrow=change(self.narrow),
        )


class Architecture(ABC):
    """Says how the parts of one encoder are read."""

    first_position: ClassVar[int]
    """The number of a sequence's first position."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder
        self.heads: int = encoder.config.num_attention_heads

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        positions: int = self.encoder.config.max_position_embeddings
        return positions - self.first_position

    @abstractmethod
    def embedded(self, ids: Tensor, types: Tensor, positions: Tensor) -> Tensor:
        """Embeddings [1, tokens, width] of ids, token types and positions, each [1, tokens]."""

    @abstractmethod
    def layers(self) -> list[Layer]:
        """The layers from the first to the last, with query, key and value in one product."""

    def bias(self) -> Tensor | None:
        """What every layer adds to the attention of a token (row) to another (column), [1, heads,
        longest, longest]; None where nothing is added."""
        return None


class _Bert(Architecture):
    first_position = 0

    def embedded(self, ids: Tensor, types: Tensor, positions: Tensor) -> Tensor:
        embedded: Tensor = self.encoder.embeddings(
            input_ids=ids, token_type_ids=types, position_ids=positions
        )
        return embedded

    def layers(self) -> list[Layer]:
        return [_bert_layer(layer) for layer in self.encoder.encoder.layer]


class _MPNet(Architecture):
    first_position = 2

    def embedded(self, ids: Tensor, types: Tensor, positions: Tensor) -> Tensor:
        embedded: Tensor = self.encoder.embeddings(input_ids=ids, position_ids=positions)
        return embedded

    def layers(self) -> list[Layer]:
        return [_mpnet_layer(layer) for layer in self.encoder.encoder.layer]

    def bias(self) -> Tensor:
        table = self.encoder.encoder.relative_attention_bias.weight
        # Attention has a fast kernel only for a bias that wants no gradients.
        with torch.no_grad():
            bias: Tensor = self.encoder.encoder.compute_position_bias(
                table.new_empty(1, self.longest, 0)
            )
        return bias


_ARCHITECTURES: dict[str, type[Architecture]] = {"BertModel": _Bert, "MPNetModel": _MPNet}


def architecture_of(encoder: Any) -> Architecture | None:
    """How ``encoder`` is read, None where it is neither a BERT nor an MPNet encoder."""
    kind = _ARCHITECTURES.get(type(encoder).__name__)
    if kind is None or getattr(encoder.config, "is_decoder", False):
        return None
    return kind(encoder)


def _bert_layer(layer: Any) -> Layer:
    own, output = layer.attention.self, layer.attention.output
    joined = _joined(own.query, own.key, own.value)
    return _layer(layer, joined, output.dense, output.LayerNorm)


def _mpnet_layer(layer: Any) -> Layer:
    own = layer.attention.attn
    return _layer(layer, _joined(own.q, own.k, own.v), own.o, layer.attention.LayerNorm)


def _layer(layer: Any, query_key_value: Affine, attended: Affine, attention_norm: Affine) -> Layer:
    return Layer(
        query_key_value=query_key_value,
        attended=attended,
        attention_norm=attention_norm,
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
