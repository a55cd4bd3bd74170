"""Sentence embeddings: the mean of a sentence's hidden states, or the first, of length one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from safepassage.scoring_worker.detectors.contract import DetectorSettings
from safepassage.scoring_worker.encoders.devices import place, use_threads
from safepassage.scoring_worker.encoders.weight_folders import base_digest, named_folder
from safepassage.scoring_worker.encoders.weights import (
    load_config,
    load_headless,
    load_tokenizer,
    longest_input,
)
from safepassage.scoring_worker.manifest import ModelError

BATCH = 32
"""Sentences of about one length that are padded together."""
DECIMALS = 4
"""Similarities are rounded: digits below would change with the batch that a sentence is in."""

Floats = NDArray[np.float64]


class Embedder(Protocol):
    """Sentences to vectors [sentences, width] of length one. ``revision`` names the weights."""

    @property
    def revision(self) -> str: ...

    def embed(self, sentences: Sequence[str]) -> Floats: ...


class SentenceEncoder:
    """An encoder without a head, averaged over each sentence's tokens, marks included; with
    ``first``, its first token, for models that were taught so.

    What is longer than ``max_length`` tokens is cut off at its end.
    """

    def __init__(
        self,
        encoder: Any,
        tokenizer: Tokenizer,
        revision: str,
        *,
        max_length: int,
        pad: int,
        first: bool = False,
    ) -> None:
        self.revision = f"{revision}-first" if first else revision
        self._first = first
        self._encoder = encoder
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length)
        self._tokenizer.encode_special_tokens = True
        self._pad = pad

    @torch.inference_mode()
    def embed(self, sentences: Sequence[str]) -> Floats:
        """Vectors [sentences, width] of length one."""
        found = self._each(sentences, self._pooled)
        return np.stack(found) if found else np.zeros((0, 0))

    @torch.inference_mode()
    def tokens(self, sentences: Sequence[str]) -> list[Floats]:
        """For each sentence the vectors [tokens, width] of its tokens, of length one and without
        the marks at both ends."""
        return self._each(sentences, self._of_tokens)

    def _each(
        self, sentences: Sequence[str], compute: Callable[[list[str]], Iterable[Floats]]
    ) -> list[Floats]:
        """What ``compute`` gives for each sentence; equal ones are computed once."""
        distinct = sorted(set(sentences), key=lambda text: (len(text), text))
        found: dict[str, Floats] = {}
        for start in range(0, len(distinct), BATCH):
            batch = distinct[start : start + BATCH]
            found |= zip(batch, compute(batch), strict=True)
        return [found[text] for text in sentences]

    def _hidden(self, batch: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Hidden states [sentences, tokens, width], and which tokens there are."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(batch))]
        width = max(map(len, ids))
        rows = torch.tensor([row + [self._pad] * (width - len(row)) for row in ids])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
        device = next(self._encoder.parameters()).device
        inputs = {"input_ids": rows.to(device), "attention_mask": mask.to(device)}
        return self._encoder(**inputs).last_hidden_state.float(), inputs["attention_mask"]

    def _of_tokens(self, batch: Sequence[str]) -> Iterator[Floats]:
        hidden, mask = self._hidden(batch)
        normal = torch.nn.functional.normalize(hidden, dim=-1).cpu().numpy()
        for row, length in zip(normal, mask.sum(1).tolist(), strict=True):
            yield np.asarray(row[1 : length - 1], dtype=np.float64)

    def _pooled(self, batch: Sequence[str]) -> Floats:
        hidden, mask = self._hidden(batch)
        weights = mask.unsqueeze(-1)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        pooled = hidden[:, 0] if self._first else mean
        normal: Any = torch.nn.functional.normalize(pooled, dim=-1)
        return np.asarray(normal.cpu().numpy(), dtype=np.float64)


def reader_embedder(settings: DetectorSettings) -> SentenceEncoder:
    """The encoder of the reader that ships: a multilingual E5 (small, 8 layers), taught to read.

    Raises:
        ModelError: its files are missing or altered.
    """
    from safepassage.scoring_worker.encoders.reader_model import load_reader  # noqa: PLC0415 (torch: seconds)
    from safepassage.scoring_worker.scorers.folders import open_manifest  # noqa: PLC0415

    use_threads(settings.threads)
    folder, manifest = open_manifest("default")
    placement = place(settings.device, settings.precision)
    encoder = load_reader(folder).encoder.to(placement.device).to(placement.dtype)
    return SentenceEncoder(
        encoder,
        Tokenizer.from_file(str(folder / "tokenizer.json")),
        f"reader-{manifest.revision}",
        max_length=manifest.max_length,
        pad=encoder.config.pad_token_id or 0,
    )


def encoder_embedder(named: str, settings: DetectorSettings) -> SentenceEncoder:
    """The encoder in a folder or under a hub id (``owner/name@revision``).

    Raises:
        ModelError: it is not there, or holds no weights.
    """
    use_threads(settings.threads)
    folder = named_folder(named)
    config, tokenizer = load_config(folder), load_tokenizer(folder)
    placement = place(settings.device, settings.precision)
    encoder = load_headless(folder, placement.dtype)
    return SentenceEncoder(
        encoder.to(placement.device),
        tokenizer.backend_tokenizer,
        base_digest(folder)[:16],
        max_length=longest_input(config, tokenizer),
        pad=tokenizer.pad_token_id or 0,
        first=_takes_first(folder),
    )


def _takes_first(folder: Path) -> bool:
    """Whether a folder says, as sentence-transformers writes it, that the first token counts.

    Raises:
        ModelError: it says that something else than the mean or the first token does.
    """
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return False
    try:
        said = orjson.loads(path.read_bytes())
        modes = {name for name, on in said.items() if name.startswith("pooling_mode_") and on}
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(f"{path} is no description of pooling") from error
    if modes not in ({"pooling_mode_cls_token"}, {"pooling_mode_mean_tokens"}):
        raise ModelError(f"{path}: only the mean of the tokens and the first token are read here")
    return modes == {"pooling_mode_cls_token"}


def similarities(embedder: Embedder, ours: Sequence[str], theirs: Sequence[str]) -> Floats:
    """Cosines [ours, theirs], those below 0 as 0: opposite is not less grounded than unrelated."""
    vectors = embedder.embed([*ours, *theirs])
    product = vectors[: len(ours)] @ vectors[len(ours) :].T
    return np.asarray(np.round(np.clip(product, 0.0, 1.0), DECIMALS), dtype=np.float64)
