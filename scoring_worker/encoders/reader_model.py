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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from safepassage.scoring_worker.manifest import ModelError, file_digest

from .architectures import Architecture, architecture_of, stored_architecture
from .shape import EncoderShape, shape_in
from .stored_weights import SCALES, BlockWords, StoredWeights, blocks_of, bytes_of
from .weight_folders import first_line

HEADS = ("tokens", "claim", "founded")
READER_FILE = "reader.safetensors"
WORDS_FILE = "words.safetensors"
BASE_FILES = ("config.json", "tokenizer.json", WORDS_FILE)
"""What training leaves alone: readers trained from one another share these files."""
_WORDS = "encoder.embeddings.word_embeddings.weight"
_ENCODER = "encoder."


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
        from transformers import AutoModel  # noqa: PLC0415 (seconds and 180 MB)

        return cls(AutoModel.from_pretrained(base, add_pooling_layer=False))

    def freeze_words(self) -> None:
        """Leave the word embeddings as they are: few of their rows would see any training."""
        self.encoder.get_input_embeddings().weight.requires_grad_(False)

    def heads(self, hidden: Tensor) -> Tensor:
        """Logits [..., 3] of hidden states [..., width], in the order of `HEADS`."""
        return functional.linear(hidden, *_stacked(self.get_parameter))

    def forward(self, **inputs: Tensor) -> Tensor:
        """Logits [batch, tokens, 3] in float32."""
        return self.heads(self.encoder(**inputs).last_hidden_state).float()

    @property
    def shape(self) -> Any:
        """The config of the encoder."""
        return self.encoder.config

    def architecture(self, dtype: torch.dtype) -> Architecture | None:
        """How the encoder is read by a packed forward pass; None if it cannot be."""
        return architecture_of(self.encoder.to(dtype))

    def head_rows(self, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Weight [3, width] and bias [3] of the heads, in the order of `HEADS`."""
        weight, bias = _stacked(self.get_parameter)
        return weight.detach().to(dtype), bias.detach().to(dtype)

    def module(self) -> ReaderModel:
        """Itself."""
        return self


@dataclass(frozen=True, slots=True)
class StoredReader:
    """A reader as it lies in its files, of which a weight is read when it is asked for."""

    shape: EncoderShape
    weights: StoredWeights
    words: BlockWords
    base: Path

    def architecture(self, dtype: torch.dtype) -> Architecture | None:
        """How the encoder is read by a packed forward pass; None if it cannot be. Raises
        `ModelError` where the files do not hold what the shape asks for."""
        words = self.words.to(dtype)
        return stored_architecture(self.shape, self.weights.below(_ENCODER), words, dtype)

    def head_rows(self, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Weight [3, width] and bias [3] of the heads, in the order of `HEADS`. Raises `ModelError`
        where the files hold other heads."""
        heads = {name for name in self.weights if not name.startswith(_ENCODER)}
        if heads != {f"{head}.{part}" for head in HEADS for part in ("weight", "bias")}:
            raise ModelError(f"a reader has the heads {', '.join(HEADS)}, not {sorted(heads)}")
        weight, bias = _stacked(self.weights.__getitem__)
        if weight.shape != (len(HEADS), self.shape.hidden_size) or bias.shape != (len(HEADS),):
            raise ModelError(f"the heads of a reader are no {list(weight.shape)}")
        return weight.to(dtype), bias.to(dtype)

    def module(self) -> ReaderModel:
        """The whole reader in float32, built with transformers: to be trained, for a GPU, or for an
        encoder that is not packed. Raises `ModelError` where its files are malformed."""
        from transformers import AutoConfig, AutoModel  # noqa: PLC0415 (seconds and 180 MB)

        with _refusing(self.base):
            config = AutoConfig.from_pretrained(
                self.base, trust_remote_code=False, local_files_only=True
            )
            vocabulary, config.vocab_size = config.vocab_size, 2  # the table is put in below
            make: Any = AutoModel.from_config  # transformers types it by half
            encoder = make(config, add_pooling_layer=False)
            config.vocab_size = vocabulary
            model = ReaderModel(encoder)
            encoder.set_input_embeddings(self.words)
            model.load_state_dict(dict(self.weights))
            return model.eval()


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
    """The reader of ``folder`` in float32, ready for inference; its words and shape are those of
    the folder ``base``, by default its own. Raises `ModelError` where a file is missing or
    malformed, or needs code of its own."""
    return stored_reader(folder, base).module()


def stored_reader(folder: Path, base: Path | None = None) -> StoredReader:
    """The reader of ``folder``, of which nothing is built yet; its words and shape are those of the
    folder ``base``, by default its own. Raises `ModelError` where a file is missing or malformed,
    or needs code of its own."""
    base = base or folder
    with _refusing(folder):
        shape = shape_in(base)
        blocks: Any = safe_open(base / WORDS_FILE, framework="pt")
        words = BlockWords(blocks.get_tensor("nibbles"), blocks.get_tensor("scales"))
        if words.shape != (shape.vocab_size, shape.hidden_size):
            wanted = f"{shape.vocab_size} of {shape.hidden_size}"
            raise ModelError(f"words of shape {words.shape}, not {wanted}")
        return StoredReader(shape, StoredWeights.of_file(folder / READER_FILE), words, base)


def _matrices(model: ReaderModel) -> list[str]:
    """The names of the weights that nearly all bytes are of."""
    modules = model.encoder.named_modules(prefix="encoder")
    return [f"{name}.weight" for name, module in modules if isinstance(module, nn.Linear)]


def reader_base_digest(folder: Path) -> str:
    """Hex digits that change with any of `BASE_FILES` in ``folder``. Raises `ModelError` where one
    is missing."""
    missing = [name for name in BASE_FILES if not (folder / name).is_file()]
    if missing:
        raise ModelError(f"{folder}: {', '.join(missing)} missing; copy the whole folder again")
    lines = (f"{name} {file_digest(folder / name)}\n" for name in BASE_FILES)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@contextmanager
def _refusing(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{folder} holds no usable reader: {first_line(error)}") from error


def _stacked(part: Callable[[str], Tensor]) -> tuple[Tensor, Tensor]:
    """Weight [3, width] and bias [3] of the heads; ``part`` gives a weight by its name."""
    weight = torch.cat([part(f"{head}.weight") for head in HEADS])
    return weight, torch.cat([part(f"{head}.bias") for head in HEADS])


def trainable(model: ReaderModel) -> ReaderModel:
    """``model`` with its words as an ordinary (frozen) table, so that training can save it."""
    blocks = model.encoder.get_input_embeddings()
    if isinstance(blocks, BlockWords):
        words = blocks(torch.arange(len(blocks.scales)))
        table = nn.Embedding(len(words), words.shape[1], _weight=words, _freeze=True)
        model.encoder.set_input_embeddings(table)
    return model
