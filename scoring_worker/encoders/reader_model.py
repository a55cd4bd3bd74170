"""The reader: an encoder with three small heads, and how its weights lie in a folder.

From one pass over a question and a passage:

* ``tokens``: for every token of the passage a logit that it is part of an answer;
* ``claim``: at the first token a logit that the passage entails the question, read as a claim;
* ``founded``: for every token of a claim a logit that the passage bears it out.

A folder holds ``config.json`` of the encoder, ``tokenizer.json``, ``reader.safetensors`` (all
layers and heads, float16) and ``words.safetensors``: the word embeddings, which training leaves
alone, in the 4-bit blocks in which they came.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel

from safepassage.scoring_worker.manifest import ModelError, file_digest

HEADS = ("tokens", "claim", "founded")
READER_FILE = "reader.safetensors"
WORDS_FILE = "words.safetensors"
BASE_FILES = ("config.json", "tokenizer.json", WORDS_FILE)
"""What training leaves alone: readers trained from one another share these files."""
_BLOCK = 32
_WORDS = "encoder.embeddings.word_embeddings.weight"
READER_TYPES = {"bert", "mpnet", "xlm-roberta", "roberta"}
"""Encoders that transformers builds without any code of the model's."""


class BlockWords(nn.Module):
    """Word embeddings in blocks of 32 weights: 4-bit numbers and one float16 scale each.

    ``nibbles`` [words, width / 2] uint8: in every block's 16 bytes the low halves are its first
    16 weights, the high halves the others, each 8 too large. ``scales`` [words, width / 32].
    Only the rows that are asked for become floats.
    """

    nibbles: Tensor
    scales: Tensor
    like: Tensor

    def __init__(self, nibbles: Tensor, scales: Tensor) -> None:
        super().__init__()
        self.register_buffer("nibbles", nibbles, persistent=False)
        # As integers, so that a model moved to another precision keeps them exact.
        self.register_buffer("scales", scales.half().view(torch.int16), persistent=False)
        self.register_buffer("like", torch.zeros(0), persistent=False)

    @property
    def weight(self) -> Tensor:
        """Stands for the table where transformers asks for its device and type."""
        return self.like

    def forward(self, ids: Tensor) -> Tensor:
        """Embeddings [..., width] of word ids, in the model's precision."""
        packed = self.nibbles[ids].reshape(*ids.shape, -1, _BLOCK // 2)
        whole = torch.cat([packed & 15, packed >> 4], dim=-1).to(torch.float32) - 8
        scales = self.scales[ids].view(torch.float16).float().unsqueeze(-1)
        return (whole * scales).flatten(-2).to(self.like.dtype)


def blocks_of(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(nibbles, scales) of ``weight`` [words, width]; exact where it came from such blocks.

    The weight of a block that is largest in size, whatever its sign, gets the code 0, so -8.

    Raises:
        ModelError: the width is no multiple of 32.
    """
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


class ReaderModel(nn.Module):
    """An encoder with its heads."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        hidden = encoder.config.hidden_size
        self.tokens = nn.Linear(hidden, 1)
        self.claim = nn.Linear(hidden, 1)
        self.founded = nn.Linear(hidden, 1)

    @classmethod
    def of(cls, base: str | Path) -> ReaderModel:
        """A reader over the encoder in folder (or of hub id) ``base``, its heads untrained."""
        return cls(AutoModel.from_pretrained(base, add_pooling_layer=False))

    def freeze_words(self) -> None:
        """Leave the word embeddings as they are: few of their rows would see any training."""
        self.encoder.get_input_embeddings().weight.requires_grad_(False)

    def heads(self, hidden: Tensor) -> Tensor:
        """Logits [..., 3] of hidden states [..., width], in the order of `HEADS`."""
        weight = torch.cat([getattr(self, head).weight for head in HEADS])
        bias = torch.cat([getattr(self, head).bias for head in HEADS])
        return functional.linear(hidden, weight, bias)

    def forward(self, **inputs: Tensor) -> Tensor:
        """Logits [batch, tokens, 3] in float32."""
        return self.heads(self.encoder(**inputs).last_hidden_state).float()


def save_reader(model: ReaderModel, folder: Path) -> None:
    """Write what training changes, all layers and heads, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    halves = {n: t.half().contiguous() for n, t in state.items() if n != _WORDS}
    save_file(halves, folder / READER_FILE)


def save_base(model: ReaderModel, tokenizer: Any, folder: Path) -> None:
    """Write the words of ``model``, its shape and the ``tokenizer`` (of the tokenizers library)
    into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    nibbles, scales = blocks_of(model.state_dict()[_WORDS].detach().cpu())
    save_file({"nibbles": nibbles, "scales": scales}, folder / WORDS_FILE)
    model.encoder.config.to_json_file(folder / "config.json")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def load_reader(folder: Path, base: Path | None = None) -> ReaderModel:
    """The reader of ``folder`` in float32, ready for inference; its words and shape are those
    of the folder ``base``, by default its own.

    Raises:
        ModelError: a file is missing or malformed, or needs code of its own.
    """
    base = base or folder
    try:
        config = AutoConfig.from_pretrained(base, trust_remote_code=False, local_files_only=True)
        if config.model_type not in READER_TYPES:
            raise ModelError(f"{base}: a reader cannot be of type {config.model_type!r}")
        words = load_file(base / WORDS_FILE)
        return _assembled(config, load_file(folder / READER_FILE), words).eval()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        if isinstance(error, ModelError):
            raise
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise ModelError(f"{folder} holds no usable reader: {first[:300]}") from error


def reader_base_digest(folder: Path) -> str:
    """Hex digits that change with any of `BASE_FILES` in ``folder``.

    Raises:
        ModelError: one is missing.
    """
    missing = [name for name in BASE_FILES if not (folder / name).is_file()]
    if missing:
        raise ModelError(f"{folder}: {', '.join(missing)} missing; copy the whole folder again")
    lines = (f"{name} {file_digest(folder / name)}\n" for name in BASE_FILES)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _assembled(
    config: Any, state: Mapping[str, Tensor], words: Mapping[str, Tensor]
) -> ReaderModel:
    vocabulary, config.vocab_size = config.vocab_size, 2  # the table is put in below
    make: Any = AutoModel.from_config  # transformers types it by half
    encoder = make(config, add_pooling_layer=False)
    config.vocab_size = vocabulary
    model = ReaderModel(encoder)
    if len(words["nibbles"]) != vocabulary or len(words["scales"]) != vocabulary:
        raise ModelError(f"{len(words['nibbles'])} words where the config has {vocabulary}")
    encoder.set_input_embeddings(BlockWords(words["nibbles"], words["scales"]))
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return model


def trainable(model: ReaderModel) -> ReaderModel:
    """``model`` with its words as an ordinary (frozen) table, so that training can save it."""
    blocks = model.encoder.get_input_embeddings()
    if isinstance(blocks, BlockWords):
        every = torch.arange(len(blocks.scales))
        words = blocks(every)
        table = nn.Embedding(len(words), words.shape[1], _weight=words, _freeze=True)
        model.encoder.set_input_embeddings(table)
    return model
