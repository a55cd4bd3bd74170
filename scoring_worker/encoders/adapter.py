"""Low-rank adapters: what a reader learnt over a base that is left as it is.

To the weight W of every linear layer of the encoder a product B A of low rank is added (LoRA, Hu
et al. 2021, section 4.1), and only A, B and the heads are trained. A file of them is a hundredth of
the base, which users take from where it is published; loaded, they are added to W once, so that
reading costs what the base costs.

The file holds, for every adapted layer, ``NAME.down`` A [rank, inputs] and ``NAME.up`` B [outputs,
rank], scaled already, and the heads, all in float16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel

from safepassage.scoring_worker.manifest import ModelError

from .reader_model import HEADS, READER_TYPES, ReaderModel

ADAPTER_FILE = "adapter.safetensors"
SCALE = 2.0
"""Factor of B A in training: what LoRA calls alpha / rank."""


class LowRank(nn.Module):
    """A frozen linear layer with a low-rank update; before training it computes what it did."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, rows: Tensor) -> Tensor:
        """``rows`` [..., inputs] to [..., outputs]."""
        whole: Tensor = self.linear(rows)
        return whole + SCALE * functional.linear(functional.linear(rows, self.down), self.up)


def adapt(model: ReaderModel, rank: int) -> None:
    """Freeze the encoder of ``model`` and give its linear layers updates of ``rank`` to train."""
    model.encoder.requires_grad_(False)
    linears = [n for n, m in model.encoder.named_modules() if isinstance(m, nn.Linear)]
    for name in linears:
        parent, _, own = name.rpartition(".")
        holder = model.encoder.get_submodule(parent)
        setattr(holder, own, LowRank(getattr(holder, own), rank))


def save_adapter(model: ReaderModel, folder: Path) -> None:
    """Write the updates and heads of an adapted ``model`` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            scale = SCALE if name.endswith(".up") else 1.0
            tensors[name] = (weight.detach().cpu() * scale).half().contiguous()
    save_file(tensors, folder / ADAPTER_FILE)


def load_adapted(folder: Path, weights: Path) -> ReaderModel:
    """The reader over the encoder whose shape is in ``folder`` and whose weights are the file
    ``weights``, with the adapter of ``folder`` added to it; in float32, ready for inference.

    Raises:
        ModelError: a file is missing or malformed, or the adapter is another base's.
    """
    try:
        model = ReaderModel(_encoder(folder, load_file(weights)))
        _add(model, load_file(folder / ADAPTER_FILE))
        return model.eval()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        if isinstance(error, ModelError):
            raise
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise ModelError(f"{folder} holds no usable adapter: {first[:300]}") from error


def _encoder(folder: Path, state: Mapping[str, Tensor]) -> Any:
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    if config.model_type not in READER_TYPES:
        raise ModelError(f"{folder}: a reader cannot be of type {config.model_type!r}")
    make: Any = AutoModel.from_config  # transformers types it by half
    encoder = make(config, add_pooling_layer=False)
    found = encoder.load_state_dict({n: t.float() for n, t in state.items()}, strict=False)
    if found.missing_keys:  # what the file has beyond them, as a pooler, is not read
        raise ModelError(f"{folder}: its base lacks {', '.join(sorted(found.missing_keys)[:3])}")
    return encoder


def _add(model: ReaderModel, tensors: Mapping[str, Tensor]) -> None:
    left = dict(tensors)
    for head in HEADS:
        part: nn.Linear = getattr(model, head)
        part.load_state_dict({own: left.pop(f"{head}.{own}") for own in ("weight", "bias")})
    linears = {n: m for n, m in model.encoder.named_modules() if isinstance(m, nn.Linear)}
    for name, linear in linears.items():
        up, down = (left.pop(f"encoder.{name}.{own}").float() for own in ("up", "down"))
        update = up @ down
        if update.shape != linear.weight.shape:
            raise ModelError(f"the adapter is of another base: {name}")
        linear.weight.data += update
    if left:
        raise ModelError(f"the adapter holds what it should not: {', '.join(sorted(left)[:3])}")
