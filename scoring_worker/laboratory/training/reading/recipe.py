"""Trains the reader: ``python -m safepassage.scoring_worker.laboratory.training.reading.recipe DATA
BASE FOLDER``.

``--without FAMILY`` leaves a family of sources out, to measure on what nothing was learnt from.
A run that was stopped goes on where it was; progress and the minutes left are in the log.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import structlog
import torch
from transformers import AutoTokenizer

from safepassage.scoring_worker.encoders.adapter import adapt
from safepassage.scoring_worker.encoders.reader_model import ReaderModel

from .corpora import FAMILIES, training_corpus
from .examples import tokenised
from .fit import WEIGHTS, FitSettings, fit, is_fitted, load_weights

log = structlog.get_logger(__name__)

MAX_LENGTH = 128
"""Tokens of a question and its passage in training; longer ones are left out."""


def train_reader(
    data: Path,
    base: Path,
    folder: Path,
    *,
    without: Sequence[str] = (),
    share: float = 1.0,
    rank: int | None = None,
    settings: FitSettings | None = None,
    device: str = "cpu",
) -> ReaderModel:
    """Train a reader over the encoder in ``base`` on the corpora of ``data``, into ``folder``:
    all of its layers, or with ``rank`` low-rank updates to them.

    Raises:
        CorpusError: a file of ``data`` is missing.
        ValueError: ``folder`` holds the checkpoint of another run.
    """
    settings = settings or FitSettings()
    torch.manual_seed(settings.seed)
    model = ReaderModel.of(base)
    if rank is None:
        model.freeze_words()
    else:
        adapt(model, rank)
    if is_fitted(folder):
        load_weights(model, folder / WEIGHTS)
        return model.eval()
    corpus = training_corpus(data, without=without, share=share, seed=settings.seed)
    tokenizer = AutoTokenizer.from_pretrained(base)
    examples = tokenised(corpus.questions, tokenizer, MAX_LENGTH, settings.seed)
    log.info("corpus", questions=len(corpus.questions), examples=len(examples))
    fit(model, examples, folder, settings, pad=tokenizer.pad_token_id, device=device)
    return model


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", choices=sorted(FAMILIES), help="leave a family out")
    parser.add_argument("--share", type=float, default=1.0, help="of every corpus")
    parser.add_argument("--learning-rate", type=float, default=FitSettings().learning_rate)
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args(arguments)
    train_reader(
        chosen.data,
        chosen.base,
        chosen.folder,
        without=FAMILIES.get(chosen.without, ()),
        share=chosen.share,
        settings=FitSettings(learning_rate=chosen.learning_rate),
        device=chosen.device,
    )


if __name__ == "__main__":
    main()
