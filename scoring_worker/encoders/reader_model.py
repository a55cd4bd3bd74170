"""The reader: an encoder with three small heads, and how its weights lie in a folder.

From one pass over a question and a passage:

* ``tokens``: for every token of the passage a logit that it is part of an answer;
* ``claim``: at the first token a logit that the passage entails the question, read as a claim;
* ``founded``: for every token of a claim a logit that the passage bears it out.

A folder holds ``config.json`` of the encoder, ``tokenizer.json``, ``reader.safetensors`` (all
layers and heads, in float16 or with its large matrices in 8-bit numbers) and
``words.safetensors``: the word embeddings, which training leaves alone, in 4-bit blocks.
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

from .compression import SCALES, BlockWords, blocks_of, bytes_of, expanded

HEADS = ("tokens", "claim", "founded")
READER_FILE = "reader.safetensors"
WORDS_FILE = "words.safetensors"
BASE_FILES = ("config.json", "tokenizer.json", WORDS_FILE)
"""What training leaves alone: readers trained from one another share these files."""
_WORDS = "encoder.embeddings.word_embeddings.weight"
READER_TYPES = {"bert", "mpnet", "xlm-roberta", "roberta"}
"""Encoders that transformers builds without any code of the model's."""


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


def save_reader(model: ReaderModel, folder: Path, *, int8: bool = False) -> None:
    """Write what training changes, all layers and heads, into ``folder``: in float16, or with the
    matrices of the encoder's linear layers in half of that."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    halves = {n: t.half().contiguous() for n, t in state.items() if n != _WORDS}
    if int8:
        for name in _matrices(model):
            halves[name], halves[name + SCALES] = bytes_of(state[name])
    save_file(halves, folder / READER_FILE)


def save_base(model: ReaderModel, tokenizer: Any, folder: Path) -> None:
    """Write the words of ``model``, its shape and the ``tokenizer`` (of the tokenizers library)
    into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    nibbles, scales = blocks_of(model.state_dict()[_WORDS].detach().cpu())
    save_file({"nibbles": nibbles, "scales": scales}, folder / WORDS_FILE)
    model.encoder.config.to_json_file(folder / "config.json")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)


def save_compressed(model: ReaderModel, tokenizer: Any, folder: Path) -> None:
    """Write a trained ``model`` and its ``tokenizer`` (of the tokenizers library) into ``folder``
    as a large reader ships: a byte for a weight, half a byte for one of a word."""
    save_base(model, tokenizer, folder)
    save_reader(model, folder, int8=True)


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


def _matrices(model: ReaderModel) -> list[str]:
    """The names of the weights that nearly all bytes are of."""
    modules = model.encoder.named_modules(prefix="encoder")
    return [f"{name}.weight" for name, module in modules if isinstance(module, nn.Linear)]


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
    table = BlockWords(words["nibbles"], words["scales"])
    if table.shape != (vocabulary, config.hidden_size):
        raise ModelError(f"words of shape {table.shape}, not {vocabulary} of {config.hidden_size}")
    encoder.set_input_embeddings(table)
    model.load_state_dict(expanded(state))
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
