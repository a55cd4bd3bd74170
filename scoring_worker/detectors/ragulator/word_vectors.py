"""Words by their static vectors and their rarity: the vocabulary that ships with the scorer.

multilingual-e5-small's word embeddings and the log-probabilities of its tokenizer's pieces (a
unigram language model over a hundred languages) are at hand wherever the default scorer is. The
sum of a sentence's words, less what all words have in common, ranks PubMedQA conclusions by their
own abstract better than the mean of the reader's last layer does (AUROC .91 against .62: training
to read has turned that away from likeness), at a thousandth of the cost.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import orjson
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer

from safepassage.scoring_worker.encoders.reader_model import WORDS_FILE
from safepassage.scoring_worker.encoders.stored_weights import BlockWords
from safepassage.scoring_worker.manifest import ModelError, file_digest
from safepassage.scoring_worker.scorers.folders import DEFAULT_MODEL

Vector = NDArray[np.float64]

RAREST = 25.0
"""Negative log-probability at which rarity is cut: a long number is no ten times a rare word."""
_COMMON_PIECES = 20_000
_KEPT_WORDS = 200_000


class WordVectors:
    """A vector and a rarity for any word. Thread-safe. Raises `ModelError` where the vocabulary or
    the embeddings are missing or malformed."""

    def __init__(self, folder: Path = DEFAULT_MODEL) -> None:
        try:
            blocks = load_file(folder / WORDS_FILE)
            self._table = BlockWords(blocks["nibbles"], blocks["scales"])
            raw = (folder / "tokenizer.json").read_bytes()
            vocabulary = orjson.loads(raw)["model"]["vocab"]
            self._tokenizer = Tokenizer.from_str(raw.decode())
            weights = np.array([float(score) for _, score in vocabulary])
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{folder} holds no word embeddings: {error}") from error
        self._rarities = -weights
        self.revision = file_digest(folder / WORDS_FILE)[:16]
        whole = [at for at, (piece, _) in enumerate(vocabulary) if _is_word(piece)]
        common = sorted(whole, key=lambda at: self._rarities[at])[:_COMMON_PIECES]
        vectors = self._rows(common)
        self._mean = vectors.mean(axis=0)
        # Words share one strong direction beside their mean; likeness is in the others.
        centred = vectors - self._mean
        self._shared = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        self._of = lru_cache(maxsize=_KEPT_WORDS)(self._look_up)

    @property
    def width(self) -> int:
        """How long a vector is."""
        return len(self._mean)

    def vector(self, word: str) -> Vector:
        """[width], of length one; zeros for a word without any piece."""
        return self._of(word)[0]

    def rarity(self, word: str) -> float:
        """-log p of the word in [0, `RAREST`], natural logarithm."""
        return self._of(word)[1]

    def matrix(self, words: list[str]) -> Vector:
        """The vectors [words, width]."""
        rows = [self.vector(word) for word in words]
        return np.stack(rows) if rows else np.zeros((0, self.width))

    def _look_up(self, word: str) -> tuple[Vector, float]:
        ids = self._tokenizer.encode(word, add_special_tokens=False).ids
        if not ids:
            return np.zeros_like(self._mean), 0.0
        summed = (self._rows(ids) - self._mean).sum(axis=0)
        summed -= self._shared * (self._shared @ summed)
        size = float(np.linalg.norm(summed))
        rarity = float(min(RAREST, max(0.0, self._rarities[ids].sum())))
        return (summed / size if size else summed), rarity

    def _rows(self, ids: list[int]) -> Vector:
        with torch.inference_mode():
            rows: Vector = self._table(torch.tensor(ids)).double().numpy()
        return rows


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """Those of the default scorer, read once for all detectors of a process: it takes seconds.
    Raises `ModelError` where they cannot be read."""
    return WordVectors()


def _is_word(piece: str) -> bool:
    return piece.startswith("▁") and len(piece) > 3 and piece[1:].isalpha()
