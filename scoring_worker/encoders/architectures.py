"""Which encoders can be packed, and where each keeps what a packed forward pass needs.

BERT and MPNet compute the same layers. They differ in the names of their weights, in the number of
the first position, and in what beside the hidden states steers attention: BERT reads token types,
MPNet adds a bias for the distance between two tokens. Both are read from weights by name, so that
one stored in a folder is built without transformers, a layer at a time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from safepassage.scoring_worker.manifest import ModelError

from .int8_layers import Linear
from .stored_weights import StoredWeights

Affine = Callable[[Tensor], Tensor]
Embeddings = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Embeddings [tokens, width] of ids, token types and positions, each [tokens]."""
Sizes = dict[str, tuple[int, ...]]

_POSITIONS = "embeddings.position_embeddings.weight"
_FIRST_NORM = "embeddings.LayerNorm"
_KINDS = "embeddings.token_type_embeddings.weight"
_DISTANCES = "encoder.relative_attention_bias.weight"

_BUCKETS = 32
_MAX_DISTANCE = 128
"""Tokens further apart than this are all alike to MPNet."""


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

    def large_products(self) -> tuple[Affine, Affine, Affine, Affine]:
        """In the order in which `Architecture.layers` makes them."""
        return self.query_key_value, self.attended, self.widen, self.narrow

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
    """Says how one encoder is read.

    Args:
        shape: its config, of transformers or an `EncoderShape`.
        weights: its weights by the names that transformers gives them; a stored one makes each
            when it is asked for.
        words: embeddings [tokens, width] of word ids [tokens].
        dtype: of the weights in the forward pass.
    """

    first_position: ClassVar[int]
    """The number of a sequence's first position."""
    query_key_value: ClassVar[tuple[str, str, str]]
    attended: ClassVar[str]
    attention_norm: ClassVar[str]

    def __init__(
        self,
        shape: Any,
        weights: Mapping[str, Tensor],
        words: Callable[[Tensor], Tensor],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.shape = shape
        self.heads: int = shape.num_attention_heads
        self._weights = weights
        self._words = words
        self._dtype = dtype

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        positions: int = self.shape.max_position_embeddings
        return positions - self.first_position

    @abstractmethod
    def embeddings(self) -> Embeddings:
        """What gives embeddings, and holds nothing else of the encoder."""

    def layers(self, linear: Callable[..., Affine] | None = None) -> Iterator[Layer]:
        """The layers from the first to the last, with query, key and value in one product; each is
        made when its turn comes. ``linear`` gives the large products in the place of the weights
        of these names."""
        linear = linear or self._linear
        for number in range(self.shape.num_hidden_layers):
            name = f"encoder.layer.{number}."
            yield Layer(
                query_key_value=linear(*(name + part for part in self.query_key_value)),
                attended=linear(name + self.attended),
                attention_norm=self._layer_norm(name + self.attention_norm),
                widen=linear(name + "intermediate.dense"),
                activation=functional.gelu,
                narrow=linear(name + "output.dense"),
                output_norm=self._layer_norm(name + "output.LayerNorm"),
            )

    def bias(self) -> Tensor | None:
        """What every layer adds to the attention of a token (row) to another (column), [1, heads,
        longest, longest]; None where nothing is added."""
        return None

    @classmethod
    def sizes(cls, shape: Any) -> Sizes:
        """The size of every weight but the words, by name."""
        width, wide = shape.hidden_size, shape.intermediate_size
        found: Sizes = {_POSITIONS: (shape.max_position_embeddings, width)}
        found |= _sizes(_FIRST_NORM, width)
        for number in range(shape.num_hidden_layers):
            name = f"encoder.layer.{number}."
            for part in (*cls.query_key_value, cls.attended):
                found |= _sizes(name + part, width, width)
            found |= _sizes(name + "intermediate.dense", wide, width)
            found |= _sizes(name + "output.dense", width, wide)
            found |= _sizes(name + cls.attention_norm, width)
            found |= _sizes(name + "output.LayerNorm", width)
        return found

    def _weight(self, name: str) -> Tensor:
        return self._weights[name].to(self._dtype)

    def _linear(self, *names: str) -> Linear:
        """The linear layer of that name; of several, their products side by side."""
        weights = [self._weight(f"{name}.weight") for name in names]
        biases = [self._weight(f"{name}.bias") for name in names]
        return Linear(*(one[0] if len(one) == 1 else torch.cat(one) for one in (weights, biases)))

    def _layer_norm(self, name: str) -> Affine:
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        size, eps = (len(weight),), self.shape.layer_norm_eps
        return lambda rows: functional.layer_norm(rows, size, weight, bias, eps)


class _Bert(Architecture):
    first_position = 0
    query_key_value = ("attention.self.query", "attention.self.key", "attention.self.value")
    attended = "attention.output.dense"
    attention_norm = "attention.output.LayerNorm"

    def embeddings(self) -> Embeddings:
        words, norm = self._words, self._layer_norm(_FIRST_NORM)
        kinds, places = self._weight(_KINDS), self._weight(_POSITIONS)
        return lambda ids, types, positions: norm(words(ids) + kinds[types] + places[positions])

    @classmethod
    def sizes(cls, shape: Any) -> Sizes:
        kinds = (shape.type_vocab_size, shape.hidden_size)
        return super().sizes(shape) | {_KINDS: kinds}


class _MPNet(Architecture):
    first_position = 2
    query_key_value = ("attention.attn.q", "attention.attn.k", "attention.attn.v")
    attended = "attention.attn.o"
    attention_norm = "attention.LayerNorm"

    def embeddings(self) -> Embeddings:
        words, norm, places = self._words, self._layer_norm(_FIRST_NORM), self._weight(_POSITIONS)
        return lambda ids, _types, positions: norm(words(ids) + places[positions])

    def bias(self) -> Tensor:
        by_bucket = self._weight(_DISTANCES)
        places = torch.arange(self.longest)
        buckets = _buckets(places[None, :] - places[:, None])
        return by_bucket[buckets].permute(2, 0, 1).unsqueeze(0).contiguous()

    @classmethod
    def sizes(cls, shape: Any) -> Sizes:
        table = (shape.relative_attention_num_buckets, shape.num_attention_heads)
        return super().sizes(shape) | {_DISTANCES: table}


_ARCHITECTURES: dict[str, type[Architecture]] = {"bert": _Bert, "mpnet": _MPNet}


def architecture_of(encoder: Any) -> Architecture | None:
    """How ``encoder``, of transformers, is read; None where it cannot be packed."""
    kind = _kind(getattr(encoder, "config", None))
    if kind is None or type(encoder).__name__ not in ("BertModel", "MPNetModel"):
        return None
    state = encoder.state_dict()
    dtype = state[_POSITIONS].dtype
    return kind(encoder.config, state, encoder.get_input_embeddings(), dtype)


def stored_architecture(
    shape: Any, weights: StoredWeights, words: Callable[[Tensor], Tensor], dtype: torch.dtype
) -> Architecture | None:
    """How a stored encoder is read; None where it cannot be packed. Raises `ModelError` where its
    weights are not those that ``shape`` asks for."""
    kind = _kind(shape)
    if kind is None:
        return None
    wanted, found = kind.sizes(shape), weights.sizes()
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            sizes = f"{found.get(name, 'not there')}, not {wanted.get(name, 'wanted')}"
            raise ModelError(f"the weight {name} of its encoder is {sizes}")
    return kind(shape, weights, words, dtype)


def _kind(shape: Any) -> type[Architecture] | None:
    if getattr(shape, "is_decoder", False) or getattr(shape, "hidden_act", None) != "gelu":
        return None
    return _ARCHITECTURES.get(getattr(shape, "model_type", ""))


def _sizes(name: str, *size: int) -> Sizes:
    """Of a linear layer (outputs, inputs) or of a norm (width)."""
    return {f"{name}.weight": size, f"{name}.bias": size[:1]}


def _buckets(distances: Tensor) -> Tensor:
    """The bucket of each distance (column minus row), as T5 (Raffel et al. 2020) counts them: half
    for each direction; in a half, one for each short distance, then wider and wider ones."""
    half = _BUCKETS // 2
    near = half // 2
    size = distances.abs()
    share = torch.log(size.clamp_min(1).float() / near) / math.log(_MAX_DISTANCE / near)
    far = (near + (share * (half - near)).long()).clamp_max(half - 1)
    return torch.where(size < near, size, far) + half * (distances > 0)
