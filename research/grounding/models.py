"""What may be fine-tuned: a cross-encoder of one logit, as in the paper, or a reader."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from safepassage.scoring_worker.encoders.batching import Piece
from safepassage.scoring_worker.encoders.padded import laid_out
from safepassage.scoring_worker.encoders.reader import CLAIM
from safepassage.scoring_worker.encoders.reader_model import (
    ReaderModel,
    load_reader,
    reader_base_digest,
    save_reader,
)
from safepassage.scoring_worker.encoders.reading_windows import Task, WindowMaker
from safepassage.scoring_worker.encoders.weight_folders import named_folder
from safepassage.scoring_worker.encoders.weights import (
    load_config,
    load_tokenizer,
    load_with_new_head,
    longest_input,
)
from safepassage.scoring_worker.manifest import PACKAGED_BASE, ModelError, ScorerManifest


class Trainee(Protocol):
    """A model that gives one logit a pair."""

    @property
    def module(self) -> nn.Module: ...

    def logits(self, sources: Sequence[str], sentences: Sequence[str]) -> Tensor:
        """[pairs], above 0 where the source rather supports the sentence."""
        ...

    def save(self, folder: Path, trained_on: Iterable[str]) -> None: ...


class CrossEncoder:
    """A sequence classifier with a new head of one logit over the base ``named``.

    Raises:
        ModelError: there is no such base, or it holds no safetensors.
    """

    def __init__(self, named: str, *, seed: int = 0) -> None:
        folder = named_folder(named)
        config = load_config(folder)
        self._tokenizer = load_tokenizer(folder)
        self._most = longest_input(config, self._tokenizer)
        torch.manual_seed(seed)  # the head is new
        self._model: Any = load_with_new_head(folder)
        self.module: nn.Module = self._model

    def logits(self, sources: Sequence[str], sentences: Sequence[str]) -> Tensor:
        """[pairs]; a source too long for the model is cut off at its end."""
        inputs = self._tokenizer(
            list(sources),
            list(sentences),
            truncation="only_first",
            max_length=self._most,
            padding=True,
            return_tensors="pt",
        )
        moved = {name: rows.to(self._model.device) for name, rows in inputs.items()}
        logits: Tensor = self._model(**moved).logits[:, 0]
        return logits

    def save(self, folder: Path, trained_on: Iterable[str]) -> None:
        """Write model and tokenizer as transformers does, and what it was trained on."""
        self._model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)
        lines = "".join(f"{name}\n" for name in trained_on)
        (folder / "TRAINED_ON.txt").write_text(lines, encoding="utf-8")


class TrainedReader:
    """The reader that ships (or another reader's folder), taught further by its claim logit.

    Its words stay as they are.
    """

    def __init__(self, named: str = "default") -> None:
        from safepassage.scoring_worker.scorers.folders import open_manifest  # noqa: PLC0415 (its own libraries)

        folder, self._manifest = open_manifest(named)
        self._packaged = named == "default" or self._manifest.base == PACKAGED_BASE
        base = open_manifest("default")[0] if self._packaged else folder
        self._base = base
        self._model: ReaderModel = load_reader(folder, base)
        self.module: nn.Module = self._model
        config = self._model.encoder.config
        self._types = getattr(config, "type_vocab_size", 1) > 1
        self._pad = config.pad_token_id or 0
        self._windows = WindowMaker(
            Tokenizer.from_file(str(base / "tokenizer.json")),
            self._manifest.max_length,
            types=getattr(config, "type_vocab_size", 1),
        )

    def logits(self, sources: Sequence[str], sentences: Sequence[str]) -> Tensor:
        """[pairs]; of a source too long for the model its first window.

        Raises:
            ValueError: a pair cannot be read at all.
        """
        tasks = [Task(h, s) for s, h in zip(sources, sentences, strict=True)]
        windows, failures = self._windows.windows(tasks)
        if failures:
            raise ValueError(f"{len(failures)} pairs cannot be read")
        first = {window.task: window for window in reversed(windows)}
        pieces: list[Piece] = [first[at].piece(at) for at in range(len(tasks))]
        inputs = laid_out(pieces, self._pad, types=self._types)
        device = next(self._model.parameters()).device
        read: Tensor = self._model(**{name: rows.to(device) for name, rows in inputs.items()})
        return read[:, 0, CLAIM]

    def save(self, folder: Path, trained_on: Iterable[str]) -> None:
        """Write a reader's folder; its words are those of the one that ships.

        Raises:
            ModelError: it was made from a reader with words of its own, which are not copied.
        """
        if not self._packaged:
            raise ModelError("only a reader with the words that ship can be taught further here")
        save_reader(self._model, folder)
        ScorerManifest(
            name="gc",
            kind="reader",
            base=PACKAGED_BASE,
            base_digest=reader_base_digest(self._base),
            labels=0,
            max_length=self._manifest.max_length,
            stack=self._manifest.stack,
            trained_on=(*self._manifest.trained_on, *trained_on),
        ).save(folder)
