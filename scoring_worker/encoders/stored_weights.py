"""Weights in fewer bits: words in blocks of 4-bit numbers, matrices in groups of 8-bit numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

from safepassage.scoring_worker.manifest import ModelError

_BLOCK = 32
_GROUP = 64
_LARGEST = 127
SCALES = ".scales"
"""What the name of a matrix in 8 bits has behind it where its scales lie."""


class BlockWords(nn.Module):
    """Word embeddings in blocks of 32 weights: 4-bit numbers and one float16 scale each.

    ``nibbles`` [words, width / 2] uint8: in every block's 16 bytes the low halves are its first 16
    weights, the high halves the others, each 8 too large. ``scales`` [words, width / 32]. Only the
    rows that are asked for become floats. Raises `ModelError` where the two do not fit each other.
    """

    nibbles: Tensor
    scales: Tensor
    like: Tensor

    def __init__(self, nibbles: Tensor, scales: Tensor) -> None:
        super().__init__()
        if (
            nibbles.dtype != torch.uint8
            or nibbles.dim() != 2
            or scales.shape != (len(nibbles), nibbles.shape[1] * 2 / _BLOCK)
            or not scales.is_floating_point()
        ):
            shapes = f"{list(nibbles.shape)} and {list(scales.shape)}"
            raise ModelError(f"words and scales of shapes {shapes} are no 4-bit blocks")
        self.register_buffer("nibbles", nibbles, persistent=False)
        # As integers, so that a model moved to another precision keeps them exact.
        self.register_buffer("scales", scales.half().view(torch.int16), persistent=False)
        self.register_buffer("like", torch.zeros(0), persistent=False)

    @property
    def shape(self) -> tuple[int, int]:
        """(words, width)."""
        return len(self.nibbles), self.nibbles.shape[1] * 2

    @property
    def weight(self) -> Tensor:
        """Represents the table where transformers asks for its device and type."""
        return self.like

    def forward(self, ids: Tensor) -> Tensor:
        """Embeddings [..., width] of word ids, in the model's precision."""
        packed = self.nibbles[ids].reshape(*ids.shape, -1, _BLOCK // 2)
        whole = torch.cat([packed & 15, packed >> 4], dim=-1).to(torch.float32) - 8
        scales = self.scales[ids].view(torch.float16).float().unsqueeze(-1)
        return (whole * scales).flatten(-2).to(self.like.dtype)


def blocks_of(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(nibbles, scales) of ``weight`` [words, width]; exact where it came from such blocks.

    The weight of a block that is largest in size, regardless of its sign, gets the code 0, so -8.
    Raises `ModelError` where the width is no multiple of 32."""
    if weight.shape[1] % _BLOCK:
        raise ModelError(f"a width of {weight.shape[1]} is no multiple of {_BLOCK}")
    blocks = weight.float().reshape(len(weight), -1, _BLOCK)
    least, most = blocks.amin(-1), blocks.amax(-1)
    scales = (torch.where(most > -least, most, least) / -8).half()
    divisors = scales.float().unsqueeze(-1)
    steps = torch.where(divisors == 0, 0.0, blocks / divisors)
    codes = (steps.round() + 8).clamp(0, 15).to(torch.uint8)
    low, high = codes[..., : _BLOCK // 2], codes[..., _BLOCK // 2 :]
    return (low | high << 4).flatten(-2), scales


def bytes_of(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(integers int8 [outputs, inputs], scales [outputs, groups]) of ``weight``, with one scale for
    64 neighbours in a row; exact where it came from such groups.

    With one scale for a whole row, a few outliers in it cost three times the error (logits of the
    large reader). Scales are bfloat16: 127 of one is a float32 without rounding, so that nothing is
    lost when weights that came from such groups are stored again.
    """
    groups = weight.float().reshape(len(weight), _groups(weight.shape[1]), -1)
    scales = (groups.abs().amax(-1) / _LARGEST).bfloat16()
    divisors = scales.float().unsqueeze(-1)
    steps = torch.where(divisors == 0, 0.0, groups / divisors)
    return steps.round().clamp(-_LARGEST, _LARGEST).to(torch.int8).flatten(1), scales


def _groups(width: int) -> int:
    """How many scales a row has: one alone where its width is no multiple of a group's."""
    return 1 if width % _GROUP else width // _GROUP


class StoredWeights(Mapping[str, Tensor]):
    """A stored state by name, in float32; a matrix in 8 bits is multiplied with its scales.

    A weight is made when it is asked for, and is not kept: a reader of 350 MB is built without all
    of it in memory. ``stored`` gives the tensor of a name. Raises `ModelError` where a matrix of
    integers has no scale for each of its groups, or a tensor is of integers that are not stored so;
    when it is asked for."""

    def __init__(self, names: Iterable[str], stored: Callable[[str], Tensor]) -> None:
        every = set(names)
        scales = {name for name in every if name.endswith(SCALES)}
        lone = sorted(name for name in scales if name.removesuffix(SCALES) not in every)
        if lone:
            raise ModelError(f"{lone[0]} are scales of nothing")
        self._names = dict.fromkeys(sorted(every - scales))
        self._scaled = {name.removesuffix(SCALES) for name in scales}
        self._stored = stored

    @classmethod
    def of_file(cls, path: Path) -> StoredWeights:
        """The weights of a safetensors file, which stays mapped as long as this is there."""
        opened: Any = safe_open(path, framework="pt")
        return cls(opened.keys(), opened.get_tensor)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The size of every weight."""
        return {name: tuple(self._stored(name).shape) for name in self._names}

    def below(self, prefix: str) -> StoredWeights:
        """Those whose names begin with ``prefix``, without it."""
        every = (*self._names, *(name + SCALES for name in self._scaled))
        names = (name.removeprefix(prefix) for name in every if name.startswith(prefix))
        return StoredWeights(names, lambda name: self._stored(prefix + name))

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._names:
            raise KeyError(name)
        rows = self._stored(name)
        if name not in self._scaled and rows.dtype != torch.int8:
            return _float(name, rows)
        scales = _float(name, self._stored(name + SCALES)) if name in self._scaled else None
        if (
            scales is None
            or rows.dtype != torch.int8
            or rows.dim() != 2
            or scales.shape != (len(rows), _groups(rows.shape[1]))
        ):
            raise ModelError(f"{name} is of integers without a scale for each of their groups")
        groups = rows.float().reshape(len(rows), scales.shape[1], -1)
        return (groups * scales.unsqueeze(-1)).flatten(1)


def _float(name: str, tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        raise ModelError(f"{name}: weights are not stored as {tensor.dtype}")
    return tensor.float()
