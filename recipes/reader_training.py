"""Trains a reader. A run that was stopped goes on where it was; progress and the minutes left are
in the log."""

from collections.abc import Callable
from pathlib import Path

import structlog
import torch
from transformers import AutoTokenizer

from recipes.reading_corpus import Corpus
from safepassage.scoring_worker.encoders.reader_model import ReaderModel
from safepassage.scoring_worker.training.reading.examples import tokenised
from safepassage.scoring_worker.training.reading.fit import (
    WEIGHTS,
    FitSettings,
    fit,
    is_fitted,
    load_weights,
)

log = structlog.get_logger(__name__)

MAX_LENGTH = 128
"""Tokens of a question and its passage in training; longer ones are left out."""


def train_reader(
    corpus: Callable[[], Corpus],
    base: Path,
    folder: Path,
    *,
    start: ReaderModel | None = None,
    settings: FitSettings | None = None,
    max_length: int = MAX_LENGTH,
    device: str = "cpu",
) -> ReaderModel:
    """Train a reader over the encoder in ``base``, or ``start``, on ``corpus``, into ``folder``.
    Questions of more than ``max_length`` tokens are left out.

    Raises:
        CorpusError: a file of the corpus is missing.
        ValueError: ``folder`` holds the checkpoint of another run.
    """
    settings = settings or FitSettings()
    torch.manual_seed(settings.seed)
    model = start or ReaderModel.of(base)
    model.freeze_words()
    if is_fitted(folder):
        load_weights(model, folder / WEIGHTS)
        return model.eval()
    questions = corpus().questions
    tokenizer = AutoTokenizer.from_pretrained(base)
    examples = tokenised(questions, tokenizer, max_length, settings.seed)
    log.info("corpus", questions=len(questions), examples=len(examples))
    fit(model, examples, folder, settings, pad=tokenizer.pad_token_id, device=device)
    return model
