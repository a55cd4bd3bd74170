"""int8 linear layers whose scores still do not depend on the batch.

The usual dynamic quantisation takes one scale from all rows of a batch, so that a pair's score
depends on its company. Here every row (token) has a scale of its own, and integer sums are
exact in any order, so int8 is even more reproducible than fp32.

Two things keep the loss small. Channels of very different size are evened out first: what an
input channel is divided by, its weights are multiplied with (SmoothQuant, Xiao et al. 2023,
with an exponent of 1/2); how large a channel gets is seen on `TYPICAL_PAIRS` when the model is
loaded. And inputs have 7 bits: with 8, x86 without VNNI saturates its 16-bit sums (seen here:
an error of 13% against 1.5%).
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from safepassage.scoring_worker.manifest import ModelError

_ENGINE = "fbgemm"
_HALF = 63
_SMALLEST = 1e-5
PARTS = ("factor", "bias", "integers", "scales")


TYPICAL_PAIRS = (
    ("Date of Hearing: May 4, 2011", "Hearing Date: May 4, 2011"),
    ("Counsel for the appellant: Ann Lee, Barrister & Solicitor", "Appellant Counsel: Ann Lee"),
    ("The panel finds no error and dismisses the appeal.", "Outcome: Appeal allowed"),
    ("Lieu de l'audience Place of hearing\nLyon", "Place of Hearing: Lyon"),
    ("File No. AB0-01234/56", "File Number: AB0-01234"),
    ("Country of nationality: Chile", "Country: Ghana"),
    ("The rent of EUR 1,480.00 is due on the first of each month.", "Monthly Rent: 1480 EUR"),
    ("This Agreement is governed by the laws of Ontario.", "Governing Law: Delaware"),
    ("XXXXXXXX XXXX v. The Minister", "Presiding Judge: Mary X. Smith"),
    ("Mr. Doe appeared in camera on 2012-01-17 by video.", "Hearing Date: January 17, 2012"),
)
"""Made-up pairs of the kinds that are scored, from which the channels' sizes are taken."""


@dataclass(frozen=True, slots=True)
class Linear:
    """``rows @ weight.T + bias``."""

    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        return functional.linear(rows, self.weight, self.bias)


class Recorder:
    """A linear layer that remembers how large each input channel gets."""

    def __init__(self, linear: Linear) -> None:
        self.linear = linear
        self.largest: Tensor | None = None

    def __call__(self, rows: Tensor) -> Tensor:
        seen = rows.abs().amax(0)
        self.largest = seen if self.largest is None else torch.maximum(self.largest, seen)
        return self.linear(rows)


class Int8Linear:
    """``rows @ weight.T + bias`` in int8. ``largest`` is the size of each input channel. Raises
    `ModelError` where this CPU has no int8 kernels."""

    def __init__(self, linear: Linear, largest: Tensor) -> None:
        weight, bias = linear.weight, linear.bias
        evened = largest.clamp_min(_SMALLEST) / weight.abs().amax(0).clamp_min(_SMALLEST)
        self._factor = evened.rsqrt()
        self._bias = bias
        self._packed = _pack(weight * evened.sqrt())

    @classmethod
    def of_parts(cls, parts: Mapping[str, Tensor]) -> Self:
        """The layer that has these `parts`. Raises `ModelError` where this CPU has no int8
        kernels."""
        made = cls.__new__(cls)
        # Copies: a view of a file would keep all of it mapped, which is 80 MB of a large reader.
        made._factor, made._bias = parts["factor"].clone(), parts["bias"].clone()
        made._packed = _packed(parts["integers"], parts["scales"])
        return made

    def parts(self) -> dict[str, Tensor]:
        """`PARTS`: what the layer is made of, to be kept."""
        integers, _ = torch.ops.quantized.linear_unpack(self._packed)
        scales = integers.q_per_channel_scales()
        tensors = (self._factor, self._bias, integers.int_repr(), scales)
        return dict(zip(PARTS, tensors, strict=True))

    def __call__(self, rows: Tensor) -> Tensor:
        scaled = rows * self._factor
        size = scaled.abs().amax(-1, keepdim=True).clamp_min_(_SMALLEST)
        product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32(
            scaled.mul_(size.reciprocal()), 1 / _HALF, _HALF + 1, self._packed
        )
        return torch.addcmul(self._bias, product, size, out=product)


def has_int8() -> bool:
    """Whether torch has the kernels here (x86 only)."""
    return _ENGINE in torch.backends.quantized.supported_engines


def _pack(weight: Tensor) -> object:
    """Weights as signed 8-bit integers with one scale per output, in the kernel's layout."""
    scales = (weight.abs().amax(1).clamp_min(_SMALLEST) / 127).double()
    zeros = torch.zeros(len(scales), dtype=torch.long)
    with _kernels():
        return _prepacked(torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8))


def _packed(integers: Tensor, scales: Tensor) -> object:
    """The same of weights that are integers [outputs, inputs] already."""
    zeros = torch.zeros(len(scales), dtype=torch.long)
    with _kernels():
        return _prepacked(torch._make_per_channel_quantized_tensor(integers, scales, zeros, 0))


def _prepacked(integers: Tensor) -> object:
    return torch.ops.quantized.linear_prepack(integers, torch.zeros(len(integers)))


@contextmanager
def _kernels() -> Iterator[None]:
    if not has_int8():
        raise ModelError("int8 needs an x86 CPU; use fp32 here")
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = _ENGINE
    try:
        with warnings.catch_warnings():  # torch moves these kernels' Python front end elsewhere
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.backends.quantized.engine = before
